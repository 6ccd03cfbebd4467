import { equals } from "@std/bytes/equals";
import { assert, randomBytes } from "../server.ts";
import type { PeerServer } from "./peer.ts";
import { NAME_DIGITS, nameOf } from "./template.ts";

export const SMALL = 4096;
export const LARGE = 10 * 2 ** 20;

/** Files among which requests choose. */
export const NAMES = 20_000;

/** The files that are read, which a server got before it is measured. */
export interface Stored {
  /** Paths of a small and of a large file, and of many small ones. */
  small: string;
  large: string;
  names: readonly string[];
  /** Bytes of the files that are uploaded. */
  smallBytes: Uint8Array<ArrayBuffer>;
  largeBytes: Uint8Array<ArrayBuffer>;
}

/** Uploads at the same time. */
const AT_ONCE = 64;

/** How many of the names are read back: each so manyth, and the last. */
const CHECKED_EVERY = 1009;

/** The numbers of files with these names begin here; those of the many files begin at 0. */
const FIRST_OF_PAIR = 100_000;

/** Numbers from here on are free. */
export const FREE_NUMBERS = 1_000_000;

/** Stores the files and makes sure that what comes back is the same. */
export async function storeFiles(server: PeerServer, withNames: boolean): Promise<Stored> {
  const [smallBytes, largeBytes] = [randomBytes(SMALL), randomBytes(LARGE)];
  const storeAndCheck = async (number: number, bytes: Uint8Array<ArrayBuffer>): Promise<string> => {
    const path = await server.store(nameOf(number), bytes);
    await check(server, path, bytes);
    return path;
  };
  return {
    small: await storeAndCheck(FIRST_OF_PAIR, smallBytes),
    large: await storeAndCheck(FIRST_OF_PAIR + 1, largeBytes),
    names: withNames ? await storeNames(server, smallBytes) : [],
    smallBytes,
    largeBytes,
  };
}

async function storeNames(
  server: PeerServer,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string[]> {
  const paths: string[] = [];
  let next = 0;
  const uploadSome = async (): Promise<void> => {
    while (next < NAMES) {
      const number = next++;
      paths[number] = await server.store(nameOf(number), stamped(bytes, number));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, uploadSome));
  for (const [number, path] of paths.entries()) {
    if (number % CHECKED_EVERY !== 0 && number !== NAMES - 1) continue;
    await check(server, path, stamped(bytes, number));
  }
  return paths;
}

/** The bytes, with a number at their beginning. */
export function stamped(bytes: Uint8Array, number: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes);
  copy.set(new TextEncoder().encode(nameOf(number)).subarray(0, NAME_DIGITS));
  return copy;
}

async function check(
  { origin, headers }: PeerServer,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const response = await fetch(origin + path, { headers: { ...headers } });
  const answer = await response.bytes();
  assert(response.status === 200, `${origin}${path} answered ${response.status}`);
  assert(equals(answer, bytes), `${origin}${path} has ${answer.byteLength} bytes, or others`);
}
