import { assertEquals } from "@std/assert";
import { BYTE_KINDS } from "../keys.ts";
import { KINDS } from "./kinds.ts";

Deno.test("Every key has a kind, also those of shared stores and of all projects together", () => {
  const known = ["commit", "daily_usage", "file", "lease", "server_daily_usage", ...BYTE_KINDS];
  assertEquals(known.filter((kind) => !KINDS.has(kind)), []);
  assertEquals([...KINDS].filter((kind) => !/^[a-z][a-z0-9_]*$/.test(kind)), []);
});
