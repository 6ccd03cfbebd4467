/**
 * A process that uploads one file in parts, or the same bytes as files of their own, and prints how many seconds that
 * took. What was made of parts is read back and compared.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { randomBytes } from "./server.ts";

/** The input of the process. */
export interface PartsInput {
  /** The address of the drive. */
  drive: string;
  headers: Record<string, string>;
  kind: "parts" | "files";
  name: string;
  parts: number;
  /** Bytes of a part. */
  size: number;
  atOnce: number;
}

if (import.meta.main) {
  const input: PartsInput = JSON.parse(Deno.args[0] ?? "");
  const seconds = input.kind === "parts" ? await uploadInParts(input) : await uploadFiles(input);
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(seconds)));
}

async function uploadInParts(input: PartsInput): Promise<number> {
  const { drive, name } = input;
  const bytes = randomBytes(input.size);
  const started = performance.now();
  const answer = await call(input, 202, "POST", `${drive}/uploads?name=${name}`);
  const { upload_id } = await answer.json();
  const upload = `${drive}/uploads/${upload_id}`;
  await sendAll(input, async (part) => {
    const url = `${upload}/parts?name=${name}&part=${part}`;
    await drain(await call(input, 200, "POST", url, partOf(bytes, part)));
  });
  await drain(await call(input, 200, "PATCH", `${upload}?name=${name}`));
  const seconds = (performance.now() - started) / 1000;
  await compare(input, bytes);
  return seconds;
}

async function uploadFiles(input: PartsInput): Promise<number> {
  const bytes = randomBytes(input.size);
  const started = performance.now();
  await sendAll(input, async (part) => {
    const url = `${input.drive}/files?name=${input.name}-${part}`;
    await drain(await call(input, 201, "POST", url, partOf(bytes, part)));
  });
  return (performance.now() - started) / 1000;
}

/** Sends parts 1 to `parts`, so many at once. */
async function sendAll(
  { parts, atOnce }: PartsInput,
  send: (part: number) => Promise<void>,
): Promise<void> {
  let next = 1;
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (next <= parts) await send(next++);
  }));
}

/** The same bytes but for the first, so that no two parts are equal. */
function partOf(bytes: Uint8Array<ArrayBuffer>, part: number): Blob {
  return new Blob([new Uint32Array([part]), bytes.subarray(4)]);
}

/** @throws unless the SHA-256 of the file is that of its parts in their order. */
async function compare(input: PartsInput, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const expected = createHash("sha256");
  for (let part = 1; part <= input.parts; part++) {
    expected.update(new Uint8Array(await partOf(bytes, part).arrayBuffer()));
  }
  const found = createHash("sha256");
  const url = `${input.drive}/files/download?name=${input.name}`;
  const response = await call(input, 200, "GET", url);
  for await (const piece of response.body ?? []) found.update(piece);
  if (found.digest("hex") !== expected.digest("hex")) throw new Error("Other bytes came back");
}

async function call(
  { headers }: PartsInput,
  status: number,
  method: string,
  url: string,
  body?: Blob,
): Promise<Response> {
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  if (response.status === status) return response;
  throw new Error(`${method} ${url} answered ${response.status}: ${await response.text()}`);
}

async function drain(response: Response): Promise<void> {
  await response.arrayBuffer();
}
