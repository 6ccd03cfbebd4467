import { assertEquals, fail } from "@std/assert";
import { join } from "@std/path/join";
import { HOUR } from "../../rules/units.ts";
import { openDatabase } from "../engine/database_file.ts";
import { keys } from "../engine/keys.ts";
import type { FileRecord } from "../engine/records.ts";
import { Store } from "../store.ts";
import { bytes, place } from "../testing/bodies.ts";
import { deleteEntry, setEntry } from "../testing/entries.ts";
import { putExpiring } from "../testing/files.ts";
import { addProject, type TestStore, withFolder } from "../testing/stores.ts";
import { repair } from "./problem.ts";
import { verifyStore } from "./verify.ts";

/** Runs a test on a store with a file `a` of 10 bytes that expires. */
async function withExpiring(
  test: (bench: TestStore, index: Deno.KvKey, path: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const db = await openDatabase(folder);
    const store = new Store(db, { onError: (error) => assertEquals(error, undefined) });
    try {
      await addProject(db);
      const { version, expires = 0 } = await putExpiring({ db, store }, "a", 10, HOUR);
      await test({ db, store }, keys.expiry(expires, version), join(folder, "kvdrive.db"));
    } finally {
      await store.close();
    }
  });
}

Deno.test("Files that expire are no problem, nor are those that have expired", async () => {
  await withExpiring(async (bench, _, path) => {
    await putExpiring(bench, "expired", 10, 1);
    assertEquals((await verifyStore(path)).problems, []);
  });
});

Deno.test("A file that the index of deadlines lacks is found and repaired", async () => {
  await withExpiring(async (bench, index, path) => {
    await deleteEntry(bench.db, index);
    const { problems } = await verifyStore(path);
    assertEquals(problems.map(({ kind }) => kind), ["index"]);
    assertEquals(
      problems[0]?.message,
      'The file "a" in drive "d" of project p expires, but would never be deleted',
    );
    assertEquals((await repair(bench.db, problems)).length, 1);
    assertEquals((await verifyStore(path)).problems, []);
    assertEquals((await bench.db.reader.get(index)).value, place("a"));
  });
});

Deno.test("Thumbnails and their copies are no problem, and a damaged one is listed", async () => {
  await withExpiring(async ({ db, store }, _, path) => {
    const always = { overwrite: true, condition: () => true };
    const put = (name: string, image: Uint8Array<ArrayBuffer>) =>
      store.files.thumbnails.put(place(name), image, always.condition);
    await put("a", bytes(100));
    await store.files.copies.run("copy", { from: place("a"), to: place("b"), ...always });
    await store.files.copies.run("copy", { from: place("b"), to: place("c"), ...always });
    await put("c", bytes(200));
    await store.projects.update("p", { trashDays: 7 });
    await store.files.delete(place("b"));
    assertEquals((await verifyStore(path)).problems, []);
    const { value } = await db.reader.get<FileRecord>(keys.file(place("c")));
    const thumbnail = value?.thumbnail;
    await deleteEntry(db, keys.content(thumbnail?.version ?? ""));
    assertEquals((await verifyStore(path)).problems.map(({ message }) => message), [
      'The file "c" in drive "d" of project p is damaged: of its thumbnail, its content is missing; ' +
      "restore it from a backup, or replace or delete it over the API",
    ]);
    await put("c", bytes(200));
    assertEquals((await verifyStore(path)).problems, []);
  });
});

Deno.test("A thumbnail that is shared without the mark is found and repaired", async () => {
  await withExpiring(async ({ db, store }, _, path) => {
    const always = { overwrite: true, condition: () => true };
    await store.files.thumbnails.put(place("a"), bytes(100), always.condition);
    await store.files.copies.run("copy", { from: place("a"), to: place("b"), ...always });
    const { key, value } = await db.reader.get<FileRecord>(keys.file(place("b")));
    const { shared: _shared, ...thumbnail } = value?.thumbnail ?? fail();
    await setEntry(db, key, { ...value, thumbnail });
    const { problems } = await verifyStore(path);
    assertEquals(problems.map(({ kind, name }) => [kind, name]), [["references", "b"]]);
    assertEquals((await repair(db, problems)).length, 1);
    assertEquals((await verifyStore(path)).problems, []);
  });
});
