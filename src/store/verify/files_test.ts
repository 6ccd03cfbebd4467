import { assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { HOUR } from "../../rules/units.ts";
import { openDatabase } from "../engine/database_file.ts";
import { keys } from "../engine/keys.ts";
import { Store } from "../store.ts";
import { place } from "../testing/bodies.ts";
import { deleteEntry } from "../testing/entries.ts";
import { putExpiring } from "../testing/expiry.ts";
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
