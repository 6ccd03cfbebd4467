import { assertEquals } from "@std/assert";
import type { Permission } from "../core/session.ts";
import { rightsText } from "./rights.tsx";

Deno.test("The rights of a key are said in words", () => {
  const all: Permission[] = ["read", "write", "delete", "list", "admin"];
  const key = { permissions: all, drives: null, name_prefix: null };
  assertEquals(rightsText(key), "Everything");
  assertEquals(rightsText({ ...key, permissions: ["list", "read"] }), "Read, list");
  assertEquals(
    rightsText({ permissions: ["write"], drives: ["a", "b"], name_prefix: "in/" }),
    "Write in a, b: names that begin with “in/”",
  );
});
