/**
 * Compares what a snapshot sends with its checksums: a store that is damaged must not be copied without a word. What the
 * repository has already is not read, and was compared when it was sent.
 *
 * @module
 */
import { encodeHex } from "@std/encoding/hex";
import { CHECKSUMS_PER_PAGE, contentProblem, matches } from "../bytes/checksums.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { bytesVersion, type FileRecord, fileText } from "../engine/records.ts";
import { decodeKey, decodeValue, encodeKey } from "../reads/kv_encoding.ts";
import { placeOf } from "../verify/problem.ts";
import type { Snapshot } from "../verify/snapshot.ts";
import { SECTIONS, type StoredRow, treeKey } from "./rows.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Damaged places that a snapshot remembers, so that the next one looks at them again. */
const MAX_DAMAGE = 1000;

/** Contents whose versions are kept in memory, some 10 MB; when more are sent, those of all files are read. */
const MAX_SENT = 100_000;

const FILES = encodeKey(prefixes.all("file"));
const CONTENTS = encodeKey(prefixes.all("content"));

export class SourceCheck {
  /** What is damaged, one sentence without its period for each tree key in hexadecimal. */
  readonly #damage = new Map<string, string>();
  /** Contents of the group that is being read. */
  #pending: string[] = [];
  /** Contents that are sent; `undefined` if they are too many. */
  #sent: Set<string> | undefined = new Set();
  #page: { id: string; bytes: Bytes | undefined } | undefined;

  /** @param suspects The damaged places of the newest snapshot, which are looked at again. */
  constructor(
    private readonly snapshot: Snapshot,
    private readonly suspects: ReadonlySet<string>,
  ) {}

  /** The damaged places by their tree keys in hexadecimal, and a sentence without its period for each. */
  get damage(): { keys: string[]; messages: string[] } {
    return { keys: [...this.#damage.keys()], messages: [...this.#damage.values()] };
  }

  /** Returns whether a group has to be sent although the repository has one of this key. */
  isSuspect(key: Bytes): boolean {
    return this.suspects.size > 0 && this.suspects.has(encodeHex(key));
  }

  /** Looks at a row of the records. @returns The record if it is that of a file and can be read. */
  row(row: StoredRow): FileRecord | undefined {
    if (startsWith(row.k, CONTENTS)) this.#pending.push(String(decodeKey(row.k)?.[1]));
    if (!startsWith(row.k, FILES)) return undefined;
    let record: FileRecord;
    try {
      record = decodeValue(["file"], row) as FileRecord;
      this.#checkContent(row.k, record);
    } catch {
      this.#note(treeKey(SECTIONS.records, row.k), `The record of ${nameOf(row.k)} is damaged`);
      return undefined;
    }
    return record;
  }

  /** Ends a group. */
  endGroup(isSent: boolean): void {
    if (isSent) {
      for (const version of this.#pending) this.#sent?.add(version);
    }
    if (this.#sent !== undefined && this.#sent.size > MAX_SENT) this.#sent = undefined;
    this.#pending = [];
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

  #checkContent(key: Bytes, record: FileRecord): void {
    if (record.layout.kind !== "inline") return;
    const version = bytesVersion(record);
    const place = keys.content(version);
    const isSent = this.#sent === undefined || this.#sent.has(version);
    const at = treeKey(SECTIONS.records, encodeKey(place));
    if (!isSent && !this.isSuspect(at)) return;
    const content = this.snapshot.get<unknown>(place)?.value;
    const problem = contentProblem(record, content);
    if (problem !== undefined) this.#note(at, `The file ${nameOf(key)} is damaged: ${problem}`);
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

function nameOf(key: Bytes): string {
  const parts = decodeKey(key);
  return parts === undefined ? "a file" : fileText(placeOf(parts));
}
