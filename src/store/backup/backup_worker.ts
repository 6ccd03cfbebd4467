/**
 * The thread that makes a backup: copies the store's files into one and verifies the copy. A snapshot fixes the state
 * that is copied, so writers continue and the copy is the store of one moment. Pauses between the steps leave the disk
 * to requests.
 *
 * @module
 */
import * as sqliteModule from "node:sqlite";
import { MIB } from "../../rules/units.ts";
import { serveTask, withSqlite } from "../disk/sqlite.ts";
import { Snapshot } from "../verify/snapshot.ts";
import { verifyBackup } from "../verify/verify.ts";
import { type BackupState, type BackupTask, DONE, STOP, TOTAL } from "./backup_task.ts";
import { addBytes } from "./join_files.ts";

/** Pages of 4 KiB that are copied in one step, and the pause after each, in milliseconds. */
const BACKUP_STEP_PAGES = 256;
const BACKUP_PAUSE = 5;

/** The pages of 4 KiB that a chunk takes. */
const PAGES_OF_CHUNK = 16;

/** Steps after which the copy is flushed, so that requests wait for 2 MiB at most. */
const BACKUP_SYNC_STEPS = 2;

/** Bytes of the copy that are verified between two pauses. */
const VERIFY_STEP = 4 * MIB;

/** The first versions of Deno 2.5 have none. */
const backup: typeof sqliteModule.backup | undefined = sqliteModule.backup;

class Stopped extends Error {}

serveTask(async (task: BackupTask): Promise<string[] | undefined> => {
  try {
    await copy(task);
    checkDatabase(task.target);
    return await damageIn(task);
  } catch (error) {
    if (error instanceof Stopped) return undefined;
    throw error;
  }
});

/** @throws {Stopped} */
async function copy({ source, target, state }: BackupTask): Promise<void> {
  if (backup === undefined) {
    throw new Error("this version of Deno cannot copy a store that is in use: take a newer one");
  }
  using written = Deno.openSync(target, { read: true, write: true });
  using snapshot = await Snapshot.take(source);
  const { records, bytes } = snapshot;
  const others = bytes === records ? 0 : pagesOf(bytes.sqlite);
  const first = pagesOf(records.sqlite);
  Atomics.store(state, TOTAL, first + others);
  let steps = 0;
  const progress = ({ totalPages, remainingPages }: Pages) => {
    Atomics.store(state, DONE, totalPages - remainingPages);
    // One flush at the end would block the disk for long.
    if (++steps % BACKUP_SYNC_STEPS === 0) written.syncDataSync();
    pause(state);
  };
  await backup(records.sqlite, target, { rate: BACKUP_STEP_PAGES, progress });
  if (bytes !== records) {
    addBytes(bytes.sqlite, target, (chunks) => {
      Atomics.store(state, DONE, first + Math.min(others, chunks * PAGES_OF_CHUNK));
      pause(state);
    });
  }
  written.syncSync();
}

interface Pages {
  totalPages: number;
  remainingPages: number;
}

/** Returns the size of a file in pages of 4 KiB. */
function pagesOf(sqlite: sqliteModule.DatabaseSync): number {
  const { pages } = sqlite
    .prepare(
      "SELECT page_count * page_size / 4096 AS pages FROM pragma_page_count, pragma_page_size",
    )
    .get() ?? {};
  return Number(pages);
}

/** Verifies the copy now, not at restore time. @throws {Error} if SQLite finds its structure damaged. */
function checkDatabase(path: string): void {
  withSqlite(path, (sqlite) => {
    const check = () => sqlite.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
    // A page that could not be read once counts as damaged, so SQLite checks twice.
    const found = check() === "ok" ? "ok" : check();
    if (found !== "ok") throw new Error(`The copy is damaged: ${found}`);
  });
}

/** Returns the damaged files and parts in the copy, one sentence each. They are damaged in the store as well. */
async function damageIn({ target, state }: BackupTask): Promise<string[]> {
  let sincePause = 0;
  const problems = await verifyBackup(target, (bytes) => {
    sincePause += bytes;
    if (sincePause < VERIFY_STEP) return;
    sincePause = 0;
    pause(state);
  });
  return problems.map(({ message }) => message);
}

/** @throws {Stopped} if the backup is to stop. */
function pause(state: BackupState): void {
  if (Atomics.wait(state, STOP, 0, BACKUP_PAUSE) !== "timed-out") throw new Stopped();
}
