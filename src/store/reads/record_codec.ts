/**
 * How records are stored: JSON in UTF-8 after its CRC-32, so that a flipped bit is found also when the record still reads
 * like one. Counters and bytes of files are stored as they are; bytes have checksums of their own.
 *
 * An entry whose value cannot be read has the value `null` and a versionstamp. Writers take it for
 * absent, replace it under the check of its versionstamp, or delete it. Lists leave it out.
 *
 * @module
 */
import { crc32 } from "node:zlib";
import type { KvReader, ListOptions } from "./read_queue.ts";

/** The kinds of entries whose values are bytes. */
const BYTES = new Set<unknown>(["chunk", "checksums", "content"]);

/** Returns whether entries of a kind hold records. */
export function isRecordKind(kind: unknown): boolean {
  return !BYTES.has(kind);
}

/** Bytes of the checksum, the highest first. */
const CRC_LENGTH = 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns the bytes of a record, and bytes and counters as they are. */
export function sealValue(value: unknown): Uint8Array | Deno.KvU64 {
  if (value instanceof Uint8Array || value instanceof Deno.KvU64) return value;
  const text = encoder.encode(JSON.stringify(value));
  const sealed = new Uint8Array(CRC_LENGTH + text.byteLength);
  new DataView(sealed.buffer).setUint32(0, crc32(text));
  sealed.set(text, CRC_LENGTH);
  return sealed;
}

/**
 * Returns the record in a value. Values in the form of Deno KV, which stores of the first format have, are returned as
 * they are.
 *
 * @throws {Error} if the checksum does not match.
 */
export function openValue(key: Deno.KvKey, value: unknown): unknown {
  if (!(value instanceof Uint8Array) || !isRecordKind(key[0])) return value;
  const text = value.subarray(CRC_LENGTH);
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  if (text.byteLength === 0 || view.getUint32(0) !== crc32(text)) {
    throw new Error("its checksum does not match");
  }
  return JSON.parse(decoder.decode(text));
}

/** Returns whether the value of an entry cannot be read. */
export function isUnreadable({ value, versionstamp }: Deno.KvEntryMaybe<unknown>): boolean {
  return value === null && versionstamp !== null;
}

/** An entry whose value cannot be read. */
export interface UnreadableValue {
  key: Deno.KvKey;
  versionstamp: string;
  /** Why, as the end of a sentence. */
  reason: string;
}

/** Unreadable entries that a process reports. They take some hundred KB of memory. */
const MAX_REPORTED = 1000;

/** Receives the unreadable entries that readers meet, and reports each of them once. */
export class UnreadableEntries {
  report: (entry: UnreadableValue) => void = () => {};
  readonly #known = new Set<string>();

  note(key: Deno.KvKey, versionstamp: string, error: unknown): void {
    const id = JSON.stringify([key, versionstamp]);
    if (this.#known.has(id) || this.#known.size >= MAX_REPORTED) return;
    this.#known.add(id);
    this.report({
      key,
      versionstamp,
      reason: error instanceof Error ? error.message : String(error),
    });
  }
}

/** Returns reads of a Deno KV handle that return records. */
export function recordReader(kv: KvReader, unreadable: UnreadableEntries): KvReader {
  const opened = <T>(entry: Deno.KvEntryMaybe<unknown>): Deno.KvEntryMaybe<T> => {
    const { key, value, versionstamp } = entry;
    if (versionstamp === null) return entry as Deno.KvEntryMaybe<T>;
    try {
      return { key, value: openValue(key, value) as T, versionstamp };
    } catch (error) {
      unreadable.note(key, versionstamp, error);
      return { key, value: null as T, versionstamp };
    }
  };
  return {
    get: async <T>(key: Deno.KvKey) => opened<T>(await kv.get(key)),
    getMany: async (keys) => (await kv.getMany<unknown[]>(keys)).map(opened) as never,
    list: <T>(selector: Deno.KvListSelector, options: ListOptions = {}) =>
      listRecords<T>(kv, opened, selector, options),
  };
}

async function* listRecords<T>(
  kv: KvReader,
  opened: (entry: Deno.KvEntryMaybe<unknown>) => Deno.KvEntryMaybe<T>,
  selector: Deno.KvListSelector,
  { limit = Infinity, batchSize = 100, unreadable = false, ...options }: ListOptions,
): AsyncGenerator<Deno.KvEntry<T>> {
  // Unreadable entries do not count towards the limit.
  let left = limit;
  if (left <= 0) return;
  for await (
    const each of kv.list(selector, { ...options, batchSize: Math.min(batchSize, limit) })
  ) {
    const entry = opened(each) as Deno.KvEntry<T>;
    if (entry.value === null && !unreadable) continue;
    yield entry;
    if (--left === 0) return;
  }
}
