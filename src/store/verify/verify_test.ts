import { assertEquals } from "@std/assert";
import { keys } from "../engine/keys.ts";
import { place } from "../testing/bodies.ts";
import { KINDS } from "./verify.ts";

/** Builds a key, whose first part does not depend on the parameters. */
type BuildKey = (...parts: unknown[]) => Deno.KvKey;

Deno.test("verify knows the entries of every key, also those of shared stores", () => {
  const builders = Object.values(keys) as unknown as BuildKey[];
  const kinds = new Set(builders.map((build) => String(build(place("a"))[0])));
  assertEquals([...KINDS].sort(), [...kinds].sort());
});
