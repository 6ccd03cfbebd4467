import { monotonicUlid } from "@std/ulid";
import { keys } from "../engine/keys.ts";
import type { Place } from "../engine/records.ts";
import { checksumPages } from "./checksums.ts";

/** A version that sorts behind all that this process made before. */
export function newVersion(): string {
  return monotonicUlid();
}

export const VERSION_LENGTH = 26;

/** Whether a text can be a version, or the id of an upload, which is made in the same way. */
export function isVersion(text: string): boolean {
  return text.length === VERSION_LENGTH && /^[0-9A-Z]+$/.test(text);
}

/** Who reads which version in this process, so that its bytes stay until the last reader has finished. */
export class OpenVersions {
  readonly #counts = new Map<string, number>();

  /** Keeps a version's bytes until the function that it gives is called. */
  hold(version: string): () => void {
    this.#counts.set(version, (this.#counts.get(version) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (this.#counts.get(version) ?? 1) - 1;
      if (left === 0) this.#counts.delete(version);
      else this.#counts.set(version, left);
    };
  }

  /** How many versions are being read. */
  get count(): number {
    return this.#counts.size;
  }

  has(version: string): boolean {
    return this.#counts.has(version);
  }
}

/** Every key of the bytes of one version: its chunks, then their checksums. Some of the entries may not exist. */
export function* versionKeys(
  place: Place,
  version: string,
  chunks: number,
): Generator<Deno.KvKey> {
  for (let index = 0; index < chunks; index++) yield keys.chunk(place, version, index);
  for (let page = 0; page < checksumPages(chunks); page++) {
    yield keys.checksums(place, version, page);
  }
}
