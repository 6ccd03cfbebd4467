import { openRecords } from "../records.ts";

/** An entry of the store. A binary value is replaced by its length. */
export interface Entry {
  key: Deno.KvKey;
  value: unknown;
}

/** All entries of a store, by the first part of their key. */
export type Entries = Map<string, Entry[]>;

/** How bytes are stored. */
export interface StoredValue {
  size: number;
  layout: {
    kind: "inline" | "chunks" | "manifest";
    parts?: number;
  };
}

/** The fields of a file's record that the audits need. */
export interface FileValue extends StoredValue {
  version: string;
  sha256?: string;
  /** The version of the bytes, if they are not those of the record's own. */
  bytes?: string;
  shared?: boolean;
  /** What S3 callers keep with it. */
  object?: Record<string, Record<string, string>>;
  /** A small picture, which is stored in one value. */
  thumbnail?: { version: string; size: number; shared?: boolean };
  /** What WebDAV callers keep with it. */
  properties?: Record<string, string>;
  /** When it expires, in milliseconds since 1970. */
  expires?: number;
}

/** Returns the version that the bytes of a file lie under. */
export function bytesVersion({ bytes, version }: FileValue): string {
  return bytes ?? version;
}

/** Returns the version in the key of an entry that holds or lists bytes. */
export function versionOf({ key }: Entry): string {
  return String(key[1]);
}

/** Reads all entries of the store in a data folder. No server may have it open. */
export async function readEntries(data: string): Promise<Entries> {
  using kv = await openRecords(data);
  const entries = new Map() as Entries;
  for await (const { key, value } of kv.list({ prefix: [] }, { batchSize: 100 })) {
    const kind = String(key[0]);
    const same = entries.get(kind) ?? [];
    same.push({ key, value: value instanceof Uint8Array ? value.byteLength : value });
    entries.set(kind, same);
  }
  return entries;
}

/** Returns parts of a key as one text. */
export function textOfKey(...parts: readonly Deno.KvKeyPart[]): string {
  return JSON.stringify(parts);
}

/** Returns an entry's key from its second part up to `end` (excluded) as one text. */
export function rest({ key }: Entry, end?: number): string {
  return textOfKey(...key.slice(1, end));
}

/** Returns all entries of one kind. */
export function all(entries: Entries, kind: string): readonly Entry[] {
  return entries.get(kind) ?? [];
}
