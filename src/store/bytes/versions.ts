/**
 * Versions: the ids under which bytes are stored. They do not depend on the names of files. Bytes of a version never
 * change. An overwritten file refers to another version; a copy refers to that of its source.
 *
 * @module
 */
import { monotonicUlid } from "@std/ulid";
import { keys } from "../engine/keys.ts";
import { checksumPages } from "./checksums.ts";

/** Characters of a version. */
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

/**
 * Versions that this process is reading. The garbage collector keeps their bytes until the last reader has finished.
 */
export class OpenVersions {
  readonly #readers = new Map<string, number>();

  /** Adds a reader of a version. Returns a function that removes it; calling that again has no effect. */
  hold(version: string): () => void {
    this.#readers.set(version, (this.#readers.get(version) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#readers.get(version) ?? 1) - 1;
      if (left === 0) this.#readers.delete(version);
      else this.#readers.set(version, left);
    };
  }

  /** Number of open versions. */
  get count(): number {
    return this.#readers.size;
  }

  /** Returns whether a version has a reader. */
  has(version: string): boolean {
    return this.#readers.has(version);
  }
}
