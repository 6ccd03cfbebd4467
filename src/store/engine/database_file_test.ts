import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { encodeHex } from "@std/encoding/hex";
import { join } from "@std/path/join";
import { runInWorker, withSqlite } from "../disk/sqlite.ts";
import type { OpenTask } from "../testing/open_worker.ts";
import { withFolder } from "../testing/stores.ts";
import { openDatabase } from "./database_file.ts";
import { openFolderWarning } from "../disk/store_files.ts";
import { CannotOpenStore, StoreUnavailable } from "./errors.ts";
import { keys } from "./keys.ts";
import { Operation } from "./operation.ts";

const RECORD_FILE = "kvdrive.db";
const BYTE_FILE = /^kvdrive-bytes-[0-9a-f]{8}\.db$/;

/** Returns the names of the files in a folder. */
async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
}

/** Returns the name of the file with the chunks in a folder, of which there is one. */
async function byteFileIn(folder: string): Promise<string> {
  const [name = "", ...others] = (await namesIn(folder)).filter((name) => BYTE_FILE.test(name));
  assertEquals([BYTE_FILE.test(name), others], [true, []]);
  return name;
}

/** Returns the files in a folder and what is in them: of the records the entries, as Deno KV changes the header. */
async function contentOf(folder: string): Promise<unknown[]> {
  const entries = withSqlite(
    join(folder, RECORD_FILE),
    (sqlite) => sqlite.prepare("SELECT * FROM kv").all(),
  );
  const names = await namesIn(folder);
  const files = names.map(async (name) => {
    if (name === RECORD_FILE) return [name, entries];
    const bytes = await Deno.readFile(join(folder, name));
    return [name, encodeHex(await crypto.subtle.digest("SHA-256", bytes))];
  });
  return await Promise.all(files);
}

/** Asserts that a store is refused with a sentence, and that nothing in its folder changes. */
async function assertRefused(folder: string, reason: RegExp): Promise<void> {
  const before = await contentOf(folder);
  for (const reads of ["direct", "mapped"] as const) {
    const error = await assertRejects(() => openDatabase(folder, reads), CannotOpenStore);
    assertMatch(error.message, /^Cannot open the store in /);
    assertMatch(error.message, reason);
    assertEquals(await contentOf(folder), before);
  }
}

/** Makes a store with an entry in each file, and returns the name of the second one. */
async function makeStore(folder: string): Promise<string> {
  const db = await openDatabase(folder);
  await db.commit(new Operation().set(["file", "p", "d", "a"], "kept"));
  await db.commitBytes(new Operation().set(keys.chunk("v", 0), new Uint8Array(9)));
  await db.close();
  return await byteFileIn(folder);
}

/** Changes the records of a store, past all rules. */
async function changeRecords(folder: string, operation: Operation): Promise<void> {
  const db = await openDatabase(folder);
  await db.commit(operation);
  await db.close();
}

Deno.test("A new store has two files that can return space to the disk, in a private folder", async () => {
  await withFolder(async (parent) => {
    const folder = join(parent, "deep", "data");
    const db = await openDatabase(folder);
    await db.close();
    const name = await byteFileIn(folder);
    for (const [file, size] of [[RECORD_FILE, 4096], [name, 16_384]] as const) {
      withSqlite(join(folder, file), (sqlite) => {
        const get = (pragma: string) => sqlite.prepare(`PRAGMA ${pragma}`).get()?.[pragma];
        assertEquals([get("auto_vacuum"), get("page_size")], [2, size], file);
      });
    }
    const { mode } = await Deno.stat(folder);
    if (mode !== null) assertEquals(mode & 0o777, 0o700);
  });
});

Deno.test("The store's files are made private, also in an open folder and after a change of their modes", async () => {
  if (Deno.build.os === "windows") return;
  await withFolder(async (folder) => {
    await Deno.chmod(folder, 0o755);
    const db = await openDatabase(folder);
    const names = [RECORD_FILE, await byteFileIn(folder)]
      .flatMap((name) => [name, `${name}-shm`, `${name}-wal`]);
    const modes = () => names.map((name) => (Deno.statSync(join(folder, name)).mode ?? 0) & 0o777);
    const all = names.map(() => 0o600);
    assertEquals(modes(), all);
    for (const name of names) await Deno.chmod(join(folder, name), 0o644);
    const again = await openDatabase(folder);
    assertEquals(modes(), all);
    assertMatch(await openFolderWarning(folder) ?? "", /mode 755.*chmod 700/);
    await Deno.chmod(folder, 0o700);
    assertEquals(await openFolderWarning(folder), undefined);
    await again.close();
    await db.close();
  });
});

Deno.test("A committed entry exists after the store is opened again", async () => {
  await withFolder(async (folder) => {
    const first = await openDatabase(folder);
    await first.commit(new Operation().set(["file", "p", "d", "a"], "kept"));
    await first.close();
    const second = await openDatabase(folder);
    assertEquals((await second.reader.get(["file", "p", "d", "a"])).value, "kept");
    await second.close();
  });
});

for (const which of ["records", "chunks"] as const) {
  Deno.test(`A log of ${which} without its file is kept, and the store opens with the file put back`, async () => {
    await withFolder(async (folder) => {
      const live = join(folder, "live");
      const db = await openDatabase(live);
      await db.commit(new Operation().set(["file", "p", "d", "a"], "kept"));
      await db.commitBytes(new Operation().set(keys.chunk("v", 0), new Uint8Array(9)));
      // What a server leaves that is killed.
      const copy = join(folder, "copy");
      await Deno.mkdir(copy);
      for (const name of await namesIn(live)) {
        if (name.endsWith("-shm")) continue;
        await Deno.copyFile(join(live, name), join(copy, name));
      }
      await db.close();
      const name = which === "records" ? RECORD_FILE : await byteFileIn(copy);
      const path = join(copy, name);
      await Deno.rename(path, join(folder, "away"));
      const refusal = new RegExp(
        `${name}-wal has the last writes of a store, but .*${name} is missing or empty; put the file back`,
      );
      const refuses = async () => {
        const error = await assertRejects(() => openDatabase(copy), CannotOpenStore);
        assertMatch(error.message, refusal);
      };
      await refuses();
      await Deno.writeFile(path, new Uint8Array());
      await refuses();
      await Deno.rename(join(folder, "away"), path);
      const again = await openDatabase(copy);
      assertEquals((await again.reader.get(["file", "p", "d", "a"])).value, "kept");
      assertEquals((await again.bytes.reader.get(keys.chunk("v", 0))).value, new Uint8Array(9));
      await again.close();
    });
  });
}

Deno.test("A store that is closed while a thread reads from it leaves no logs", async () => {
  await withFolder(async (folder) => {
    for (let round = 0; round < 5; round++) {
      const db = await openDatabase(folder);
      await db.commit(new Operation().set(keys.scrub(), { last: String(round) }));
      for (const { diskReader } of [db, db.bytes]) await diskReader.get(keys.scrub());
      await db.close();
      assertEquals((await namesIn(folder)).filter((name) => name.includes(".db-")), []);
    }
  });
});

Deno.test("Several processes can open a new store at once", async () => {
  await withFolder(async (folder) => {
    const opened = await Promise.all(Array.from({ length: 4 }, () => openDatabase(folder)));
    await Promise.all(opened.map((db, i) => db.commit(new Operation().set(["n", i], i))));
    const [first] = opened;
    const entries = await Array.fromAsync(first?.reader.list({ prefix: ["n"] }) ?? []);
    assertEquals(entries.map(({ value }) => value), [0, 1, 2, 3]);
    for (const db of opened) await db.close();
  });
});

Deno.test("Several processes can create a store at the same moment", async () => {
  await withFolder(async (folder) => {
    const start = Date.now() + 500;
    const stores = Array.from({ length: 40 }, (_, i) => ({
      folder: join(folder, `${i}`),
      at: start + i * 30,
    }));
    const opened = Array.from({ length: 3 }, async () => {
      const worker = new Worker(new URL("../testing/open_worker.ts", import.meta.url), {
        type: "module",
      });
      return await runInWorker<OpenTask, number>(worker, { stores });
    });
    assertEquals(await Promise.all(opened), [40, 40, 40]);
    for (const { folder } of stores) {
      // Those who were too late have left no file.
      const name = await byteFileIn(folder);
      const files = new Set((await namesIn(folder)).map((each) => each.replace(/-(wal|shm)$/, "")));
      assertEquals([...files], [name, RECORD_FILE]);
      const db = await openDatabase(folder);
      assertEquals((await db.reader.get(keys.byteFile())).value, name);
      await db.close();
    }
  });
});

Deno.test("A file that is not a store is refused and not changed", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "kvdrive.db");
    await Deno.writeTextFile(path, "not a database".repeat(100));
    await assertRejects(() => openDatabase(folder), CannotOpenStore, "Cannot open the store in");
    assertEquals(await Deno.readTextFile(path), "not a database".repeat(100));
  });
});

Deno.test("A store that is being closed finishes its commits and refuses new ones", async () => {
  await withFolder(async (folder) => {
    const db = await openDatabase(folder);
    const running = db.commit(new Operation().set(["n", 1], 1));
    const closed = db.close();
    await assertRejects(() => db.commit(new Operation().set(["n", 2], 2)), StoreUnavailable);
    assertEquals((await running).ok, true);
    await closed;
  });
});

Deno.test("A store without its file of chunks, or with another one, is refused and not changed", async () => {
  await withFolder(async (parent) => {
    const [folder, other] = [join(parent, "one"), join(parent, "other")];
    const path = join(folder, await makeStore(folder));
    const otherPath = join(other, await makeStore(other));
    await Deno.rename(path, join(parent, "away"));
    await assertRefused(
      folder,
      /the bytes of its files are in .*, which is missing; put the file back/,
    );
    await Deno.writeFile(path, new Uint8Array());
    await assertRefused(folder, /is empty or the file of another store; put the file back/);
    await Deno.copyFile(otherPath, path);
    await assertRefused(folder, /is empty or the file of another store; put the file back/);
    await Deno.rename(join(parent, "away"), path);
    const db = await openDatabase(folder);
    assertEquals((await db.bytes.reader.get(keys.chunk("v", 0))).value, new Uint8Array(9));
    await db.close();
  });
});

Deno.test("Records that name any other file as that of the chunks are refused", async () => {
  await withFolder(async (parent) => {
    const folder = join(parent, "data");
    const name = await makeStore(folder);
    await Deno.mkdir(join(folder, "sub"));
    const others = [`../${name}`, join(parent, name), `sub/${name}`, `${name}\n`, `${name}-wal`];
    for (const forged of [...others, "../x", RECORD_FILE, name.toUpperCase(), "", 7, null]) {
      const records = join(parent, `${others.indexOf(String(forged))}`);
      await Deno.mkdir(records, { recursive: true });
      await Deno.copyFile(join(folder, name), join(records, name));
      await Deno.copyFile(join(folder, RECORD_FILE), join(records, RECORD_FILE));
      await changeRecords(records, new Operation().set(keys.byteFile(), forged));
      await assertRefused(records, /its records name .* as the file with the bytes of files/);
      await Deno.remove(records, { recursive: true });
    }
    const open = [".", ".."].map((place) => namesIn(join(folder, place)));
    assertEquals(await Promise.all(open), [[name, RECORD_FILE, "sub"], ["data"]]);
  });
});

Deno.test("Without a converter a store in one file, or with chunks among its records, is refused", async () => {
  const inOneFile = /it is in one file, like a backup.*start the server once/;
  await withFolder(async (folder) => {
    await makeStore(folder);
    await changeRecords(folder, new Operation().set(keys.checksums("v", 0), new Uint8Array(9)));
    await assertRefused(folder, inOneFile);
  });
  await withFolder(async (folder) => {
    const name = await makeStore(folder);
    await changeRecords(folder, new Operation().delete(keys.byteFile()));
    await Deno.remove(join(folder, name));
    await assertRefused(folder, inOneFile);
    assert(!(await namesIn(folder)).includes(name));
  });
});
