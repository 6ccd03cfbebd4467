import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { join } from "@std/path/join";
import { DatabaseSync } from "node:sqlite";
import { runInWorker } from "../disk/sqlite.ts";
import type { OpenTask } from "../testing/open_worker.ts";
import { withFolder } from "../testing/stores.ts";
import { openDatabase, openFolderWarning } from "./database_file.ts";
import { CannotOpenStore, StoreUnavailable } from "./errors.ts";
import { Operation } from "./operation.ts";

Deno.test("A new store can return space to the disk, and its folder is private", async () => {
  await withFolder(async (parent) => {
    const folder = join(parent, "deep", "data");
    const db = await openDatabase(folder);
    await db.close();
    const sqlite = new DatabaseSync(join(folder, "kvdrive.db"));
    assertEquals(sqlite.prepare("PRAGMA auto_vacuum").get()?.["auto_vacuum"], 2);
    sqlite.close();
    const { mode } = await Deno.stat(folder);
    if (mode !== null) assertEquals(mode & 0o777, 0o700);
  });
});

Deno.test("The store's files are made private, also in an open folder and after a change of their modes", async () => {
  if (Deno.build.os === "windows") return;
  await withFolder(async (folder) => {
    await Deno.chmod(folder, 0o755);
    const names = ["kvdrive.db", "kvdrive.db-shm", "kvdrive.db-wal"];
    const modes = () => names.map((name) => (Deno.statSync(join(folder, name)).mode ?? 0) & 0o777);
    const db = await openDatabase(folder);
    assertEquals(modes(), [0o600, 0o600, 0o600]);
    for (const name of names) await Deno.chmod(join(folder, name), 0o644);
    const again = await openDatabase(folder);
    assertEquals(modes(), [0o600, 0o600, 0o600]);
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

Deno.test("A log without its file is kept, and the store opens with the file put back", async () => {
  await withFolder(async (folder) => {
    const live = join(folder, "live");
    const db = await openDatabase(live);
    await db.commit(new Operation().set(["file", "p", "d", "a"], "kept"));
    // What a server leaves that is killed.
    const copy = join(folder, "copy");
    const path = join(copy, "kvdrive.db");
    await Deno.mkdir(copy);
    for (const ending of ["", "-wal"]) {
      await Deno.copyFile(join(live, `kvdrive.db${ending}`), path + ending);
    }
    await db.close();
    await Deno.rename(path, `${path}.away`);
    const refuses = async () => {
      const error = await assertRejects(() => openDatabase(copy), CannotOpenStore);
      assertMatch(
        error.message,
        /kvdrive\.db-wal has the last writes of a store.*put the file back/,
      );
    };
    await refuses();
    await Deno.writeFile(path, new Uint8Array());
    await refuses();
    await Deno.rename(`${path}.away`, path);
    const again = await openDatabase(copy);
    assertEquals((await again.reader.get(["file", "p", "d", "a"])).value, "kept");
    await again.close();
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
