import { assertEquals } from "@std/assert";
import { MIN_PART } from "../../rules/payloads.ts";
import { DAY } from "../../rules/units.ts";
import { prefixes } from "../engine/keys.ts";
import type { FileRecord } from "../engine/records.ts";
import { isPresent } from "../files/file_record.ts";
import { ANYWAY, bytes, DRIVE, inPieces, place } from "../testing/bodies.ts";
import {
  allChanges,
  changesOf,
  cursorOf,
  replayed,
  textsOf,
  withFeed,
} from "../testing/changes.ts";
import { put, upload } from "../testing/files.ts";
import { sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";

const always = { overwrite: true, condition: () => true };

/** Returns the version of each file of a drive. */
async function versionsOf({ db }: TestStore, drive = DRIVE.drive): Promise<Map<string, string>> {
  const files = db.reader.list<FileRecord>({
    prefix: prefixes.all("file", DRIVE.project, drive),
  });
  const now = Date.now();
  const versions = new Map<string, string>();
  for await (const { key, value } of files) {
    if (isPresent(value, now)) versions.set(String(key.at(-1)), value.version);
  }
  return versions;
}

interface Case {
  prepare?: (bench: TestStore) => Promise<unknown>;
  change: (bench: TestStore) => Promise<unknown>;
  expected: string[];
  /** What the drive `other` is told. */
  other?: string[];
}

const withFile = (bench: TestStore) => put(bench, "a", bytes(10));

async function trashed(bench: TestStore): Promise<string> {
  const page = { limit: 10, last: "", prefix: "" };
  return (await bench.store.trash.list(DRIVE, page)).items[0]?.id ?? "";
}

async function withTrashedFile(bench: TestStore): Promise<void> {
  await bench.store.projects.update("p", { trashDays: 7 });
  await withFile(bench);
  await bench.store.files.delete(place("a"));
}

/** Every operation of the store that changes a name. */
const OPERATIONS: Record<string, Case> = {
  "a put": { change: withFile, expected: ["put a"] },
  "a put of a large file": {
    change: (bench) => put(bench, "a", bytes(200_000)),
    expected: ["put a"],
  },
  "an overwrite": { prepare: withFile, change: withFile, expected: ["put a"] },
  "a refused put": {
    prepare: withFile,
    change: ({ store }) =>
      store.files.put(place("a"), inPieces(bytes(1)), { ...ANYWAY, condition: () => false }),
    expected: [],
  },
  "a completed upload": {
    change: async (bench) => {
      const id = await upload(bench, place("a"), [MIN_PART, 10]);
      await bench.store.uploads.complete(place("a"), id, () => true);
      await bench.store.uploads.complete(place("a"), id, () => true);
    },
    expected: ["put a"],
  },
  "a deletion": {
    prepare: withFile,
    change: async ({ store }) => {
      await store.files.delete(place("a"));
      await store.files.delete(place("a"));
    },
    expected: ["delete a"],
  },
  "a copy": {
    prepare: withFile,
    change: ({ store }) =>
      store.files.copies.run("copy", { from: place("a"), to: place("b"), ...always }),
    expected: ["put b"],
  },
  "a move": {
    prepare: async (bench) => {
      await withFile(bench);
      await put(bench, "b", bytes(2));
    },
    change: ({ store }) =>
      store.files.copies.run("move", { from: place("a"), to: place("b"), ...always }),
    expected: ["move a -> b"],
  },
  "a move to another drive": {
    prepare: withFile,
    change: ({ store }) => {
      const to = { ...place("b"), drive: "other" };
      return store.files.copies.run("move", { from: place("a"), to, ...always });
    },
    expected: ["delete a"],
    other: ["put b"],
  },
  "another content type": {
    prepare: withFile,
    change: ({ store }) => store.changeFile(place("a"), { type: "c/d" }, () => true),
    expected: ["put a"],
  },
  "another deadline": {
    prepare: withFile,
    change: ({ store }) => store.changeFile(place("a"), { lifetime: DAY }, () => true),
    expected: [],
  },
  "a copy onto itself with another description": {
    prepare: withFile,
    change: ({ store }) =>
      store.files.copies.run("copy", {
        from: place("a"),
        to: place("a"),
        replace: { type: "c/d" },
        ...always,
      }),
    expected: ["put a"],
  },
  "a deletion into the trash": {
    prepare: async (bench) => {
      await bench.store.projects.update("p", { trashDays: 7 });
      await withFile(bench);
    },
    change: ({ store }) => store.files.delete(place("a")),
    expected: ["delete a"],
  },
  "a restored file": {
    prepare: withTrashedFile,
    change: async (bench) =>
      await bench.store.trash.restore(DRIVE, await trashed(bench), { overwrite: false }),
    expected: ["put a"],
  },
  "a deletion from the trash": {
    prepare: withTrashedFile,
    change: async (bench) => await bench.store.trash.delete(DRIVE, await trashed(bench)),
    expected: [],
  },
  "the deletion of the drive": {
    prepare: async (bench) => {
      for (let i = 0; i < 3; i++) await put(bench, `${i}`, bytes(i));
    },
    change: async (bench) => {
      await bench.store.projects.deleteDrive("p", DRIVE.drive);
      await sweepLater(bench);
    },
    expected: ["delete 0", "delete 1", "delete 2"],
  },
  "a folder": {
    change: ({ store }) => store.folders.create(place("folder/")),
    expected: [],
  },
};

for (const [name, { prepare, change, expected, other = [] }] of Object.entries(OPERATIONS)) {
  testOnAll(`The feed has what ${name} changes`, async (bench) => {
    await withFeed(bench);
    await prepare?.(bench);
    const since = await cursorOf(bench);
    const before = await versionsOf(bench);
    await change(bench);
    const changes = await allChanges(bench, { since });
    assertEquals(textsOf(changes), expected);
    assertEquals(await changesOf(bench, { drive: "other" }), other);
    assertEquals(replayed(changes, before), await versionsOf(bench));
    assertEquals(replayed(await allChanges(bench)), await versionsOf(bench));
  });
}
