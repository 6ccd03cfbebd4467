import { assert } from "@std/assert";
import { PROJECT_ID } from "../../support/server.ts";

export type Edit = (kv: Deno.Kv) => Promise<void>;

/** Changes entries of the store in a data folder behind the server's back. */
export async function editStore(data: string, edit: Edit): Promise<void> {
  using kv = await Deno.openKv(`${data}/kvdrive.db`);
  await edit(kv);
}

/** The entry of this key, or else the first one whose key begins with it. */
export async function firstOf<T>(kv: Deno.Kv, ...prefix: string[]): Promise<Deno.KvEntry<T>> {
  const exact = await kv.get<T>(prefix);
  if (exact.versionstamp !== null) return exact;
  for await (const entry of kv.list<T>({ prefix }, { limit: 1 })) return entry;
  throw new Error(`There is no entry ${prefix.join()}`);
}

/** Deletes the first entry whose key begins with these parts. */
export async function deleteFirst(kv: Deno.Kv, ...prefix: string[]): Promise<void> {
  await kv.delete((await firstOf(kv, ...prefix)).key);
}

/** Puts another value in the place of the first entry whose key begins with these parts. */
export async function changeFirst<T>(
  kv: Deno.Kv,
  prefix: string[],
  change: (value: T) => T,
): Promise<void> {
  const { key, value } = await firstOf<T>(kv, ...prefix);
  await kv.set(key, change(value));
}

/** How many entries there are whose keys begin with these parts. */
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

/** Gives what is to stand in the place of a value; nothing where the value is to go. */
export type Damage = (bytes: Bytes) => Bytes | undefined;

export function removed(): undefined {
  return undefined;
}

export function shortened(bytes: Bytes): Bytes {
  return bytes.slice(0, -1);
}

/** As many bytes as before, of which one is another. */
export function altered(bytes: Bytes): Bytes {
  return bytes.map((byte, i) => i === 0 ? byte ^ 1 : byte);
}

/** The store of a server that has stopped. */
export class StoppedStore implements Disposable {
  private constructor(private readonly kv: Deno.Kv, private readonly drive: string) {}

  static async open(data: string, drive: string): Promise<StoppedStore> {
    return new StoppedStore(await Deno.openKv(`${data}/kvdrive.db`), drive);
  }

  /** Damages one of the chunks of a file; a negative index counts from the last one. */
  async damageChunk(name: string, index: number, damage: Damage): Promise<void> {
    const prefix = ["chunk", PROJECT_ID, this.drive, name];
    const chunks = await Array.fromAsync(this.kv.list<Bytes>({ prefix }));
    await this.replace(chunks.at(index), damage);
  }

  /** Damages the last page of the checksums of a file. */
  async damageChecksums(name: string, damage: Damage): Promise<void> {
    const prefix = ["checksums", PROJECT_ID, this.drive, name];
    const pages = await Array.fromAsync(this.kv.list<Bytes>({ prefix }));
    await this.replace(pages.at(-1), damage);
  }

  /** Damages all bytes of a file that lies in one value. */
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
