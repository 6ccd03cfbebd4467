import { equals } from "@std/bytes/equals";
import { signedHeaders } from "../../../tests/support/s3/signed.ts";
import type { Message } from "../load.ts";
import { assert, randomBytes } from "../server.ts";
import type { PeerServer, S3Access } from "./peer.ts";
import { nameOf, sendOnce } from "./template.ts";

export const SMALL = 4096;
export const LARGE = 10 * 2 ** 20;

/** Files among which requests choose, and entries of the list of S3. */
const NAMES = 20_000;
const LISTED = 1000;

/** Uploads at the same time. */
const AT_ONCE = 64;

/** How many of the names are read back: each so manyth. */
const CHECKED_EVERY = 1009;

/** Numbers from here on are free. */
export const FREE_NUMBERS = 1_000_000;

/** The files of a server that are read, and the bytes that are uploaded. */
export interface Stored {
  /** Paths of a small and of a large file, and of many small ones. */
  small: string;
  large: string;
  names: readonly string[];
  smallBytes: Uint8Array<ArrayBuffer>;
  largeBytes: Uint8Array<ArrayBuffer>;
}

/** Stores the files and makes sure that what comes back is the same. */
export async function storeFiles(server: PeerServer, withNames: boolean): Promise<Stored> {
  const [smallBytes, largeBytes] = [randomBytes(SMALL), randomBytes(LARGE)];
  const store = async (number: number, bytes: Uint8Array<ArrayBuffer>): Promise<string> => {
    const path = await server.store(nameOf(number), bytes);
    if (number % CHECKED_EVERY === 0 || number >= NAMES) await check(server, path, bytes);
    return path;
  };
  const names: string[] = [];
  await inParallel(withNames ? NAMES : 0, async (number) => {
    const bytes = new Uint8Array(smallBytes);
    bytes.set(new TextEncoder().encode(nameOf(number)));
    names[number] = await store(number, bytes);
  });
  const small = await store(NAMES, smallBytes);
  const large = await store(NAMES + 1, largeBytes);
  return { small, large, names, smallBytes, largeBytes };
}

async function check(
  { origin, headers }: PeerServer,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const answer = await sendOnce(origin, { method: "GET", target: path, headers }, "");
  assert(equals(answer, bytes), `${origin}${path} has ${answer.byteLength} bytes, or others`);
}

async function inParallel(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < count) await work(next++);
  }));
}

/** The bucket of the rows of S3, in which all requests need a signature. */
const BUCKET = "/bench-s3";

/** What is requested of S3. `{n}` stands for the name of a new object. */
export const s3Target = {
  small: `${BUCKET}/small`,
  large: `${BUCKET}/large`,
  new: `${BUCKET}/new/{n}`,
  list: `${BUCKET}?list-type=2&max-keys=${LISTED}&prefix=list%2F`,
} as const;

/** A request with the headers that sign it. */
export function signed(
  { origin, key }: S3Access,
  { method, target, body }: Omit<Message, "body"> & { body?: Uint8Array<ArrayBuffer> },
): Message {
  const [path = "", query = ""] = target.split("?");
  const { host } = new URL(origin);
  const request = { method, path, query, host, ...(body && { body }) };
  return { method, target, headers: signedHeaders(key, request), ...(body && { body }) };
}

/** Makes the bucket. */
export async function makeBucket(access: S3Access): Promise<void> {
  await send(access, "PUT", BUCKET);
}

/** Stores the objects that are read, and makes sure that only signed requests get them, unchanged. */
export async function storeObjects(
  access: S3Access,
  { smallBytes, largeBytes }: Pick<Stored, "smallBytes" | "largeBytes">,
): Promise<void> {
  await makeBucket(access);
  const objects = [[s3Target.small, smallBytes], [s3Target.large, largeBytes]] as const;
  for (const [target, bytes] of objects) {
    await send(access, "PUT", target, bytes);
    const answer = await send(access, "GET", target);
    assert(equals(answer, bytes), `${target} has ${answer.byteLength} bytes, or others`);
  }
  const unsigned = await fetch(access.origin + s3Target.small);
  await unsigned.body?.cancel();
  assert(unsigned.status === 403, `a GET without a signature answered ${unsigned.status}`);
  await inParallel(LISTED, async (n) => {
    await send(access, "PUT", `${BUCKET}/list/${nameOf(n)}`, smallBytes);
  });
}

async function send(
  access: S3Access,
  method: Message["method"],
  target: string,
  body?: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  return await sendOnce(
    access.origin,
    signed(access, { method, target, ...(body && { body }) }),
    "",
  );
}
