import { assertEquals } from "@std/assert";
import { auditStore } from "./store_audit.ts";
import { sweepStore } from "./crash_sweep.ts";
import { readEntries } from "./store_entries.ts";

/**
 * Fails if anything in the store of a server that has ended speaks of a project, or of one drive of it, once all that
 * is due has been removed; or if anything else of the store is wrong then.
 */
export async function assertNoTraceOf(data: string, ...what: string[]): Promise<void> {
  await sweepStore(data);
  await auditStore(data, true);
  const found: string[] = [];
  for (const entries of (await readEntries(data)).values()) {
    for (const { key, value } of entries) {
      const text = Deno.inspect([key, value], { depth: 9, strAbbreviateSize: Infinity });
      if (what.every((one) => text.includes(JSON.stringify(one)))) found.push(text);
    }
  }
  assertEquals(found, [], `${found.length} entries speak of ${what.join(" and ")}`);
}
