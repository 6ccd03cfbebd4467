import { MAX_GET_MANY } from "../drive/limits.ts";
import { identityOf } from "./keys.ts";
import type { Operation } from "./operation.ts";

/** Those of the operations that could not happen now, because an entry is not what they demand. */
export async function unmetAmong(
  kv: Deno.Kv,
  operations: readonly Operation[],
): Promise<Set<Operation>> {
  const demanded = new Map<string, Deno.KvKey>();
  for (const operation of operations) {
    for (const { key } of operation.checks()) demanded.set(identityOf(key), key);
  }
  const found = await versionstampsOf(kv, [...demanded.values()]);
  const isMet = (operation: Operation) =>
    operation.checks().every(({ key, versionstamp }) =>
      found.get(identityOf(key)) === versionstamp
    );
  return new Set(operations.filter((operation) => !isMet(operation)));
}

async function versionstampsOf(
  kv: Deno.Kv,
  wanted: readonly Deno.KvKey[],
): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>();
  for (let i = 0; i < wanted.length; i += MAX_GET_MANY) {
    const entries = await kv.getMany(wanted.slice(i, i + MAX_GET_MANY));
    for (const { key, versionstamp } of entries) found.set(identityOf(key), versionstamp);
  }
  return found;
}
