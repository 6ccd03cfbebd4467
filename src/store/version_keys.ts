import { checksumPages } from "./checksums.ts";
import { keys } from "./keys.ts";
import type { Place } from "./records.ts";

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
