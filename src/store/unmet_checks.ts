import { identityOf } from "./keys.ts";
import type { Operation } from "./operation.ts";
import { readMany } from "./read_many.ts";

/** Those of the operations that could not happen now, because an entry is not what they demand. */
export async function unmetAmong(
  kv: Deno.Kv,
  operations: readonly Operation[],
): Promise<Set<Operation>> {
  const demanded = new Map<string, Deno.KvKey>();
  for (const operation of operations) {
    for (const { key } of operation.checks()) demanded.set(identityOf(key), key);
  }
  const found = new Map<string, string | null>();
  for (const { key, versionstamp } of await readMany(kv, [...demanded.values()])) {
    found.set(identityOf(key), versionstamp);
  }
  const isMet = (operation: Operation) =>
    operation.checks().every(({ key, versionstamp }) =>
      found.get(identityOf(key)) === versionstamp
    );
  return new Set(operations.filter((operation) => !isMet(operation)));
}
