import { keys, ranges } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import type { ManifestPage, PartRecord, Place } from "../engine/records.ts";

/** Parts described in one page of a manifest: some 20 KB. */
export const PARTS_PER_PAGE = 500;

/** A part of a file: the chunks of `version`, which begin at byte `start` of the file. */
export interface ManifestPart {
  version: string;
  start: number;
  size: number;
}

/** Adds the pages that list a file's parts in their order. No byte of the parts is touched. */
export function setManifest(
  operation: Operation,
  place: Place,
  version: string,
  parts: readonly PartRecord[],
): void {
  let start = 0;
  for (let i = 0; i < parts.length; i += PARTS_PER_PAGE) {
    const page = parts.slice(i, i + PARTS_PER_PAGE);
    const value: ManifestPage = {
      versions: page.map((part) => part.version),
      sizes: page.map((part) => part.size),
    };
    operation.set(keys.manifestPage(place, version, start), value);
    start += totalSize(page);
  }
}

export function totalSize(parts: readonly { size: number }[]): number {
  return parts.reduce((sum, part) => sum + part.size, 0);
}

/** The parts of a file in their order, from the one on that holds byte `from`. */
export async function* manifestParts(
  kv: Deno.Kv,
  place: Place,
  version: string,
  from: number,
): AsyncGenerator<ManifestPart> {
  const pages = kv.list<ManifestPage>(
    ranges.manifestFrom(place, version, await pageWith(kv, place, version, from)),
    { batchSize: 2 },
  );
  for await (const { key, value } of pages) {
    let start = Number(key.at(-1));
    for (const [i, size] of value.sizes.entries()) {
      if (start + size > from) yield { version: value.versions[i] ?? "", start, size };
      start += size;
    }
  }
}

/** Where the page begins that holds a byte: pages are ordered by it, so the store finds it in one step. */
async function pageWith(
  kv: Deno.Kv,
  place: Place,
  version: string,
  byte: number,
): Promise<number> {
  const nearest = kv.list(ranges.manifestTo(place, version, byte), { reverse: true, limit: 1 });
  for await (const { key } of nearest) return Number(key.at(-1));
  return 0;
}
