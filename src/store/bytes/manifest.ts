import { keys, ranges } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import type { KvReader } from "../reads/read_queue.ts";
import type { ManifestPage, PartRecord } from "../engine/records.ts";

/** Parts in one page of a manifest, which has some 20 KB. */
export const PARTS_PER_PAGE = 500;

/** The most characters of checksums in a manifest: a transaction of Deno KV has at most 800 KiB. */
const MAX_CHECKSUMS = 200_000;

/** A part of a file: the chunks of `version`, whose first byte is byte `start` of the file. */
export interface ManifestPart {
  version: string;
  start: number;
  size: number;
}

/** Adds the pages that list a file's parts in their order. The bytes of the parts are not touched. */
export function setManifest(
  operation: Operation,
  version: string,
  parts: readonly PartRecord[],
): void {
  const checksums = checksumsOf(parts);
  let start = 0;
  for (let i = 0; i < parts.length; i += PARTS_PER_PAGE) {
    const page = parts.slice(i, i + PARTS_PER_PAGE);
    const value: ManifestPage = {
      versions: page.map((part) => part.version),
      sizes: page.map((part) => part.size),
      ...(checksums === undefined ? {} : { checksums: checksums.slice(i, i + PARTS_PER_PAGE) }),
    };
    operation.set(keys.manifestPage(version, start), value);
    start += totalSize(page);
  }
}

/** Returns the checksums of all parts; `undefined` if one has none, or if they are too long. */
function checksumsOf(parts: readonly PartRecord[]): string[] | undefined {
  const checksums: string[] = [];
  let length = 0;
  for (const { checksum } of parts) {
    length += checksum?.length ?? Infinity;
    if (checksum === undefined || length > MAX_CHECKSUMS) return undefined;
    checksums.push(checksum);
  }
  return checksums;
}

/** Returns the bytes of all parts. */
export function totalSize(parts: readonly { size: number }[]): number {
  return parts.reduce((sum, part) => sum + part.size, 0);
}

/** Yields the parts of a file in their order, starting with the one that holds byte `from`. */
export async function* manifestParts(
  reader: KvReader,
  version: string,
  from: number,
): AsyncGenerator<ManifestPart> {
  const pages = reader.list<ManifestPage>(
    ranges.manifestFrom(version, await pageWith(reader, version, from)),
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

/** Returns the start of the page that holds a byte. Pages are ordered by their starts, so this is one lookup. */
async function pageWith(reader: KvReader, version: string, byte: number): Promise<number> {
  const nearest = reader.list(ranges.manifestTo(version, byte), { reverse: true, limit: 1 });
  for await (const { key } of nearest) return Number(key.at(-1));
  return 0;
}

/** A part of a file by its place among the parts, from 1 on. */
export interface NumberedRange {
  part: number;
  /** The offset of its first byte in the file. */
  start: number;
  size: number;
  /** Base64; absent if it is not known. */
  checksum?: string;
}

/**
 * Returns parts of a file with a manifest, in their order.
 *
 * @param from The number of the first one. Pages before it are read as well, at most `MAX_PARTS` / `PARTS_PER_PAGE`.
 */
export async function listManifest(
  reader: KvReader,
  version: string,
  { from, limit }: { from: number; limit: number },
): Promise<NumberedRange[]> {
  const found: NumberedRange[] = [];
  let part = 0;
  const pages = reader.list<ManifestPage>(ranges.manifestFrom(version, 0), { batchSize: 2 });
  for await (const { key, value: { sizes, checksums } } of pages) {
    let start = Number(key.at(-1));
    for (const [i, size] of sizes.entries()) {
      if (found.length === limit) return found;
      const checksum = checksums?.[i];
      const known = checksum === undefined ? {} : { checksum };
      if (++part >= from) found.push({ part, start, size, ...known });
      start += size;
    }
  }
  return found;
}
