import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { MAX_HOST } from "../../rules/hosts.ts";
import {
  MAX_APP_NAME,
  MAX_DRIVE_NAME,
  MAX_FILE_NAME,
  MAX_KEY_NAME,
  MAX_PROJECT_ID,
} from "../../rules/names.ts";
import { newVersion } from "../bytes/versions.ts";
import { withKv } from "../testing/stores.ts";
import { encodedLength, type KeyRange, keys, prefixes, ranges } from "./keys.ts";
import type { Place } from "./records.ts";

const PLACE: Place = { project: "p", drive: "d", name: "a.txt" };

/** The longest names, of characters with the longest UTF-8 encoding. */
const LONGEST: Place = {
  project: "p".repeat(MAX_PROJECT_ID),
  drive: "😀".repeat(MAX_DRIVE_NAME / 4),
  name: "😀".repeat(MAX_FILE_NAME / 4),
};

async function listed(kv: Deno.Kv, selector: Deno.KvListSelector): Promise<Deno.KvKey[]> {
  const found: Deno.KvKey[] = [];
  for await (const { key } of kv.list(selector)) found.push(key);
  return found;
}

/** Stores keys in the wrong order and returns those in a range, in the order of the store. */
async function inRange(range: KeyRange, all: readonly Deno.KvKey[]): Promise<Deno.KvKey[]> {
  let found: Deno.KvKey[] = [];
  await withKv(async (kv) => {
    for (const key of all.toReversed()) await kv.set(key, 1);
    found = await listed(kv, range);
  });
  return found;
}

Deno.test("The encoded length of a key is exactly what Deno KV counts", async () => {
  const beginnings: Deno.KvKey[] = [
    ["a"],
    [""],
    ["", "", ""],
    ["\0"],
    ["\0\0a\0"],
    ["üñ€😀"],
    [0],
    [-1.5, Infinity, 2 ** 53],
    ["file", "p", "d", "a\0b", 7],
  ];
  await withKv(async (kv) => {
    for (const beginning of beginnings) {
      const padding = 2048 - encodedLength([...beginning, ""]);
      const fitting = [...beginning, "x".repeat(padding)];
      assertEquals(encodedLength(fitting), 2048);
      await kv.set(fitting, 1);
      await assertRejects(() => kv.set([...beginning, "x".repeat(padding + 1)], 1), TypeError);
    }
  });
});

Deno.test("Keys consist of strings and numbers only", () => {
  for (const part of [1n, true, new Uint8Array(1)]) {
    assertThrows(() => encodedLength(["a", part]), TypeError, "strings and numbers");
  }
});

Deno.test("Deno KV accepts the keys of the longest names", async () => {
  const { project, drive } = LONGEST;
  const version = newVersion();
  await withKv(async (kv) => {
    const all = [
      keys.file(LONGEST),
      keys.content(version),
      keys.chunk(version, 160),
      keys.checksums(version, 1),
      keys.references(version),
      keys.manifestPage(version, 2 ** 40),
      keys.upload(project, drive, version),
      keys.part(project, drive, version, 10_000),
      keys.partsRevision(project, drive, version),
      keys.usage(project, drive, "bytes"),
      keys.driveDeletion(project, drive),
      keys.appDeletion(project, "a".repeat(MAX_APP_NAME)),
      keys.appKeyName(project, "a".repeat(MAX_APP_NAME), "😀".repeat(MAX_KEY_NAME)),
      keys.appHost("h".repeat(MAX_HOST)),
    ];
    for (const key of all) await kv.set(key, 1);
    const range = ranges.named(["file", project, drive], LONGEST.name, LONGEST.name);
    assertEquals(await listed(kv, range), [keys.file(LONGEST)]);
  });
});

Deno.test("No two kinds of entries share a prefix", () => {
  const { project, drive } = PLACE;
  const all = [
    keys.file(PLACE),
    keys.content("v"),
    keys.chunk("v", 0),
    keys.checksums("v", 0),
    keys.manifestPage("v", 0),
    keys.references("v"),
    keys.upload(project, drive, "u"),
    keys.part(project, drive, "u", 1),
    keys.usage(project, drive, "files"),
    keys.partsRevision(project, drive, "u"),
    keys.projectUsage(project, "files"),
    keys.pending("v"),
    keys.lease("v"),
    keys.garbage(0, "g"),
    keys.project(project),
    keys.projectKey("h"),
    keys.projectKeyPrefix(project, "p"),
    keys.app(project, "a"),
    keys.appHost("h"),
    keys.appKey("h"),
    keys.appKeyName(project, "a", "n"),
    keys.appKeyPrefix(project, "a", "p"),
    keys.session("h"),
    keys.projectDeletion(project),
    keys.adminToken(),
  ];
  assertEquals(new Set(all.map(([kind]) => kind)).size, all.length);
});

Deno.test("Different places have different keys", () => {
  const places = [
    { project: "p", drive: "d", name: "a/b" },
    { project: "p", drive: "d", name: "a" },
    { project: "p", drive: "d/a", name: "b" },
    { project: "pd", drive: "", name: "a" },
    { project: "p", drive: "da", name: "" },
  ];
  const seen = places.map((place) => JSON.stringify(keys.file(place)));
  assertEquals(new Set(seen).size, places.length);
});

Deno.test("A prefix selects only its own entries", async () => {
  const cases = [
    [prefixes.all("usage", "p"), keys.usage("p", "d", "files"), keys.usage("pp", "d", "files")],
    [prefixes.all("project"), keys.project("p"), keys.projectKey("h")],
    [prefixes.all("lease"), keys.lease("v"), keys.pending("v")],
    [
      prefixes.all("part", "p", "d", "u"),
      keys.part("p", "d", "u", 1),
      keys.part("p", "d", "uu", 1),
    ],
    [
      prefixes.all("manifest", "v"),
      keys.manifestPage("v", 5),
      keys.manifestPage("vv", 5),
    ],
  ] as const;
  for (const [prefix, inside, outside] of cases) {
    await withKv(async (kv) => {
      await kv.set(inside, 1);
      await kv.set(outside, 1);
      assertEquals(await listed(kv, { prefix }), [inside]);
    });
  }
});

Deno.test("The files of a drive are listed by the bytes of their names, by prefix and from a start name", async () => {
  const names = ["a", "a/b", "a/\ufffd", "a/\u{1f600}", "a0", "b", "\ufffd", "\u{10ffff}"];
  const others = [
    keys.file({ project: "p", drive: "c", name: "a" }),
    keys.file({ project: "p", drive: "dd", name: "a" }),
    keys.file({ project: "q", drive: "d", name: "a" }),
    keys.content("v"),
  ];
  const all = [...names.map((name) => keys.file({ ...PLACE, name })), ...others];
  const cases = [
    ["", "", names],
    ["a/", "a/", names.slice(1, 4)],
    ["a/", "a/\ufffd", names.slice(2, 4)],
    ["", "a0", names.slice(4)],
    ["\u{10ffff}", "\u{10ffff}", names.slice(7)],
    ["a/c", "a/c", []],
  ] as const;
  for (const [prefix, from, wanted] of cases) {
    const found = await inRange(ranges.named(["file", "p", "d"], prefix, from), all);
    assertEquals(found.map((key) => String(key.at(-1))), [...wanted], prefix);
  }
});

Deno.test("A range of chunks is listed by number and excludes its end", async () => {
  const all = [0, 1, 2, 9, 10, 11, 100].map((index) => keys.chunk("v", index));
  const others = [keys.chunk("u", 1), keys.chunk("w", 1)];
  const found = await inRange(ranges.chunks("v", 2, 11), [...all, ...others]);
  assertEquals(found, all.slice(2, 5));
});

Deno.test("Garbage is listed by due time, and future garbage is not listed", async () => {
  const all = [0, 999, 1_000, 1_001, 1e12].map((due) => keys.garbage(due, "g"));
  assertEquals(await inRange(ranges.garbageDue(1_000), all), all.slice(0, 3));
});

Deno.test("The uploads of one drive are listed from a start id", async () => {
  const all = ["1", "2", "3"].map((id) => keys.upload("p", "d", id));
  const others = [keys.upload("p", "dd", "2"), keys.upload("p", "c", "2")];
  assertEquals(await inRange(ranges.uploads("p", "d", "2"), [...all, ...others]), all.slice(1));
  assertEquals(await inRange(ranges.uploads("p", "d", ""), [...all, ...others]), all);
});

Deno.test("The pages of a manifest are found before a byte and from a byte on", async () => {
  const pages = [0, 500, 2 ** 40].map((start) => keys.manifestPage("v", start));
  const others = [keys.manifestPage("u", 1), keys.manifestPage("w", 1)];
  const all = [...pages, ...others];
  assertEquals(await inRange(ranges.manifestFrom("v", 500), all), pages.slice(1));
  assertEquals(await inRange(ranges.manifestTo("v", 499), all), pages.slice(0, 1));
  assertEquals(await inRange(ranges.manifestTo("v", 500), all), pages.slice(0, 2));
  assert((await inRange(ranges.manifestTo("v", 2 ** 50), all)).length === 3);
});

Deno.test("One list finds all deletions, and a project's prefix only its own", async () => {
  const own = [keys.driveDeletion("p", "app"), keys.appDeletion("p", "drive")];
  const others = [
    keys.projectDeletion("p"),
    keys.driveDeletion("pp", "d"),
    keys.projectDeletion("o"),
  ];
  await withKv(async (kv) => {
    for (const key of [...own, ...others]) await kv.set(key, 1);
    assertEquals((await listed(kv, { prefix: prefixes.all("removal") })).length, 5);
    assertEquals(new Set(await listed(kv, { prefix: prefixes.all("removal", "p") })), new Set(own));
  });
  assertEquals(new Set(own.map((key) => JSON.stringify(key))).size, 2);
});
