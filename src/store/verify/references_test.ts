import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path/join";
import { openDatabase } from "../engine/database_file.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { bytesVersion, CHUNK_SIZE, type FileRecord } from "../engine/records.ts";
import { Store } from "../store.ts";
import { bytes, place } from "../testing/bodies.ts";
import { deleteEntry, setEntry } from "../testing/entries.ts";
import { copy, put, read, recordOf } from "../testing/files.ts";
import { addProject, sweepLater, type TestStore, withFolder } from "../testing/stores.ts";
import { repair } from "./problem.ts";
import { verifyStore } from "./verify.ts";

const SIZES = { small: 100, large: 2 * CHUNK_SIZE, single: 10 };

/** Runs a test on a store whose files `small` and `large` have a copy each, and `single` has none. */
async function withCopies(test: (bench: TestStore, path: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const db = await openDatabase(folder);
    const store = new Store(db, { onError: (error) => assertEquals(error, undefined) });
    try {
      await addProject(db);
      const bench = { db, store };
      for (const [name, size] of Object.entries(SIZES)) await put(bench, name, bytes(size));
      for (const name of ["small", "large"]) await copy(bench, name, `${name} copy`);
      await test(bench, join(folder, "kvdrive.db"));
    } finally {
      await store.close();
    }
  });
}

/** The messages about a store. */
async function messagesOn(path: string): Promise<string[]> {
  return (await verifyStore(path)).problems.map(({ kind, message }) => `${kind}: ${message}`);
}

async function referencesOf(bench: TestStore, name: string): Promise<Deno.KvKey> {
  return keys.references(bytesVersion(await recordOf(bench, name)));
}

/** Removes the mark of a file that shares its bytes. */
async function unmark(bench: TestStore, name: string): Promise<void> {
  const { shared: _, ...record } = await recordOf(bench, name);
  await setEntry(bench.db, keys.file(place(name)), record satisfies FileRecord);
}

Deno.test("Copies are no problem, nor are those that were deleted or replaced", async () => {
  await withCopies(async (bench, path) => {
    assertEquals(await messagesOn(path), []);
    await bench.store.files.delete(place("large"));
    await put(bench, "small copy", bytes(5));
    assertEquals(await messagesOn(path), []);
    await sweepLater(bench);
    assertEquals(await messagesOn(path), []);
    await bench.store.files.delete(place("large copy"));
    await bench.store.files.delete(place("small"));
    for (let i = 0; i < 2; i++) {
      assertEquals(await messagesOn(path), []);
      await sweepLater(bench);
    }
    assertEquals(await messagesOn(path), []);
  });
});

/** Damages, and the one message about each. */
const WRONGS: Record<string, { edit: (bench: TestStore) => Promise<unknown>; says: RegExp }> = {
  "a count that is too high": {
    edit: async (bench) =>
      await bench.db.commit(new Operation().sum(await referencesOf(bench, "large"), 3)),
    says:
      /^references: The bytes of version \w+ are counted as used 5 times, but 2 files use them$/,
  },
  "a count that is too low": {
    edit: async (bench) =>
      await bench.db.commit(new Operation().sum(await referencesOf(bench, "small"), -1)),
    says:
      /^references: The bytes of version \w+ are counted as used 1 times, but 2 files use them$/,
  },
  "a missing count": {
    edit: async (bench) => await deleteEntry(bench.db, await referencesOf(bench, "large")),
    says:
      /^references: The bytes of version \w+ are counted as used 0 times, but 2 files use them$/,
  },
  "a count that is no number": {
    edit: async (bench) => await setEntry(bench.db, await referencesOf(bench, "large"), "two"),
    says: /^references: The bytes of version \w+ have an invalid count, but 2 files use them$/,
  },
  "a count of bytes that nothing uses": {
    edit: async (bench) => await bench.db.commit(new Operation().sum(keys.references("01A"), 2)),
    says: /^references: There is a count of the files that share version 01A, but none does$/,
  },
  "a count of bytes that one file owns alone": {
    edit: async (bench) =>
      await bench.db.commit(new Operation().sum(await referencesOf(bench, "single"), 1)),
    says: /^references: There is a count of the files that share version \w+, but none does$/,
  },
  "a file that shares its bytes without the mark": {
    edit: async (bench) => await unmark(bench, "large"),
    says: /^references: The file "large" .* shares its bytes with another, but is not marked so$/,
  },
};

for (const [what, { edit, says }] of Object.entries(WRONGS)) {
  Deno.test(`${what} is found and repaired`, async () => {
    await withCopies(async (bench, path) => {
      await edit(bench);
      const messages = await messagesOn(path);
      assertEquals(messages.length, 1, messages.join("\n"));
      assertMatch(messages[0] ?? "", says);
      const { problems } = await verifyStore(path);
      assertEquals((await repair(bench.db, problems)).length, 1);
      assertEquals(await messagesOn(path), []);
      // The repaired store deletes the bytes with their last user.
      for (const name of ["small", "large"]) {
        await bench.store.files.delete(place(name));
        await sweepLater(bench);
        assertEquals(await read(bench, `${name} copy`), bytes(SIZES[name as keyof typeof SIZES]));
      }
      for (const name of ["small copy", "large copy", "single"]) {
        assert(await bench.store.files.delete(place(name)));
      }
      await sweepLater(bench);
      await sweepLater(bench);
      for (const kind of ["references", "content", "chunk", "checksums", "garbage"]) {
        const left = await Array.fromAsync(bench.db.reader.list({ prefix: [kind] }));
        assertEquals(left.map(({ key }) => key), []);
      }
    });
  });
}

Deno.test("A repair does not undo what has happened since the check", async () => {
  await withCopies(async (bench, path) => {
    await bench.db.commit(new Operation().sum(await referencesOf(bench, "large"), 3));
    const { problems } = await verifyStore(path);
    await copy(bench, "large", "third");
    assertEquals(await repair(bench.db, problems), []);
    const again = await verifyStore(path);
    assertEquals((await repair(bench.db, again.problems)).length, 1);
    assertEquals(await messagesOn(path), []);
  });
});
