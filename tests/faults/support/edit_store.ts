import { assert } from "@std/assert";
import { PROJECT_ID } from "../../support/server.ts";

export type Edit = (kv: Deno.Kv) => Promise<void>;

/** Changes entries of the store in a data folder without the server. */
export async function editStore(data: string, edit: Edit): Promise<void> {
  using kv = await Deno.openKv(`${data}/kvdrive.db`);
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

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the replacement of a value, or `undefined` to delete the entry. */
export type Damage = (bytes: Bytes) => Bytes | undefined;

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
  private constructor(private readonly kv: Deno.Kv, private readonly drive: string) {}

  static async open(data: string, drive: string): Promise<StoppedStore> {
    return new StoppedStore(await Deno.openKv(`${data}/kvdrive.db`), drive);
  }

  /** Damages a chunk of a file. A negative index counts from the last chunk. */
  async damageChunk(name: string, index: number, damage: Damage): Promise<void> {
    const prefix = ["chunk", PROJECT_ID, this.drive, name];
    const chunks = await Array.fromAsync(this.kv.list<Bytes>({ prefix }));
    await this.replace(chunks.at(index), damage);
  }

  /** Damages the last page of a file's checksums. */
  async damageChecksums(name: string, damage: Damage): Promise<void> {
    const prefix = ["checksums", PROJECT_ID, this.drive, name];
    const pages = await Array.fromAsync(this.kv.list<Bytes>({ prefix }));
    await this.replace(pages.at(-1), damage);
  }

  /** Damages the content of a file that is stored in one value. */
  async damageContent(name: string, damage: Damage): Promise<void> {
    const entry = await this.kv.get<Bytes>(["content", PROJECT_ID, this.drive, name]);
    await this.replace(entry.value === null ? undefined : entry, damage);
  }

  private async replace(entry: Deno.KvEntry<Bytes> | undefined, damage: Damage): Promise<void> {
    assert(entry !== undefined, "There is nothing to damage");
    const value = damage(entry.value);
    if (value === undefined) await this.kv.delete(entry.key);
    else await this.kv.set(entry.key, value);
  }

  [Symbol.dispose](): void {
    this.kv.close();
  }
}
