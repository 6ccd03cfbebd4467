import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { HOT_FILES_BYTES } from "../drive/limits.ts";
import { ChangeProbe } from "./change_probe.ts";
import { type Database, databasePath, openDatabase } from "./database.ts";
import { type HotFile, HotFiles } from "./hot_files.ts";
import { Operation } from "./operation.ts";
import { Store } from "./store.ts";
import { type Bench, bytes, DRIVE, place, put, read } from "./test_support.ts";

/** A file in memory, of so many bytes. */
function hot(size: number): HotFile {
  const layout = { kind: "inline" } as const;
  const record = { version: "1", size, type: "text/plain", created: 0, modified: 0, layout };
  return { record, content: new Uint8Array(size) };
}

/** A folder that two processes could have opened: two databases on one file. */
async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function benchOn(db: Database): Bench {
  return { db, store: new Store(db, { onError: () => {} }) };
}

Deno.test("The state is another one after each commit, of whichever connection, and the same without", async () => {
  await inFolder(async (folder) => {
    const here = await openDatabase(folder);
    const there = await openDatabase(folder);
    using probe = new ChangeProbe(databasePath(folder));
    const states = [probe.state()];
    for (const database of [here, there, here]) {
      assertEquals(await probe.soon(), states.at(-1));
      await database.commit(new Operation().set(["a"], states.length));
      states.push(probe.state());
    }
    assertEquals(new Set(states).size, 4);
    await here.reader.get(["a"]);
    assertEquals(await probe.soon(), states.at(-1));
    await there.close();
    await here.close();
  });
});

Deno.test("Who asks before a commit gets an answer that knows of it", async () => {
  await inFolder(async (folder) => {
    const database = await openDatabase(folder);
    using probe = new ChangeProbe(databasePath(folder));
    const before = await probe.soon();
    const [, after] = await Promise.all([
      database.commit(new Operation().set(["a"], 1)),
      probe.soon(),
    ]);
    assert(after === before || after === probe.state());
    assertNotEquals(await probe.soon(), before);
    await database.close();
  });
});

Deno.test("A small file that was read before is read as it is now, whoever changed it", async () => {
  await inFolder(async (folder) => {
    const database = await openDatabase(folder);
    const here = benchOn(database);
    const there = benchOn(await openDatabase(folder));
    await here.store.projects.create(DRIVE.project, undefined);
    for (const [round, writer] of [here, there, here, there].entries()) {
      await put(writer, "a", bytes(100, round));
      for (const reader of [here, there, here, there]) {
        assertEquals(await read(reader, "a"), bytes(100, round));
      }
    }
    await there.store.files.delete(place("a"));
    assertEquals(await read(here, "a"), undefined);
    await there.store.close();
    await here.store.close();
  });
});

Deno.test("A small file that nobody changes is read from the store once", async () => {
  await inFolder(async (folder) => {
    const database = await openDatabase(folder);
    const bench = benchOn(database);
    await bench.store.projects.create(DRIVE.project, undefined);
    await put(bench, "a", bytes(100));
    await read(bench, "a");
    const get = database.reads.get;
    database.reads.get = () => Promise.reject(new Error("The store was read"));
    assertEquals(await read(bench, "a"), bytes(100));
    database.reads.get = get;
    await put(bench, "a", bytes(100, 1));
    assertEquals(await read(bench, "a"), bytes(100, 1));
    await bench.store.close();
  });
});

Deno.test("A file that was read before a change is not kept after it", async () => {
  await inFolder(async (folder) => {
    const database = await openDatabase(folder);
    const files = new HotFiles(database.changes);
    const state = await files.state();
    await database.commit(new Operation().set(["a"], 1));
    files.keep("a", hot(1), state);
    assertEquals(files.get("a"), undefined);
    files.keep("a", hot(1), await files.state());
    assertEquals(files.get("a"), hot(1));
    await database.close();
  });
});

Deno.test("What is kept has a limit, and without a file nothing is kept", async () => {
  await inFolder(async (folder) => {
    const database = await openDatabase(folder);
    const files = new HotFiles(database.changes);
    const size = 64 * 1024;
    const count = Math.ceil(HOT_FILES_BYTES / size);
    for (let i = 0; i < count; i++) files.keep(`${i}`, hot(size), await files.state());
    assertEquals(files.get("0"), undefined);
    assert(files.get(`${count - 1}`) !== undefined);
    const none = new HotFiles(undefined);
    none.keep("a", hot(1), await none.state());
    assertEquals(none.get("a"), undefined);
    await database.close();
  });
});
