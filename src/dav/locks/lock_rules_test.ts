import { assertEquals } from "@std/assert";
import type { LockRecord } from "../../store/engine/records.ts";
import { conflicting, covers, missingFor, withoutBelow } from "./lock_rules.ts";

function lock(name: string, options: Partial<LockRecord> = {}): LockRecord {
  const token = `token of ${name}`;
  return {
    token,
    name,
    scope: "exclusive",
    isDeep: false,
    by: "me",
    expires: 0,
    lifetime: 0,
    ...options,
  };
}

const deep = { isDeep: true };
const shared = { scope: "shared" } as const;

Deno.test("A lock covers its name, and with depth everything below a folder", () => {
  assertEquals(covers(lock("a/"), "a/"), true);
  assertEquals(covers(lock("a/"), "a/b"), false);
  assertEquals(covers(lock("a/", deep), "a/b/c"), true);
  assertEquals(covers(lock("a/", deep), "ab"), false);
  assertEquals(covers(lock("a", deep), "ab"), false);
  assertEquals(covers(lock("", deep), "a/b"), true);
});

Deno.test("Locks conflict if they cover each other and one is exclusive", () => {
  const conflict = (one: LockRecord, other: LockRecord) => conflicting([one], other) !== undefined;
  assertEquals(conflict(lock("a"), lock("a")), true);
  assertEquals(conflict(lock("a", shared), lock("a")), true);
  assertEquals(conflict(lock("a", shared), lock("a", shared)), false);
  assertEquals(conflict(lock("f/", deep), lock("f/a")), true);
  assertEquals(conflict(lock("f/a"), lock("f/", deep)), true);
  assertEquals(conflict(lock("f/"), lock("f/a")), false);
  assertEquals(conflict(lock("f/a"), lock("f/b")), false);
});

const holder = (...tokens: string[]) => ({ by: "me", tokens: new Set(tokens) });
const names = (locks: readonly LockRecord[]) => locks.map(({ name }) => name);
const change = { name: "f/a", changesFolder: false, isDeep: false };

Deno.test("A change needs a token for each name that it changes", () => {
  const all = [lock("f/"), lock("f/a"), lock("g")];
  assertEquals(names(missingFor(all, change, holder())), ["f/a"]);
  assertEquals(missingFor(all, change, holder("token of f/a")), []);
  const removal = { ...change, changesFolder: true };
  assertEquals(names(missingFor(all, removal, holder("token of f/a"))), ["f/"]);
  const tree = { name: "f/", changesFolder: true, isDeep: true };
  assertEquals(names(missingFor(all, tree, holder())), ["f/", "f/a"]);
  assertEquals(missingFor(all, tree, holder("token of f/", "token of f/a")), []);
});

Deno.test("Of several shared locks one token suffices, if its own key sends it", () => {
  const all = [lock("f/a", { ...shared, by: "other" }), lock("f/a", { ...shared, token: "mine" })];
  assertEquals(missingFor(all, change, holder("mine")), []);
  assertEquals(missingFor(all, change, holder("token of f/a")).length, 2);
});

Deno.test("The locks below a name end with it", () => {
  const all = [lock("f/"), lock("f/a"), lock("fa"), lock("f")];
  assertEquals(names(withoutBelow(all, "f/")), ["fa", "f"]);
  assertEquals(names(withoutBelow(all, "f")), ["f/", "f/a", "fa"]);
});
