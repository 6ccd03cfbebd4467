/**
 * The thread that makes a backup: copies the store's file and verifies the copy. One read transaction fixes the state
 * that is copied, so writers continue and the copy is the store of one moment. Pauses between the steps leave the disk
 * to requests.
 *
 * @module
 */
import * as sqliteModule from "node:sqlite";
import { MIB } from "../../rules/units.ts";
import { LOCKED_RETRY_TIME, serveTask, withSqlite } from "../disk/sqlite.ts";
import { checkpointAfterRead } from "../disk/write_ahead_log.ts";
import { verifyBackup } from "../verify/verify.ts";
import { type BackupState, type BackupTask, DONE, STOP, TOTAL } from "./backup_task.ts";

/** Pages of 4 KiB that are copied in one step, and the pause after each, in milliseconds. */
const BACKUP_STEP_PAGES = 256;
const BACKUP_PAUSE = 5;

/** Steps after which the copy is flushed, so that requests wait for 2 MiB at most. */
const BACKUP_SYNC_STEPS = 2;

/** Bytes of the copy that are verified between two pauses. */
const VERIFY_STEP = 4 * MIB;

const { DatabaseSync } = sqliteModule;

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

async function copy({ source, target, state }: BackupTask): Promise<void> {
  if (backup === undefined) {
    throw new Error("this version of Deno cannot copy a store that is in use: take a newer one");
  }
  using written = Deno.openSync(target, { read: true, write: true });
  const sqlite = new DatabaseSync(source);
  try {
    sqlite.exec(`PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}; PRAGMA query_only = ON; BEGIN`);
    // The first statement fixes the state that is copied. Without it each step would copy another state.
    sqlite.prepare("SELECT count(*) FROM sqlite_master").get();
    let steps = 0;
    const progress = (pages: { totalPages: number; remainingPages: number }) => {
      Atomics.store(state, TOTAL, pages.totalPages);
      Atomics.store(state, DONE, pages.totalPages - pages.remainingPages);
      // One flush at the end would block the disk for long.
      if (++steps % BACKUP_SYNC_STEPS === 0) written.syncDataSync();
      pause(state);
    };
    await backup(sqlite, target, { rate: BACKUP_STEP_PAGES, progress });
    checkpointAfterRead(source, sqlite);
  } finally {
    sqlite.close();
  }
  written.syncSync();
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
