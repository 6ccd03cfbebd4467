import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { Database } from "../engine/database.ts";
import { withSqlite } from "../disk/sqlite.ts";
import { openDatabase } from "../engine/database_file.ts";
import { databasePath } from "../disk/store_files.ts";
import { CannotOpenStore } from "../engine/errors.ts";
import { FORMAT, formatOf, setFormat } from "../engine/format.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { deleteEntry } from "../testing/entries.ts";
import { testOnAll, withFolder } from "../testing/stores.ts";
import { verifyBackup, verifyStore } from "../verify/verify.ts";
import { type Conversion, FORMAT_STEPS, type FormatStep } from "./format_steps.ts";
import { convertFormat } from "./upgrade.ts";

const NEWER = FORMAT + 1;

/** A step that copies each entry of one kind to another. */
function copyStep(from: number, before: () => Promise<void> | void = () => {}): FormatStep {
  const convert = async ({ reader, commit }: Conversion) => {
    for await (const { key, value } of reader.list({ prefix: [`kind${from}`] })) {
      await before();
      await commit(new Operation().set([`kind${from + 1}`, ...key.slice(1)], value));
    }
  };
  return { from, to: from + 1, description: `copies ${from}`, convert };
}

async function addEntries(db: Database, kind: string): Promise<void> {
  for (const name of ["a", "b", "c"]) await db.commit(new Operation().set([kind, name], name));
}

async function countKind(db: Database, kind: string): Promise<number> {
  return (await Array.fromAsync(db.reader.list({ prefix: [kind] }))).length;
}

Deno.test("The steps lead from the first format to the present one", () => {
  let format = 1;
  for (const step of FORMAT_STEPS) {
    assertEquals(step.from, format);
    format = step.to;
  }
  assertEquals(format, FORMAT);
});

Deno.test("A new store has the present format, and an old one without a number the first", async () => {
  await withFolder(async (folder) => {
    const db = await openDatabase(folder);
    assertEquals((await db.reader.get<Deno.KvU64>(keys.format())).value?.value, BigInt(FORMAT));
    await deleteEntry(db, keys.format());
    await addEntries(db, "kind1");
    assertEquals(await formatOf(db), 1);
    await db.close();
  });
});

testOnAll(
  "A conversion runs all steps, and again from where it was interrupted",
  async ({ db }) => {
    await addEntries(db, "kind1");
    await db.commit(setFormat(new Operation(), 1));
    let entries = 0;
    const interrupted = copyStep(2, () => {
      if (++entries >= 2) throw new Error("interrupted");
    });
    const notices: string[] = [];
    const onNotice = (text: string) => void notices.push(text);
    await assertRejects(
      () => convertFormat(db, onNotice, [copyStep(1), interrupted]),
      "interrupted",
    );
    assertEquals([await formatOf(db), await countKind(db, "kind3")], [2, 1]);
    await convertFormat(db, onNotice, [copyStep(1), copyStep(2)]);
    assertEquals([await formatOf(db), await countKind(db, "kind3")], [3, 3]);
    assertMatch(notices[0] ?? "", /^The store has format 1 .*restore a backup/);
    assertEquals(notices.filter((text) => /^Format \d: copies \d$/.test(text)).length, 3);
  },
);

testOnAll(
  "A process whose step another one has finished changes nothing any more",
  async ({ db }) => {
    await addEntries(db, "kind1");
    await db.commit(setFormat(new Operation(), 1));
    const quick = () => convertFormat(db, () => {}, [copyStep(1)]);
    // The other process finishes, and its server deletes what the step has made.
    let isFirst = true;
    const slow = copyStep(1, async () => {
      if (!isFirst) return;
      isFirst = false;
      await quick();
      for (const name of ["a", "b", "c"]) await deleteEntry(db, ["kind2", name]);
    });
    await convertFormat(db, () => {}, [slow]);
    assertEquals([await formatOf(db), await countKind(db, "kind2")], [2, 0]);
  },
);

Deno.test("A store of a newer format is refused and stays as it is", async () => {
  await withFolder(async (folder) => {
    const db = await openDatabase(folder);
    await db.commit(setFormat(new Operation(), NEWER));
    await db.close();
    const path = databasePath(folder);
    const entries = () =>
      withSqlite(path, (sqlite) => sqlite.prepare("SELECT k, v, version FROM kv").all());
    const before = entries();
    const convert = () => Promise.reject(new Error("It was converted"));
    const error = await assertRejects(
      () => openDatabase(folder, "direct", convert),
      CannotOpenStore,
    );
    assertMatch(
      error.message,
      new RegExp(`it has format ${NEWER}, which a newer version of kvdrive made`),
    );
    for (const check of [() => verifyStore(path), () => verifyBackup(path, () => {})]) {
      await assertRejects(check, Error, `it has format ${NEWER}`);
    }
    assertEquals(entries(), before);
  });
});

Deno.test("A number that no version writes is refused", async () => {
  await withFolder(async (folder) => {
    const db = await openDatabase(folder);
    await db.commit(setFormat(new Operation(), 2 ** 40));
    await db.close();
    await assertRejects(() => openDatabase(folder), CannotOpenStore, "it has format 1099511627776");
  });
});
