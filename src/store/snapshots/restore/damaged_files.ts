/**
 * The files of snapshots that damaged objects of the repository concern.
 *
 * @module
 */
import type { CheckReport } from "../../../repository/check.ts";
import { DamagedObject } from "../../../repository/errors.ts";
import type { Snapshot } from "../../../repository/manifest.ts";
import { FOLDERS, type Repository } from "../../../repository/repository.ts";
import type { Bytes } from "../../../repository/bytes.ts";
import { compareBytes, walkTree } from "../../../repository/tree.ts";
import { keys, prefixes } from "../../engine/keys.ts";
import {
  bytesVersion,
  type FileRecord,
  fileText,
  type ManifestPage,
  type PartRecord,
  type Place,
  type TrashRecord,
} from "../../engine/records.ts";
import {
  afterKey,
  decodeKey,
  decodeValue,
  encodeKey,
  prefixRange,
} from "../../reads/kv_encoding.ts";
import { driveText, placeOf } from "../../verify/problem.ts";
import { type Section, SECTIONS, treeKey } from "../rows.ts";
import { SnapshotReader } from "./snapshot_reader.ts";

export interface SnapshotDamage {
  snapshot: Snapshot;
  /** The files whose bytes are not whole, as messages name them. */
  files: string[];
  /** Parts of the records that are lost, as the end of a sentence: names in them are not known. */
  records: string[];
}

/** Keys of a tree from `start` to `end` (excluded); to its end without it. */
interface LostRange {
  start: Bytes;
  end: Bytes | undefined;
}

/** Returns the damage of each snapshot that has some. */
export async function filesOfDamage(
  repository: Repository,
  { snapshots, problems }: CheckReport,
): Promise<SnapshotDamage[]> {
  const found: SnapshotDamage[] = [];
  for (const snapshot of snapshots) {
    const lost = await lostRanges(repository, snapshot, problems);
    if (lost.length > 0) found.push(await damageOf(repository, snapshot, lost));
  }
  return found;
}

async function lostRanges(
  { loadNode }: Repository,
  { root }: Snapshot,
  problems: ReadonlyMap<string, string>,
): Promise<LostRange[]> {
  const ranges: LostRange[] = [];
  let open: LostRange | undefined;
  const begin = (start: Bytes) => {
    if (open === undefined) ranges.push(open = { start, end: undefined });
  };
  const nodes = walkTree(root, loadNode, {
    onError(error, key = new Uint8Array()) {
      if (!(error instanceof DamagedObject)) throw error;
      begin(key);
    },
  });
  for await (const groups of nodes) {
    for (const { key, object } of groups) {
      if (problems.has(`${FOLDERS.data}/${object.name}`)) begin(key);
      else if (open !== undefined) {
        open.end = key;
        open = undefined;
      }
    }
  }
  return ranges;
}

async function damageOf(
  repository: Repository,
  snapshot: Snapshot,
  lost: readonly LostRange[],
): Promise<SnapshotDamage> {
  const concerned = new ConcernedFiles(new SnapshotReader(repository, snapshot), lost);
  const files = await Array.fromAsync(concerned.names());
  const range = prefixRange(prefixes.all("file"));
  const records = lost.filter((one) => intersects(one, SECTIONS.records, range))
    .map(({ start, end }) => {
      const names = [nameText(start, "from"), nameText(end, "to")].filter(Boolean).join(" ");
      return names === "" ? "any files" : `files ${names}`;
    });
  return { snapshot, files, records };
}

/** The files of a snapshot that have bytes in lost ranges: also those in the trash, and open uploads. */
class ConcernedFiles {
  constructor(
    private readonly reader: SnapshotReader,
    private readonly lost: readonly LostRange[],
  ) {}

  /** Yields them as messages name them. */
  async *names(): AsyncGenerator<string> {
    yield* this.#ofKind("file", fileText, (record: FileRecord) => this.#isFileLost(record));
    yield* this.#ofKind(
      "trash",
      (place, item?: TrashRecord) =>
        `${fileText({ ...place, name: item?.name ?? place.name })} in the trash`,
      ({ record }: TrashRecord) => this.#isFileLost(record),
    );
    yield* this.#ofKind(
      "part",
      ({ name: id, ...place }) => `a part of the open upload ${id} in ${driveText(place)}`,
      ({ version }: PartRecord) => this.#isVersionLost(version),
    );
  }

  /** Yields the entries of a kind that are concerned, and those that cannot be read. */
  async *#ofKind<T>(
    kind: "file" | "trash" | "part",
    textOf: (place: Place, value?: T) => string,
    isConcerned: (value: T) => boolean | Promise<boolean>,
  ): AsyncGenerator<string> {
    const [start, end] = prefixRange(prefixes.all(kind));
    // What is in a lost range is reported as such.
    for await (const row of this.reader.rows(SECTIONS.records, start, end, () => {})) {
      const key = decodeKey(row.k);
      if (key === undefined) continue;
      const place = placeOf(key);
      let value: T | undefined;
      try {
        value = decodeValue(key, row) as T;
        if (await isConcerned(value)) yield textOf(place, value);
      } catch {
        // A record or a list of parts that cannot be read.
        yield textOf(place, value);
      }
    }
  }

  async #isFileLost(record: FileRecord): Promise<boolean> {
    const version = bytesVersion(record);
    const { layout, thumbnail } = record;
    if (thumbnail !== undefined && this.#isContentLost(thumbnail.version)) return true;
    if (layout.kind === "inline") return this.#isContentLost(version);
    if (layout.kind === "chunks") return this.#isVersionLost(version);
    if (this.#isLost(SECTIONS.records, prefixRange(prefixes.all("manifest", version)))) return true;
    for await (
      const { value } of this.reader.list<ManifestPage>(prefixes.all("manifest", version))
    ) {
      if (value.versions.some((part) => this.#isVersionLost(part))) return true;
    }
    return false;
  }

  #isContentLost(version: string): boolean {
    const key = encodeKey(keys.content(version));
    return this.#isLost(SECTIONS.records, [key, afterKey(key)]);
  }

  #isVersionLost(version: string): boolean {
    return this.#isLost(SECTIONS.chunks, prefixRange(prefixes.all("chunk", version))) ||
      this.#isLost(SECTIONS.checksums, prefixRange(prefixes.all("checksums", version)));
  }

  #isLost(section: Section, range: [Bytes, Bytes]): boolean {
    return this.lost.some((one) => intersects(one, section, range));
  }
}

/** A group has all keys up to the first one of the next group, so a range reaches further than what is lost. */
function intersects(
  { start, end }: LostRange,
  section: Section,
  [from, to]: readonly [Bytes, Bytes],
): boolean {
  return compareBytes(start, treeKey(section, to)) < 0 &&
    (end === undefined || compareBytes(end, treeKey(section, from)) > 0);
}

/** Returns which file a key of a tree belongs to, after a word; nothing if it belongs to none. */
export function nameText(key: Bytes | undefined, word: string): string {
  const parts = key && decodeKey(key.subarray(1));
  return parts?.[0] === "file" ? `${word} ${fileText(placeOf(parts))}` : "";
}
