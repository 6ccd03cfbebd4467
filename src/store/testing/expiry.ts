import { assert } from "@std/assert";
import { SECOND } from "../../rules/units.ts";
import type { FileRecord } from "../engine/records.ts";
import { ANYWAY, bytes, DRIVE, inPieces, place } from "./bodies.ts";
import type { TestStore } from "./stores.ts";

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
