import { join } from "@std/path";

/** An entry of the store. Of bytes only their number is kept. */
export interface Entry {
  key: Deno.KvKey;
  value: unknown;
}

/** All entries of a store, by the first word of their key. */
export type Entries = Map<string, Entry[]>;

/** What the server's record of a file says about bytes. */
export interface FileValue {
  version: string;
  size: number;
  sha256?: string;
  layout: {
    kind: "inline" | "chunks" | "manifest";
    version?: string;
    parts?: number;
  };
}
/** All entries of the store in a data folder that no server has open, by the first word of their key. */
export async function readEntries(data: string): Promise<Entries> {
  using kv = await Deno.openKv(join(data, "kvdrive.db"));
  const entries = new Map() as Entries;
  for await (const { key, value } of kv.list({ prefix: [] }, { batchSize: 100 })) {
    const kind = String(key[0]);
    const same = entries.get(kind) ?? [];
    same.push({ key, value: value instanceof Uint8Array ? value.byteLength : value });
    entries.set(kind, same);
  }
  return entries;
}

/** What lies behind the first word of a key, as one text. */
export function textOfKey(...parts: readonly Deno.KvKeyPart[]): string {
  return JSON.stringify(parts);
}

/** The same for the key of an entry, up to its part `end`. */
export function rest({ key }: Entry, end?: number): string {
  return textOfKey(...key.slice(1, end));
}

/** All entries of one kind. */
export function all(entries: Entries, kind: string): readonly Entry[] {
  return entries.get(kind) ?? [];
}
