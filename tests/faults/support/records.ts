import { assertEquals } from "@std/assert";
import { crc32 } from "node:zlib";
import { byteFileOf, recordFileOf, withSqlite } from "./store_files.ts";

/** The kinds of entries that have a file of their own. */
const IN_BYTE_FILE = new Set<unknown>(["chunk", "checksums"]);

/** The kinds of entries whose values are bytes of files and their checksums. All other bytes are records. */
const BYTES = new Set<unknown>([...IN_BYTE_FILE, "content"]);

/** Bytes of the CRC-32 before the JSON of a record. */
const CRC_LENGTH = 4;

/**
 * Opens the store in a data folder: the file of its records and that of its chunks as one. Reads return records and not
 * the bytes that the store has of them. What is set is stored as Deno KV stores it, which servers read as well. Atomic
 * operations are for records.
 */
export async function openRecords(data: string): Promise<Deno.Kv> {
  const kv = await Deno.openKv(recordFileOf(data));
  const bytePath = byteFileOf(data);
  const bytes = bytePath === undefined ? undefined : await Deno.openKv(bytePath);
  const fileOf = ([kind]: Deno.KvKey) => bytes !== undefined && IN_BYTE_FILE.has(kind) ? bytes : kv;
  const { get, getMany, list, set, delete: remove, close } = kv;
  const opened = <T extends Deno.KvEntryMaybe<unknown>>(entry: T): T => (
    { ...entry, value: entry.versionstamp === null ? null : recordIn(entry.key, entry.value) }
  );
  const closeAll = () => [kv, bytes].forEach((each) => each !== undefined && close.call(each));
  return Object.assign(kv, {
    get: async (...args: Parameters<typeof get>) => opened(await get.apply(fileOf(args[0]), args)),
    getMany: async (...args: Parameters<typeof getMany>) =>
      (await getMany.apply(kv, args)).map(opened),
    list: async function* (...args: Parameters<typeof list>) {
      const { prefix = [] } = args[0] as { prefix?: Deno.KvKey };
      const files = prefix.length > 0 || bytes === undefined ? [fileOf(prefix)] : [kv, bytes];
      for (const file of files) {
        for await (const entry of list.apply(file, args)) yield opened(entry);
      }
    },
    set: (...args: Parameters<typeof set>) => set.apply(fileOf(args[0]), args),
    delete: (key: Deno.KvKey) => remove.call(fileOf(key), key),
    close: closeAll,
    [Symbol.dispose]: closeAll,
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
  withSqlite(recordFileOf(data), (sqlite) => {
    const key = ["file", ...place].map((part) => `\x02${part}\0`).join("");
    const update = sqlite.prepare("UPDATE kv SET v = x'ff' WHERE k = ?");
    assertEquals(update.run(new TextEncoder().encode(key)).changes, 1);
  });
}
