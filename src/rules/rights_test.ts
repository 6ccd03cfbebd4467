import { assertEquals, assertThrows } from "@std/assert";
import { areKeyLimits, type KeyLimits, PERMISSIONS, RightMissing, Rights } from "./rights.ts";

function rights(limits: KeyLimits): Rights {
  return new Rights(limits);
}

Deno.test("a key without limits may do everything", () => {
  const { all } = Rights;
  all.require(...PERMISSIONS);
  all.requireDrive("any");
  all.requireName("");
  all.requireAllNames();
  all.requireWholeProject();
  all.requireToCreate(all);
  assertEquals([all.isForWholeProject, all.isOwners, all.visiblePrefix("a")], [true, true, "a"]);
});

Deno.test("permissions are in the order of the list, and unknown ones give nothing", () => {
  const stored = ["list", "everything", "read", "list"] as unknown as KeyLimits["permissions"];
  assertEquals(rights({ permissions: stored ?? [] }).permissions, ["read", "list"]);
  assertEquals(rights({ permissions: [] }).permissions, []);
});

Deno.test("a refusal names what is missing", () => {
  const key = rights({ permissions: ["list"], drives: ["d"], namePrefix: "in/" });
  const cases: [() => void, string][] = [
    [() => key.require("list", "read"), 'does not have the permission "read": send'],
    [() => key.require("write", "delete"), 'does not have the permissions "write" and "delete"'],
    [() => key.requireDrive('e"'), 'is not for the drive "e\\""'],
    [() => key.requireName("out"), 'only for names that begin with "in/"'],
    [() => key.requireAllNames(), 'only for names that begin with "in/"'],
    [() => key.requireWholeProject(), "limited to some drives or names"],
  ];
  for (const [check, sentence] of cases) assertThrows(check, RightMissing, sentence);
  key.require("list");
  key.requireDrive("d");
  key.requireName("in/a");
});

Deno.test("drives and names are compared as they are, byte for byte", () => {
  const key = rights({ drives: ["Photos", "é"], namePrefix: "Aé/" });
  for (const drive of ["photos", "Photos ", "e\u0301", "", "__proto__", "length", "0"]) {
    assertEquals(key.allowsDrive(drive), false, drive);
  }
  for (const name of ["aé/x", "A", "Ae\u0301/x", "/Aé/x", "Aé", "", "./Aé/x"]) {
    assertEquals(key.allowsName(name), false, name);
  }
  assertEquals([key.allowsName("Aé/"), key.allowsName("Aé/../x")], [true, true]);
});

Deno.test("a prefix is a beginning of names, not a folder", () => {
  const key = rights({ namePrefix: "a" });
  assertEquals(["a", "ab", "a/b", "b"].map((name) => key.allowsName(name)), [
    true,
    true,
    true,
    false,
  ]);
});

Deno.test("a listing has the longer of two prefixes, if one begins with the other", () => {
  const key = rights({ namePrefix: "a/b" });
  const cases: [string, string | undefined][] = [
    ["", "a/b"],
    ["a", "a/b"],
    ["a/b", "a/b"],
    ["a/bc", "a/bc"],
    ["a/c", undefined],
    ["b", undefined],
    ["A", undefined],
    ["a/b\0", "a/b\0"],
    ["\0", undefined],
  ];
  for (const [asked, shown] of cases) assertEquals(key.visiblePrefix(asked), shown, asked);
});

Deno.test("a key creates keys with the same rights or fewer", () => {
  const own: KeyLimits = {
    permissions: ["read", "list", "admin"],
    drives: ["a", "b"],
    namePrefix: "in/",
    expires: 1000,
  };
  const key = rights(own);
  const allowed: KeyLimits[] = [
    own,
    { ...own, permissions: ["list"] },
    { ...own, drives: ["b"], namePrefix: "in/x", expires: 999 },
  ];
  for (const limits of allowed) key.requireToCreate(rights(limits));
  const { permissions: _, ...allPermissions } = own;
  const { drives: _d, ...allDrives } = own;
  const { namePrefix: _n, ...allNames } = own;
  const { expires: _e, ...forever } = own;
  const refused: [KeyLimits, string][] = [
    [{ ...own, permissions: ["read", "write"] }, 'the permission "write"'],
    [allPermissions, 'the permissions "write" and "delete"'],
    [{ ...own, drives: ["a", "c"] }, "more drives"],
    [allDrives, "more drives"],
    [{ ...own, namePrefix: "in" }, 'begins with "in/"'],
    [{ ...own, namePrefix: "out/" }, "more names"],
    [allNames, "more names"],
    [{ ...own, expires: 1001 }, "expires later"],
    [forever, "expires later"],
  ];
  for (const [limits, sentence] of refused) {
    assertThrows(() => key.requireToCreate(rights(limits)), RightMissing, sentence);
  }
});

Deno.test("only a key of the owner has admin and no limits of drives and names", () => {
  assertEquals(rights({ permissions: ["admin"] }).isOwners, true);
  assertEquals(rights({ expires: 5 }).isOwners, true);
  const others: KeyLimits[] = [
    { permissions: ["read", "write", "delete", "list"] },
    { drives: ["d"] },
    { namePrefix: "a" },
  ];
  for (const limits of others) assertEquals(rights(limits).isOwners, false);
});

Deno.test("a key covers the drives and names of another", () => {
  const [a, ab] = [rights({ drives: ["a"] }), rights({ drives: ["a", "b"] })];
  assertEquals([ab.coversScope(a), a.coversScope(ab), a.coversScope(Rights.all)], [
    true,
    false,
    false,
  ]);
  const [short, long] = [rights({ namePrefix: "x" }), rights({ namePrefix: "xy" })];
  assertEquals([short.coversScope(long), long.coversScope(short)], [true, false]);
  assertEquals(Rights.all.coversScope(rights({ drives: ["a"], namePrefix: "x" })), true);
});

Deno.test("damaged limits are found", () => {
  const right: KeyLimits[] = [{}, { permissions: ["read"], drives: ["d"], namePrefix: "a" }];
  for (const limits of right) assertEquals(areKeyLimits(limits), true);
  const wrong = [
    { permissions: [] },
    { permissions: ["everything"] },
    { permissions: "read" },
    { permissions: null },
    { drives: [] },
    { drives: "d" },
    { drives: [1] },
    { namePrefix: "" },
    { namePrefix: 1 },
    { expires: NaN },
    { expires: "soon" },
  ];
  for (const limits of wrong) {
    assertEquals(areKeyLimits(limits as KeyLimits), false, JSON.stringify(limits));
  }
});
