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
} from "../../engine/records.ts";
import { decodeKey, decodeValue, encodeKey, prefixRange } from "../../reads/kv_encoding.ts";
import { placeOf } from "../../verify/problem.ts";
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
  const reader = new SnapshotReader(repository, snapshot);
  const files: string[] = [];
  const [start, end] = prefixRange(prefixes.all("file"));
  // What is in a lost range is reported as such.
  for await (const row of reader.rows(SECTIONS.records, start, end, () => {})) {
    const key = decodeKey(row.k);
    if (key === undefined) continue;
    const text = fileText(placeOf(key));
    try {
      const record = decodeValue(key, row) as FileRecord;
      if (await isConcerned(reader, record, lost)) files.push(text);
    } catch {
      // A record or a list of parts that cannot be read.
      files.push(text);
    }
  }
  const records = lost.filter((range) => intersects(range, SECTIONS.records, [start, end]))
    .map((range) => `files ${nameText(range.start, "from")}${nameText(range.end, " to")}`);
  return { snapshot, files, records };
}

async function isConcerned(
  reader: SnapshotReader,
  record: FileRecord,
  lost: readonly LostRange[],
): Promise<boolean> {
  const version = bytesVersion(record);
  const isLost = (section: Section, range: [Bytes, Bytes]) =>
    lost.some((one) => intersects(one, section, range));
  const isVersionLost = (one: string) =>
    isLost(SECTIONS.chunks, prefixRange(prefixes.chunks(one))) ||
    isLost(SECTIONS.checksums, prefixRange(prefixes.checksums(one)));
  switch (record.layout.kind) {
    case "inline": {
      const key = encodeKey(keys.content(version));
      return isLost(SECTIONS.records, [key, new Uint8Array([...key, 0])]);
    }
    case "chunks":
      return isVersionLost(version);
    case "manifest": {
      if (isLost(SECTIONS.records, prefixRange(prefixes.manifest(version)))) return true;
      for await (const { value } of reader.list<ManifestPage>(prefixes.manifest(version))) {
        if (value.versions.some(isVersionLost)) return true;
      }
      return false;
    }
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
