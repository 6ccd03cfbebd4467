import { assertEquals, assertRejects } from "@std/assert";
import type { Database } from "../engine/database.ts";
import { formatOf, setFormat } from "../engine/format.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { ANYWAY, bytes, inPieces } from "../testing/bodies.ts";
import { assertSums, dataWith, deleteEntry, setEntry } from "../testing/entries.ts";
import { upload } from "../testing/files.ts";
import { addProject, testOnAll, type TestStore } from "../testing/stores.ts";
import { projectSums } from "./format_steps.ts";
import { convertFormat } from "./upgrade.ts";

/** 9 bytes. */
const OBJECT = { user: { colour: "red" } };

async function fill({ store, db }: TestStore): Promise<void> {
  await addProject(db, "q");
  await store.projects.update("p", { trashDays: 3, maxBytes: 10_000 });
  for (const project of ["p", "q"]) {
    for (let drive = 0; drive < 4; drive++) {
      for (let i = 0; i < 3; i++) {
        const place = { project, drive: `${drive}`, name: `${i}` };
        const options = drive % 2 === 0 ? ANYWAY : { ...ANYWAY, object: OBJECT };
        await store.files.put(place, inPieces(bytes(10 * i)), options);
        if (i === 2) await store.files.delete(place);
      }
      const place = { project, drive: `${drive}`, name: "open" };
      await upload({ store, db }, place, [100, 7]);
    }
  }
}

/** Gives the store the counters of format 1. */
async function downgrade({ db }: TestStore): Promise<void> {
  for await (const { key } of db.reader.list({ prefix: prefixes.all("project_usage") })) {
    await deleteEntry(db, key);
  }
  const counters = new Operation();
  for (const project of ["p", "q"]) {
    for (const drive of ["1", "3"]) {
      const trash = project === "p" ? 1 : 0;
      counters.sum(keys.usage(project, drive, "bytes"), -2 * 9);
      if (trash > 0) counters.sum(keys.usage(project, drive, "trash_bytes"), -9);
    }
  }
  await db.commit(counters);
  await setEntry(db, ["quota", "p"], { bytes: 7 });
  for (let i = 0; i < 150; i++) {
    await setEntry(db, ["open_upload", "p", i], { drive: "0", id: "x" });
  }
  await db.commit(setFormat(new Operation(), 1));
}

/** Makes every commit after the first few fail. */
function failAfter(db: Database, commits: number): () => void {
  const { commit } = db;
  let count = 0;
  db.commit = (...args) => {
    if (++count > commits) throw new Error("interrupted");
    return commit.apply(db, args);
  };
  return () => void (db.commit = commit);
}

testOnAll(
  "An interrupted step to format 2 is repeated, and counts everything once",
  async (bench) => {
    await fill(bench);
    const right = await bench.store.usage();
    const [p] = right;
    assertEquals(
      [p?.files, p?.bytes, p?.trashFiles, p?.trashBytes, p?.openBytes, p?.openUploads],
      [8, 40 + 4 * 9, 4, 80 + 2 * 9, 428, 4],
    );
    for (const commits of [0, 1, 3, 5, 9, 14, 20, 100]) {
      await downgrade(bench);
      const restore = failAfter(bench.db, commits);
      const convert = () => convertFormat(bench.db, () => {}, [projectSums]);
      await assertRejects(convert, Error, "interrupted");
      restore();
      assertEquals(await formatOf(bench.db), 1);
      await convert();
      assertEquals(await formatOf(bench.db), 2);
      assertEquals(await bench.store.usage(), right);
      await assertSums(bench);
      for (const kind of ["quota", "open_upload"]) {
        assertEquals(await dataWith(bench, `[ "${kind}"`), []);
      }
    }
  },
);
