/**
 * Finds chunks that a store has lost, without a look at the chunks of each file: the pages of checksums tell how many
 * chunks a version has. A version that lacks some may also be one that is being written or deleted. The records decide,
 * and are read again only if there is such a version.
 *
 * @module
 */
import { chunksUpTo } from "../bytes/checksums.ts";
import { chunkCount } from "../bytes/chunks.ts";
import { keys, prefixes } from "../engine/keys.ts";
import {
  bytesVersion,
  type FileRecord,
  type ManifestPage,
  type PartRecord,
  type TrashRecord,
} from "../engine/records.ts";
import { decodeKey, encodeKey, prefixRange } from "../reads/kv_encoding.ts";
import { rowsOf, type Snapshot } from "../verify/snapshot.ts";
import { SECTIONS, treeKey } from "./rows.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Pages of checksums that one query finds. */
const PAGES_AT_ONCE = 500;

/** Versions that are looked at, at most. */
const MAX_DOUBTS = 1000;

/** A version that lacks chunks and belongs to a file. */
export interface LostChunks {
  /** A group that has to be looked at again. */
  group: Bytes;
  /** A sentence without its period. */
  message: string;
}

export class LostChunkSearch {
  /** Versions that lack chunks, and a group of each. */
  readonly #doubts = new Map<string, Bytes>();
  readonly #listed: Iterator<ListedVersion, undefined>;
  #next: ListedVersion | undefined;

  constructor(private readonly snapshot: Snapshot) {
    this.#listed = listedVersions(snapshot);
    this.#next = this.#listed.next().value;
  }

  /** Looks at a version that has chunks. Versions have to come in their order. @param end The index after the last. */
  version(version: string, first: number, end: number): void {
    this.#passUntil(version);
    const isListed = this.#next?.version === version;
    const expected = isListed ? this.#next?.chunks ?? 0 : 0;
    if (isListed) this.#next = this.#listed.next().value;
    if (first > 0 || end < expected) this.#doubt(version);
  }

  /** Looks at a group that lacks chunks in its middle. */
  gap(group: Bytes, version: string): void {
    this.#doubt(version, group);
  }

  /** Returns the versions that lack chunks and belong to a file. */
  end(): LostChunks[] {
    this.#passUntil(undefined);
    const lost: LostChunks[] = [];
    if (this.#doubts.size === 0) return lost;
    for (const { version, size } of this.#versionsInUse()) {
      const group = this.#doubts.get(version);
      if (group === undefined) continue;
      const wanted = chunkCount(size);
      const found = this.snapshot.keys(prefixes.all("chunk", version)).reduce((sum) => sum + 1, 0);
      if (found >= wanted) continue;
      const message = `The bytes of version ${version} lack ${wanted - found} of ${wanted} chunks`;
      lost.push({ group, message });
      // Copies share their bytes.
      this.#doubts.delete(version);
    }
    return lost;
  }

  /** Listed versions that come before another one have no chunks. */
  #passUntil(version: string | undefined): void {
    while (this.#next !== undefined && (version === undefined || this.#next.version < version)) {
      this.#doubt(this.#next.version);
      this.#next = this.#listed.next().value;
    }
  }

  #doubt(version: string, group?: Bytes): void {
    if (this.#doubts.size >= MAX_DOUBTS || this.#doubts.has(version)) return;
    this.#doubts.set(version, group ?? treeKey(SECTIONS.chunks, encodeKey(keys.chunk(version, 0))));
  }

  *#versionsInUse(): Generator<{ version: string; size: number }> {
    const { snapshot } = this;
    for (const { value } of snapshot.list<FileRecord>(prefixes.all("file"))) yield* ofFile(value);
    for (const { value } of snapshot.list<TrashRecord>(prefixes.all("trash"))) {
      yield* ofFile(value.record);
    }
    for (const { value } of snapshot.list<PartRecord>(prefixes.all("part"))) yield value;
    for (const { value } of snapshot.list<ManifestPage>(prefixes.all("manifest"))) {
      for (const [i, version] of value.versions.entries()) {
        yield { version, size: value.sizes[i] ?? 0 };
      }
    }
  }
}

function* ofFile(record: FileRecord): Generator<{ version: string; size: number }> {
  if (record.layout.kind !== "chunks") return;
  yield { version: bytesVersion(record), size: record.size };
}

/** A version with checksums, and how many chunks they are for. */
interface ListedVersion {
  version: string;
  chunks: number;
}

/** Yields the versions that have checksums, in their order. */
function* listedVersions(
  { bytes: { sqlite } }: Snapshot,
): Generator<ListedVersion, undefined, undefined> {
  const select = sqlite.prepare(
    "SELECT k, length(v) AS length FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?",
  );
  const pages = rowsOf([select], prefixRange(prefixes.all("checksums")), PAGES_AT_ONCE);
  let last: ListedVersion | undefined;
  for (const { k, length } of pages as Iterable<{ k: Bytes; length: unknown }>) {
    const [, version, number] = decodeKey(k) ?? [];
    if (typeof version !== "string") continue;
    if (last !== undefined && last.version !== version) yield last;
    last = { version, chunks: chunksUpTo(Number(number), Number(length)) };
  }
  if (last !== undefined) yield last;
  return undefined;
}
