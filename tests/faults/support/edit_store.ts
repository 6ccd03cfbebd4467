import { assert } from "@std/assert";
import { PROJECT_ID } from "../../support/server.ts";
import { breakRecord, openRecords } from "./records.ts";
import { recordFileOf, withSqlite } from "./store_files.ts";

export type Edit = (kv: Deno.Kv) => Promise<void>;

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the replacement of a value, or `undefined` to delete the entry. */
export type Damage = (bytes: Bytes) => Bytes | undefined;

/** Changes entries of the store in a data folder without the server. */
export async function editStore(data: string, edit: Edit): Promise<void> {
  using kv = await openRecords(data);
  await edit(kv);
}

/** Returns the entry with a key, or else the first entry whose key starts with it. */
export async function firstOf<T>(kv: Deno.Kv, ...prefix: string[]): Promise<Deno.KvEntry<T>> {
  const exact = await kv.get<T>(prefix);
  if (exact.versionstamp !== null) return exact;
  for await (const entry of kv.list<T>({ prefix }, { limit: 1 })) return entry;
  throw new Error(`There is no entry ${prefix.join()}`);
}

/** Deletes the first entry whose key starts with a prefix. */
export async function deleteFirst(kv: Deno.Kv, ...prefix: string[]): Promise<void> {
  await kv.delete((await firstOf(kv, ...prefix)).key);
}

/** Changes the value of the first entry whose key starts with a prefix. */
export async function changeFirst<T>(
  kv: Deno.Kv,
  prefix: string[],
  change: (value: T) => T,
): Promise<void> {
  const { key, value } = await firstOf<T>(kv, ...prefix);
  await kv.set(key, change(value));
}

/** Where a file is: its project, drive and name. */
export type Place = readonly [project: string, drive: string, name: string];

/** The kinds of entries that a file's bytes consist of. */
export type BytesKind = "content" | "chunk" | "checksums";

/** The version that the bytes of a file lie under. Of a file in parts, they are those of the list of its parts. */
export async function bytesVersion(kv: Deno.Kv, place: Place): Promise<string> {
  return versionOf((await firstOf<FileValue>(kv, "file", ...place)).value);
}

/** The versions with the bytes of a file or of an open upload: one, or that of each of its parts. */
export async function bytesVersions(kv: Deno.Kv, place: Place): Promise<string[]> {
  const { value } = await kv.get<FileValue>(["file", ...place]);
  if (value === null) return await openVersions(kv, place);
  const version = versionOf(value);
  if (value.layout.kind !== "manifest") return [version];
  const pages = kv.list<{ versions: string[] }>({ prefix: ["manifest", version] });
  return (await Array.fromAsync(pages)).flatMap((page) => page.value.versions);
}

/** The versions of the parts of the open uploads of a name. */
async function openVersions(kv: Deno.Kv, [project, drive, name]: Place): Promise<string[]> {
  const versions: string[] = [];
  for await (const { key, value } of kv.list<FileName>({ prefix: ["upload", project, drive] })) {
    if (value.name !== name) continue;
    const parts = kv.list<{ version: string }>({ prefix: ["part", ...key.slice(1)] });
    for await (const part of parts) versions.push(part.value.version);
  }
  return versions;
}

interface FileName {
  name: string;
}

interface FileValue {
  version: string;
  bytes?: string;
  layout: { kind: string };
}

function versionOf({ version, bytes }: FileValue): string {
  return bytes ?? version;
}

/** Returns the entries with the bytes of a file or of an open upload, in their order. */
export async function bytesOf(
  kv: Deno.Kv,
  kind: BytesKind,
  place: Place,
): Promise<Deno.KvEntry<Bytes>[]> {
  const found: Deno.KvEntry<Bytes>[] = [];
  for (const version of await bytesVersions(kv, place)) {
    const exact = await kv.get<Bytes>([kind, version]);
    if (exact.versionstamp !== null) found.push(exact);
    found.push(...await Array.fromAsync(kv.list<Bytes>({ prefix: [kind, version] })));
  }
  return found;
}

/** Damages the first entry with bytes of a file or of an open upload. */
export async function damageBytes(
  kv: Deno.Kv,
  kind: BytesKind,
  place: Place,
  damage: Damage,
): Promise<void> {
  await replace(kv, (await bytesOf(kv, kind, place))[0], damage);
}

async function replace(
  kv: Deno.Kv,
  entry: Deno.KvEntry<Bytes> | undefined,
  damage: Damage,
): Promise<void> {
  assert(entry !== undefined, "There is nothing to damage");
  const value = damage(entry.value);
  if (value === undefined) await kv.delete(entry.key);
  else await kv.set(entry.key, value);
}

/** Returns the number of entries whose keys start with a prefix. */
export async function countOf(data: string, ...prefix: string[]): Promise<number> {
  let count = 0;
  await editStore(data, async (kv) => {
    for await (const { key } of kv.list({ prefix })) {
      assert(key.length > 0);
      count++;
    }
  });
  return count;
}

export function removed(): undefined {
  return undefined;
}

export function shortened(bytes: Bytes): Bytes {
  return bytes.slice(0, -1);
}

/** Changes one byte and keeps the length. */
export function altered(bytes: Bytes): Bytes {
  return bytes.map((byte, i) => i === 0 ? byte ^ 1 : byte);
}

/** The store of a stopped server. */
export class StoppedStore implements Disposable {
  private constructor(
    private readonly kv: Deno.Kv,
    private readonly data: string,
    private readonly drive: string,
  ) {}

  static async open(data: string, drive: string): Promise<StoppedStore> {
    return new StoppedStore(await openRecords(data), data, drive);
  }

  /** Makes the record of a file unreadable. */
  breakRecord(name: string): void {
    breakRecord(this.data, [PROJECT_ID, this.drive, name]);
  }

  /** Makes the counters of the drive shorter than a counter is, as one flipped bit does. */
  breakCounters(): void {
    withSqlite(recordFileOf(this.data), (sqlite) => {
      const key = new TextEncoder().encode(`\x02usage\0\x02${PROJECT_ID}\0\x02${this.drive}\0`);
      const update = sqlite.prepare("UPDATE kv SET v = substr(v, 1, 4) WHERE substr(k, 1, ?) = ?");
      assert(update.run(key.length, key).changes > 0);
    });
  }

  /** Damages a chunk of a file. A negative index counts from the last chunk. */
  async damageChunk(name: string, index: number, damage: Damage): Promise<void> {
    await this.damage("chunk", name, index, damage);
  }

  /** Damages the last page of a file's checksums. */
  async damageChecksums(name: string, damage: Damage): Promise<void> {
    await this.damage("checksums", name, -1, damage);
  }

  /** Damages the content of a file that is stored in one value. */
  async damageContent(name: string, damage: Damage): Promise<void> {
    await this.damage("content", name, 0, damage);
  }

  private async damage(
    kind: BytesKind,
    name: string,
    index: number,
    damage: Damage,
  ): Promise<void> {
    const entries = await bytesOf(this.kv, kind, [PROJECT_ID, this.drive, name]);
    await replace(this.kv, entries.at(index), damage);
  }

  [Symbol.dispose](): void {
    this.kv.close();
  }
}
