/**
 * Clients that are slow, break off, send nonsense or guess. What they are answered does not matter: what they cost does.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { Connection } from "../faults/support/peers/connection.ts";
import type { Random } from "../faults/support/random.ts";
import { KIB, MIB, patternBytes } from "../support/bytes.ts";
import { rawRequest } from "../support/raw.ts";
import type { Loop } from "./clients.ts";

export interface HostileOptions {
  loop: Loop;
  random: Random;
  port: number;
  /** Of the tenant whose key they have. */
  project: string;
  key: string;
  /** A name that they may read. */
  name: string;
}

/** How long one of them keeps a connection, in milliseconds. */
const LIFE = 8000;

/** Opens uploads that trickle, and leaves them in the middle or ends them. */
export async function slowUploads(options: HostileOptions): Promise<void> {
  const { loop, random, port, project } = options;
  await loop(async () => {
    using connection = await Connection.open(port);
    const target = `/v1/${project}/hostile/files?name=slow-${random.below(50)}`;
    const size = 64 * KIB + random.below(MIB);
    const headers = { "Content-Length": String(size), "X-Api-Key": options.key };
    await connection.send(rawRequest("POST", target, headers));
    const bytes = patternBytes(size);
    const end = performance.now() + random.below(LIFE);
    for (let at = 0; at < size && performance.now() < end;) {
      const next = Math.min(size, at + 1 + random.below(8 * KIB));
      if (!await connection.send(bytes.subarray(at, next))) return;
      at = next;
      await delay(random.below(100));
    }
  });
}

/** Asks for a large file and takes little of it, or nothing. */
export async function slowDownloads(options: HostileOptions): Promise<void> {
  const { loop, random, port, project, name } = options;
  await loop(async () => {
    using connection = await Connection.open(port);
    const target = `/v1/${project}/hostile/files/download?name=${name}`;
    await connection.send(rawRequest("GET", target, { "X-Api-Key": options.key }));
    const end = performance.now() + random.below(LIFE);
    while (performance.now() < end) {
      if (random.below(2) === 0 && await connection.read() === null) return;
      await delay(random.below(500));
    }
  });
}

/** Sends heads that never end, bytes that are no HTTP, and bodies that lie about their length. */
export async function brokenRequests(options: HostileOptions): Promise<void> {
  const { loop, random, port, project } = options;
  const target = `/v1/${project}/hostile/files?name=broken`;
  const texts = [
    "GET / HTTP/1.1\r\nHost: local",
    "GET /\r\n\r\n",
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    `POST ${target} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${options.key}\r\nContent-Length: 5000\r\n\r\nshort`,
    `POST ${target} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${options.key}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`,
    `GET ${target} HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"x".repeat(100_000)}\r\n\r\n`,
  ];
  await loop(async () => {
    using connection = await Connection.open(port);
    await connection.send(random.pick(texts));
    if (random.below(3) === 0) await delay(random.below(LIFE));
    if (random.below(2) === 0) await connection.sendEnd();
  });
}

/** Guesses keys of a project, from an address of its own. */
export async function guesses({ loop, random, port, project }: HostileOptions): Promise<void> {
  await loop(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/${project}`, {
      headers: {
        "X-Api-Key": `${project}_${random.below(2 ** 31)}abcdefghijklmnopqrstuvw`,
        "X-Forwarded-For": `198.51.100.${random.below(256)}`,
      },
    });
    await response.body?.cancel();
    if (response.status !== 401 && response.status !== 429) {
      throw new Error(`A guessed key was answered with ${response.status}`);
    }
    await delay(50);
  });
}
