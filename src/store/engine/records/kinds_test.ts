import { assertEquals } from "@std/assert";
import { keys } from "../keys.ts";
import { KINDS } from "./kinds.ts";

/** Builds a key. Its first part, the kind of the entry, does not depend on the other parts. */
type BuildKey = (...parts: unknown[]) => Deno.KvKey;

Deno.test("The kinds of all keys are in the table, and no others", () => {
  const anyPlace = { project: "", drive: "", name: "" };
  const built = (Object.values(keys) as unknown as BuildKey[]).map((build) => build(anyPlace));
  // The figures of all projects together have a kind of their own.
  const kinds = [...built, keys.dailyUsage(undefined, 0)].map(([kind]) => String(kind));
  assertEquals([...new Set(kinds)].sort(), Object.keys(KINDS).sort());
});
