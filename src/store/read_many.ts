import { MAX_GET_MANY } from "../drive/limits.ts";

/** The entries of any number of keys, in their order. */
export async function readMany<T>(
  kv: Deno.Kv,
  keys: readonly Deno.KvKey[],
): Promise<Deno.KvEntryMaybe<T>[]> {
  const found: Deno.KvEntryMaybe<T>[] = [];
  for (let i = 0; i < keys.length; i += MAX_GET_MANY) {
    found.push(...await kv.getMany<T[]>(keys.slice(i, i + MAX_GET_MANY)));
  }
  return found;
}
