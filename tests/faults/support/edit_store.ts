import { assert } from "@std/assert";

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
