import { assert, assertEquals } from "@std/assert";
import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { keys } from "../engine/keys.ts";
import type { FileRecord, Place } from "../engine/records.ts";
import type { CompletedUpload } from "../uploads/upload_store.ts";
import { ANYWAY, bytes, inPieces, place } from "./bodies.ts";
import type { TestStore } from "./stores.ts";

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
