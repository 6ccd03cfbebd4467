import { assert, assertEquals } from "@std/assert";
import { compareNames } from "../../rules/names.ts";
import { bytes } from "../testing/bodies.ts";
import { countReads } from "../testing/entries.ts";
import { putAt } from "../testing/files.ts";
import { testOnAll, type TestStore } from "../testing/stores.ts";
import type { DriveQuery } from "./drives.ts";

const ALL: DriveQuery = { project: "p", prefix: "", last: "", limit: 1000, among: undefined };

const NAMES = ["a", "a b", "ab", "b", "\u{ffff}", "\u{1f600}", "über"].sort(compareNames);

async function names({ store }: TestStore, query: Partial<DriveQuery> = {}): Promise<string[]> {
  return (await store.listDrives({ ...ALL, ...query })).drives.map(({ name }) => name);
}

async function fill(bench: TestStore): Promise<void> {
  for (const drive of NAMES) await putAt(bench, { project: "p", drive, name: "f" }, bytes(3));
}

testOnAll("Drives are listed page by page, with prefix and usage", async (bench) => {
  await fill(bench);
  const { drives, more } = await bench.store.listDrives(ALL);
  assertEquals([drives.map(({ name }) => name), more], [NAMES, false]);
  assertEquals(drives.map(({ files, bytes }) => [files, bytes]), NAMES.map(() => [1, 3]));
  for (const limit of [1, 2, 6, 7, 8]) {
    const found: string[] = [];
    for (let last = "";;) {
      const page = await bench.store.listDrives({ ...ALL, limit, last });
      assert(page.drives.length <= limit);
      found.push(...page.drives.map(({ name }) => name));
      last = found.at(-1) ?? "";
      if (!page.more) break;
    }
    assertEquals(found, NAMES);
  }
  assertEquals(await names(bench, { prefix: "a" }), ["a", "a b", "ab"]);
  assertEquals(await names(bench, { prefix: "a", last: "a" }), ["a b", "ab"]);
  assertEquals(await names(bench, { last: "a!" }), NAMES.filter((name) => name > "a!"));
  for (const query of [{ prefix: "zz" }, { last: "\u{10ffff}" }, { prefix: "a", last: "b" }]) {
    assertEquals(await names(bench, query), []);
  }
});

testOnAll("Texts that no drive can be named by are no error", async (bench) => {
  await fill(bench);
  for (const text of ["a\0b", "x".repeat(5000), "\u{1f600}".repeat(3000), "a\0".repeat(2000)]) {
    assertEquals(await names(bench, { prefix: text }), []);
    const after = NAMES.filter((name) => compareNames(name, text) > 0);
    assertEquals(await names(bench, { last: text }), after);
  }
});

testOnAll("Of some drives, those that exist are listed", async (bench) => {
  await fill(bench);
  const among = ["b", "none", "a", "ab"];
  assertEquals(await names(bench, { among }), ["a", "ab", "b"]);
  assertEquals(await names(bench, { among, prefix: "a", last: "a" }), ["ab"]);
  const { more } = await bench.store.listDrives({ ...ALL, among, limit: 2 });
  assertEquals(more, true);
  assertEquals(await names(bench, { project: "unknown" }), []);
});

testOnAll("A page costs the same however many drives there are", async (bench) => {
  for (let i = 0; i < 300; i++) await bench.store.projects.createDrive("p", `drive ${i}`);
  const cost = await countReads(bench, async () => {
    assertEquals((await names(bench, { limit: 3, last: "drive 200" })).length, 3);
  });
  assert(cost <= 2, `${cost} reads`);
});
