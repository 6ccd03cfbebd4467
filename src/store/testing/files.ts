import { assert, assertEquals, assertRejects } from "@std/assert";
import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { keys } from "../engine/keys.ts";
import type { FileRecord, Place } from "../engine/records.ts";
import type { CompletedUpload } from "../uploads/upload_store.ts";
import { ANYWAY, bytes, DRIVE, inPieces, place } from "./bodies.ts";
import type { TestStore } from "./stores.ts";
import { Operation } from "../engine/operation.ts";
import { shareBytes } from "../files/shared_bytes.ts";
import { newVersion } from "../bytes/versions.ts";
import { countUsage } from "../quotas/usage.ts";
import { SECOND } from "../../rules/units.ts";
import { QuotaExceeded } from "../engine/errors.ts";
import { assertSums } from "./entries.ts";

/** Stores a file in `DRIVE`. */
export async function put(
  { store }: TestStore,
  name: string,
  data: Uint8Array,
): Promise<FileRecord> {
  const options = { ...ANYWAY, maxSize: Math.max(MAX_PAYLOAD, data.byteLength) };
  const record = await store.files.put(place(name), inPieces(data), options);
  if (record === "refused") throw new Error("A write without a condition was refused");
  return record;
}

/** Returns all bytes of a file as a download does; `undefined` if it does not exist. */
export async function read({ store }: TestStore, name: string): Promise<Uint8Array | undefined> {
  const file = await store.files.reader.open(place(name));
  if (file === undefined) return undefined;
  using open = file;
  const pieces = await Array.fromAsync(await open.read({ start: 0, end: open.record.size }));
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** Stores a file in any drive. */
export async function putAt({ store }: TestStore, place: Place, data: Uint8Array): Promise<void> {
  await store.files.put(place, inPieces(data), ANYWAY);
}

/** Sends a part of an upload. */
export async function putPart(
  { store }: TestStore,
  name: string,
  id: string,
  part: number,
  data: Uint8Array,
): Promise<void> {
  const body = inPieces(data);
  await store.uploads.putPart(place(name), { id, part, type: undefined }, body, () => {});
}

/** Starts an upload and sends parts of these sizes. Returns its id. */
export async function upload(
  { store }: TestStore,
  place: Place,
  parts: readonly number[],
): Promise<string> {
  const id = await store.uploads.start(place, undefined);
  for (const [i, size] of parts.entries()) {
    const named = { id, part: i + 1, type: undefined };
    await store.uploads.putPart(place, named, inPieces(bytes(size)), () => {});
  }
  return id;
}

export async function recordOf({ db }: TestStore, name: string): Promise<FileRecord> {
  const { value } = await db.reader.get<FileRecord>(keys.file(place(name)));
  assert(value !== null);
  return value;
}

/** Asserts that an upload was completed, and the deadline that its file got. */
export function assertCompleted(
  outcome: CompletedUpload | "refused",
  expires?: number | undefined,
): void {
  assert(outcome !== "refused");
  assertEquals(outcome.expires, expires);
}

/** Makes a file a copy of another that shares its bytes, in one operation. */
export async function copy({ db }: Pick<TestStore, "db">, from: string, to: string): Promise<void> {
  const { key, value, versionstamp } = await db.reader.get<FileRecord>(keys.file(place(from)));
  assert(value !== null);
  const operation = new Operation().check(key, versionstamp);
  const record = { ...shareBytes(operation, key, value), version: newVersion() };
  operation.check(keys.file(place(to)), null).set(keys.file(place(to)), record);
  countUsage(operation, place(to), null, record);
  assert((await db.commit(operation)).ok);
}

/** How long the files of these tests exist, in milliseconds. */
export const LIFETIME = 10 * SECOND;

/** Stores a file that expires. */
export async function putExpiring(
  { store }: TestStore,
  name: string,
  size: number,
  lifetime = LIFETIME,
): Promise<FileRecord> {
  const options = { ...ANYWAY, lifetime };
  const record = await store.files.put(place(name), inPieces(bytes(size)), options);
  assert(record !== "refused");
  return record;
}

/** Sweeps without adding to the time. */
export async function sweep({ store }: TestStore): Promise<void> {
  await store.sweeper.sweep();
}

/** Returns the names in a listing. */
export async function names(
  { store }: TestStore,
  recursive = true,
  prefix = "",
): Promise<string[]> {
  const page = await store.list({ ...DRIVE, limit: 1000, prefix, last: "" }, { recursive });
  return page.entries.map(({ name }) => name);
}

const { project } = DRIVE;

/** Sets the quota of the test project in bytes; `null` removes it. */
export async function setQuota({ store }: TestStore, maxBytes: number | null): Promise<void> {
  const info = await store.projects.update(project, { maxBytes });
  assertEquals(info?.maxBytes, maxBytes ?? undefined);
}

/** Returns the bytes that count against the quota of the test project, after a check of all sums. */
export async function usedBytes(bench: TestStore): Promise<number> {
  await assertSums(bench);
  return await usedNow(bench);
}

/** The same without the check, for use while others write. */
export async function usedNow({ store }: TestStore): Promise<number> {
  const { bytes, openBytes, trashBytes } = await store.usageOf(project);
  return bytes + openBytes + trashBytes;
}

export async function assertQuotaExceeded(work: Promise<unknown>): Promise<QuotaExceeded> {
  return await assertRejects(() => work, QuotaExceeded);
}

/** Rethrows an error unless it is for the quota. */
export function ignoreQuotaExceeded(error: unknown): void {
  if (!(error instanceof QuotaExceeded)) throw error;
}

export function sumOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}
