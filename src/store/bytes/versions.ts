/**
 * Versions: the ids under which bytes are stored. They do not depend on the names of files. Bytes of a version never
 * change. An overwritten file refers to another version; a copy refers to that of its source.
 *
 * @module
 */
import { monotonicUlid } from "@std/ulid";
import { keys } from "../engine/keys.ts";
import { checksumPages } from "./checksums.ts";

export const VERSION_LENGTH = 26;

/** Returns a version that sorts after all versions that this process has created. */
export function newVersion(): string {
  return monotonicUlid();
}

/** Returns whether a text has the form of a version. Ids of uploads have the same form. */
export function isVersion(text: string): boolean {
  return text.length === VERSION_LENGTH && /^[0-9A-Z]+$/.test(text);
}

/**
 * Returns all keys of a version's bytes: its chunks, then their checksums. Some of the entries may not exist.
 *
 * @param existing The chunks that may exist, if not all of them do.
 */
export function* versionKeys(
  version: string,
  chunks: number,
  { from, to }: { from: number; to: number } = { from: 0, to: chunks },
): Generator<Deno.KvKey> {
  for (let index = from; index < to; index++) yield keys.chunk(version, index);
  for (let page = 0; page < checksumPages(chunks); page++) yield keys.checksums(version, page);
}
