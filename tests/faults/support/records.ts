import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";

/** The kinds of entries whose values are bytes of files and their checksums. All other bytes are records. */
const BYTES = new Set<unknown>(["chunk", "checksums", "content"]);

/** Bytes of the CRC-32 before the JSON of a record. */
const CRC_LENGTH = 4;

/**
 * Opens the store in a data folder. Reads return records and not the bytes that the store has of them. What is set is
 * stored as Deno KV stores it, which servers read as well.
 */
export async function openRecords(data: string): Promise<Deno.Kv> {
  const kv = await Deno.openKv(`${data}/kvdrive.db`);
  const { get, getMany, list } = kv;
  const opened = <T extends Deno.KvEntryMaybe<unknown>>(entry: T): T => (
    { ...entry, value: entry.versionstamp === null ? null : recordIn(entry.key, entry.value) }
  );
  return Object.assign(kv, {
    get: async (...args: Parameters<typeof get>) => opened(await get.apply(kv, args)),
    getMany: async (...args: Parameters<typeof getMany>) =>
      (await getMany.apply(kv, args)).map(opened),
    list: async function* (...args: Parameters<typeof list>) {
      for await (const entry of list.apply(kv, args)) yield opened(entry);
    },
  }) as unknown as Deno.Kv;
}

/** Returns the record in a value. @throws {Error} if its checksum is wrong. */
function recordIn(key: Deno.KvKey, value: unknown): unknown {
  if (!(value instanceof Uint8Array) || BYTES.has(key[0])) return value;
  const text = value.subarray(CRC_LENGTH);
  const { buffer, byteOffset } = value;
  if (new DataView(buffer, byteOffset).getUint32(0) !== crc32(text)) {
    throw new Error(`The checksum of ${JSON.stringify(key)} is wrong`);
  }
  return JSON.parse(new TextDecoder().decode(text));
}

/** Gives a store the number of a format. */
export async function setFormat(kv: Deno.Kv, format: number): Promise<void> {
  await kv.set(["format"], new Deno.KvU64(BigInt(format)));
}

/** Makes the record of a file unreadable, as a disk does. */
export function breakRecord(data: string, place: readonly string[]): void {
  const sqlite = new DatabaseSync(`${data}/kvdrive.db`);
  try {
    const key = ["file", ...place].map((part) => `\x02${part}\0`).join("");
    const update = sqlite.prepare("UPDATE kv SET v = x'ff' WHERE k = ?");
    assertEquals(update.run(new TextEncoder().encode(key)).changes, 1);
  } finally {
    sqlite.close();
  }
}
