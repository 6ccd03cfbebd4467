/**
 * Compares what a snapshot sends with its checksums: a store that is damaged must not be copied without a word. What the
 * repository has already is not read, and was compared when it was sent.
 *
 * @module
 */
import { encodeHex } from "@std/encoding/hex";
import {
  CHECKSUMS_PER_PAGE,
  contentProblem,
  matches,
  thumbnailProblem,
} from "../bytes/checksums.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { bytesVersion, type FileRecord, fileText, type TrashRecord } from "../engine/records.ts";
import { decodeKey, decodeValue, encodeKey } from "../reads/kv_encoding.ts";
import { placeOf } from "../verify/problem.ts";
import type { Snapshot } from "../verify/snapshot.ts";
import { LostChunkSearch } from "./lost_chunks.ts";
import { SECTIONS, type StoredRow, treeKey } from "./rows.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Damaged places that a snapshot remembers, so that the next one looks at them again. */
const MAX_DAMAGE = 1000;

/** Contents whose versions are kept in memory, some 10 MB; when more are sent, those of all files are read. */
const MAX_SENT = 100_000;

const FILES = encodeKey(prefixes.all("file"));
const TRASH = encodeKey(prefixes.all("trash"));
const CONTENTS = encodeKey(prefixes.all("content"));

/** A content that a record needs. */
interface NeededContent {
  version: string;
  /** Returns what is wrong with it, as a sentence without its period. */
  problemOf: (content: unknown) => string | undefined;
}

export class SourceCheck {
  /** What is damaged, one sentence without its period for each tree key in hexadecimal. */
  readonly #damage = new Map<string, string>();
  /** Contents in the group that is being read, and those that its records need. */
  #pending: string[] = [];
  #needed: NeededContent[] = [];
  /** Contents that are sent; `undefined` if they are too many. */
  #sent: Set<string> | undefined = new Set();
  #page: { id: string; bytes: Bytes | undefined } | undefined;
  readonly #lost: LostChunkSearch;

  /** @param suspects The damaged places of the newest snapshot, which are looked at again. */
  constructor(
    private readonly snapshot: Snapshot,
    private readonly suspects: ReadonlySet<string>,
  ) {
    this.#lost = new LostChunkSearch(snapshot);
  }

  /** Ends the check. Returns the damaged places by their tree keys in hexadecimal, and a sentence for each. */
  end(): { keys: string[]; messages: string[] } {
    for (const { group, message } of this.#lost.end()) this.#note(group, message);
    return { keys: [...this.#damage.keys()], messages: [...this.#damage.values()] };
  }

  /** Returns whether a group has to be sent although the repository has one of this key. */
  isSuspect(key: Bytes): boolean {
    return this.suspects.size > 0 && this.suspects.has(encodeHex(key));
  }

  /** Looks at a row of the records. @returns The record if it is that of a file and can be read. */
  row(row: StoredRow): FileRecord | undefined {
    if (startsWith(row.k, CONTENTS)) this.#pending.push(String(decodeKey(row.k)?.[1]));
    const [isFile, isTrash] = [startsWith(row.k, FILES), startsWith(row.k, TRASH)];
    if (!isFile && !isTrash) return undefined;
    try {
      if (isFile) return this.#need(decodeValue(["file"], row) as FileRecord, nameOf(row.k));
      const { name, record } = decodeValue(["trash"], row) as TrashRecord;
      this.#need(record, `${nameOf(row.k, name)} in the trash`);
    } catch {
      this.#note(treeKey(SECTIONS.records, row.k), `The record of ${nameOf(row.k)} is damaged`);
    }
    return undefined;
  }

  /** Ends a group. */
  endGroup(isSent: boolean): void {
    if (isSent) {
      for (const version of this.#pending) this.#sent?.add(version);
    }
    if (this.#sent !== undefined && this.#sent.size > MAX_SENT) this.#sent = undefined;
    for (const needed of this.#needed) this.#checkContent(needed, isSent);
    [this.#pending, this.#needed] = [[], []];
  }

  /** Looks at a version that has chunks. @param end The index after its last chunk. */
  version(version: string, first: number, end: number): void {
    this.#lost.version(version, first, end);
  }

  /** Looks at a group that is sent and lacks chunks. */
  gap(group: Bytes, version: string): void {
    this.#lost.gap(group, version);
  }

  /** Looks at a chunk that is sent. @param group The key of its group. */
  chunk(group: Bytes, version: string, index: number, chunk: Bytes): void {
    const page = this.#pageOf(version, Math.floor(index / CHECKSUMS_PER_PAGE));
    // An upload that is running has no checksums yet, and stores of old versions have none.
    if (page === undefined) return;
    const isListed = (index % CHECKSUMS_PER_PAGE + 1) * 4 <= page.byteLength;
    if (isListed && matches(page, index, chunk)) return;
    this.#note(group, `The bytes of version ${version} do not match their checksums`);
  }

  /** Remembers the contents that a record needs. @param name Of its file, as messages have it. */
  #need(record: FileRecord, name: string): FileRecord {
    const { layout, thumbnail } = record;
    const sentence = (problem: string | undefined) =>
      problem && `The file ${name} is damaged: ${problem}`;
    if (layout.kind === "inline") {
      const problemOf = (content: unknown) => sentence(contentProblem(record, content));
      this.#needed.push({ version: bytesVersion(record), problemOf });
    }
    if (thumbnail !== undefined) {
      const problemOf = (content: unknown) => sentence(thumbnailProblem(thumbnail, content));
      this.#needed.push({ version: thumbnail.version, problemOf });
    }
    return record;
  }

  /** Compares a content if it is sent, and looks whether it is there if its record is. */
  #checkContent({ version, problemOf }: NeededContent, isRecordSent: boolean): void {
    const place = keys.content(version);
    const at = treeKey(SECTIONS.records, encodeKey(place));
    const isSent = this.#sent === undefined || this.#sent.has(version);
    if (!isSent && !this.isSuspect(at) && !(isRecordSent && !this.snapshot.has(place))) return;
    const problem = problemOf(this.snapshot.get<unknown>(place)?.value);
    if (problem !== undefined) this.#note(at, problem);
  }

  #pageOf(version: string, number: number): Bytes | undefined {
    const id = `${version}/${number}`;
    if (this.#page?.id !== id) {
      const value = this.snapshot.get<Bytes>(keys.checksums(version, number))?.value;
      this.#page = { id, bytes: value };
    }
    return this.#page?.bytes;
  }

  #note(key: Bytes, message: string): void {
    if (this.#damage.size < MAX_DAMAGE) this.#damage.set(encodeHex(key), message);
  }
}

function startsWith(key: Bytes, prefix: Bytes): boolean {
  return prefix.every((byte, i) => key[i] === byte);
}

/** Returns how messages name the file of a record. @param name Its name, if its key ends with another one. */
function nameOf(key: Bytes, name?: string): string {
  const parts = decodeKey(key);
  if (parts === undefined) return "a file";
  const place = placeOf(parts);
  return fileText({ ...place, name: name ?? place.name });
}
