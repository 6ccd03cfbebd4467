import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path/join";
import { HOUR } from "../../rules/units.ts";
import { openDatabase } from "../engine/database_file.ts";
import { keys } from "../engine/keys.ts";
import type { FileRecord } from "../engine/records.ts";
import { Store } from "../store.ts";
import { place } from "../testing/bodies.ts";
import { deleteEntry, setEntry } from "../testing/entries.ts";
import { putExpiring } from "../testing/expiry.ts";
import { recordOf } from "../testing/files.ts";
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

const DAMAGES: Record<string, {
  damage: (bench: TestStore, index: Deno.KvKey) => Promise<void>;
  message: RegExp;
}> = {
  "A file that the index lacks": {
    damage: ({ db }, index) => deleteEntry(db, index),
    message: /^The file "a" in drive "d" of project p expires, but would never be deleted$/,
  },
  "An entry of the index without a file": {
    damage: ({ db }) =>
      setEntry(db, keys.expiry(5, "01J9Z3NDEKTSV4RRFFQ69G5FAV"), { ...place("none"), size: 1 }),
    message: /^The index of files .* "none" in drive "d" of project p that does not expire then$/,
  },
  "An entry of the index with a wrong size": {
    damage: ({ db }, index) => setEntry(db, index, { ...place("a"), size: 11 }),
    message: /^The index of files .* "a" in drive "d" of project p with a wrong size$/,
  },
  "An entry of the index for a file that does not expire": {
    damage: async (bench) => {
      const { expires: _, ...record } = await recordOf(bench, "a");
      await setEntry(bench.db, keys.file(place("a")), record satisfies FileRecord);
    },
    message: /^The index of files .* "a" in drive "d" of project p that does not expire then$/,
  },
};

for (const [what, { damage, message }] of Object.entries(DAMAGES)) {
  Deno.test(`${what} is found and repaired`, async () => {
    await withExpiring(async (bench, index, path) => {
      await damage(bench, index);
      const { problems } = await verifyStore(path);
      assertEquals(problems.map(({ kind }) => kind), ["index"]);
      assertMatch(problems[0]?.message ?? "", message);
      assertEquals((await repair(bench.db, problems)).length, 1);
      assertEquals((await verifyStore(path)).problems, []);
      const { expires } = await recordOf(bench, "a");
      const entry = await bench.db.reader.get(index);
      assertEquals(entry.value, expires === undefined ? null : { ...place("a"), size: 10 });
    });
  });
}
