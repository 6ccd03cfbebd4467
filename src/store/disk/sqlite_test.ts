import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { runInWorker, unlessLocked, withSqlite } from "./sqlite.ts";

async function inFolder(test: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-sqlite-" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function startWorker(): Worker {
  return new Worker(new URL("./checkpoint_worker.ts", import.meta.url), { type: "module" });
}

Deno.test("A connection is closed after its work, also if that fails", async () => {
  await inFolder((folder) => {
    const path = `${folder}/a.db`;
    let opened: DatabaseSync | undefined;
    const one = withSqlite(path, (sqlite) => (opened = sqlite).prepare("SELECT 1 AS n").get()?.n);
    assertEquals(one, 1);
    assertThrows(() => opened?.exec("SELECT 1"));
    const fail = () =>
      withSqlite(path, (sqlite) => {
        opened = sqlite;
        throw new Error("broken");
      });
    assertThrows(fail, Error, "broken");
    assertThrows(() => opened?.exec("SELECT 1"));
  });
});

Deno.test("Work is skipped while another connection holds the lock, and other errors are thrown", async () => {
  await inFolder((folder) => {
    const path = `${folder}/a.db`;
    withSqlite(path, (holder) => {
      holder.exec("BEGIN IMMEDIATE");
      withSqlite(path, (sqlite) => {
        const begin = () => sqlite.exec("BEGIN IMMEDIATE");
        assertEquals(unlessLocked(begin), false);
        holder.exec("ROLLBACK");
        assertEquals(unlessLocked(begin), true);
        assertThrows(() => unlessLocked(() => sqlite.exec("SELECT * FROM absent")));
      });
    });
  });
});

Deno.test("A worker returns the result of its task, or throws its error", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/a.db`;
    withSqlite(path, (sqlite) => sqlite.exec("CREATE TABLE a (x)"));
    assertEquals(await runInWorker<string, void>(startWorker(), path), undefined);
    await Deno.writeTextFile(`${folder}/text`, "no database at all, but long enough".repeat(99));
    const error = await assertRejects(() => runInWorker(startWorker(), `${folder}/text`), Error);
    assertEquals(error.message, "file is not a database");
  });
});
