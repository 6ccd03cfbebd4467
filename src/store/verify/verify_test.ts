import { assertEquals } from "@std/assert";
import { keys } from "../engine/keys.ts";
import { place } from "../testing/bodies.ts";
import { KINDS } from "./verify.ts";

/** Builds a key, whose first part does not depend on the parameters. */
type BuildKey = (...parts: unknown[]) => Deno.KvKey;

Deno.test("verify knows the entries of every key, also those of shared stores", () => {
  const builders = Object.values(keys) as unknown as BuildKey[];
  // One key has another first part where a parameter is missing.
  const built = [...builders.map((build) => build(place("a"))), keys.dailyUsage(undefined, 1)];
  const kinds = new Set(built.map(([kind]) => String(kind)));
  assertEquals([...KINDS].sort(), [...kinds].sort());
});
