/**
 * Copies the store's file in a thread of its own. One read transaction holds the state that is copied, so writers go on
 * beside it and the copy is the store of one moment. It rests between its steps, so that others get at the disk.
 *
 * @module
 */

import * as sqliteModule from "node:sqlite";
import { LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import { checkpointAfterRead } from "../disk/write_ahead_log.ts";
import { verifyBackup } from "../verify/verify.ts";
import { BackupAnswer, BackupTask, DONE, STOP, TOTAL } from "./backup_task.ts";

/** Pages of 4 KiB that a backup copies in one step, and its rest behind each: requests get at the disk meanwhile. */
const BACKUP_STEP_PAGES = 256;

const BACKUP_PAUSE = 5;

/** Steps of a backup after which the disk has to have what was written: requests wait for 2 MiB and not for more. */
const BACKUP_SYNC_STEPS = 2;

/** Bytes of the copy that are checked between two rests. */
const VERIFY_STEP = 4 * 2 ** 20;

interface WorkerScope {
  onmessage: (event: { data: BackupTask }) => void;
  postMessage(message: BackupAnswer): void;
}

class Stopped extends Error {}

const { DatabaseSync } = sqliteModule;

/** The first versions of Deno 2.5 have none. */
const backup: typeof sqliteModule.backup | undefined = sqliteModule.backup;

const scope = globalThis as unknown as WorkerScope;

scope.onmessage = async ({ data }) => {
  try {
    await copy(data);
    check(data.target);
    scope.postMessage({ damage: await damageOf(data) });
  } catch (error) {
    if (error instanceof Stopped) scope.postMessage({ stopped: true });
    else scope.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
};

async function copy({ source, target, state }: BackupTask): Promise<void> {
  if (backup === undefined) {
    throw new Error("this version of Deno cannot copy a store that is in use: take a newer one");
  }
  using written = Deno.openSync(target, { read: true, write: true });
  const sqlite = new DatabaseSync(source);
  try {
    sqlite.exec(`PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}; PRAGMA query_only = ON; BEGIN`);
    // The first statement is what takes the state that is copied; without it each step would take another one.
    sqlite.prepare("SELECT count(*) FROM sqlite_master").get();
    let steps = 0;
    const progress = ({ totalPages, remainingPages }: {
      totalPages: number;
      remainingPages: number;
    }) => {
      Atomics.store(state, TOTAL, totalPages);
      Atomics.store(state, DONE, totalPages - remainingPages);
      // All at the end would keep the disk from others for long.
      if (++steps % BACKUP_SYNC_STEPS === 0) written.syncDataSync();
      if (Atomics.wait(state, STOP, 0, BACKUP_PAUSE) !== "timed-out") throw new Stopped();
    };
    await backup(sqlite, target, { rate: BACKUP_STEP_PAGES, progress });
    checkpointAfterRead(source, sqlite);
  } finally {
    sqlite.close();
  }
  written.syncSync();
}

/** What is damaged was damaged in the store: the earlier backups may have it whole. */
async function damageOf({ target, state }: BackupTask): Promise<string[]> {
  let sinceRest = 0;
  const problems = await verifyBackup(target, (bytes) => {
    sinceRest += bytes;
    if (sinceRest < VERIFY_STEP) return;
    sinceRest = 0;
    if (Atomics.wait(state, STOP, 0, BACKUP_PAUSE) !== "timed-out") throw new Stopped();
  });
  return problems.map(({ message }) => message);
}

/** Nobody wants to find out at the restoring that the disk lied. */
function check(path: string): void {
  const sqlite = new DatabaseSync(path);
  try {
    const look = () => sqlite.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
    // A page that could not be read once counts as damaged, too.
    const found = look() === "ok" ? "ok" : look();
    if (found !== "ok") throw new Error(`The copy is damaged: ${found}`);
  } finally {
    sqlite.close();
  }
}
