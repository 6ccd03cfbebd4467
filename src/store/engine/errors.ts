import { formatBytes } from "../../rules/units.ts";

/** The store cannot do it now, and may be able to soon: locked by another process, or its answer did not come. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

/**
 * What SQLite says when the disk below it fails or its files cannot be opened (sqlite.org/rescode.html: SQLITE_IOERR,
 * SQLITE_CORRUPT, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PROTOCOL). Nothing was changed, and the same call may work
 * later. SQLite reports a read that failed with EIO as "malformed" (`abort_due_to_error` in its vdbe.c).
 */
const DISK_FAILURES =
  /disk I\/O error|disk image is malformed|unable to open database file|attempt to write a readonly database|locking protocol/;

/** Returns whether an error of Deno KV or `node:sqlite` reports a failing disk rather than a defect of ours. */
export function isDiskFailure(error: unknown): error is Error {
  return error instanceof Error && DISK_FAILURES.test(error.message);
}

/** The memory for requests of a kind is used up, and what was waited for did not come free. */
export class MemoryExhausted extends Error {
  override readonly name = "MemoryExhausted";

  /** @param part The part of the memory budget. */
  constructor(readonly part: string) {
    super(`The memory budget for ${part} is used up`);
  }
}

/** What a write would have made of a project's bytes, and what is allowed. */
export interface QuotaNumbers {
  /** The bytes of its files and of its open uploads. */
  used: number;
  limit: number;
  /** How many more the write would have needed. */
  more: number;
}

/** A project cannot take more bytes. The message is a sentence for the caller. */
export class QuotaExceeded extends Error {
  override readonly name = "QuotaExceeded";

  /** @param outcome What became of the write, as the end of a sentence. */
  constructor(readonly numbers: QuotaNumbers, outcome = "nothing was stored") {
    const { used, limit, more } = numbers;
    super(
      `The project has ${formatBytes(used)} of its ${formatBytes(limit)} in use and cannot take ${
        formatBytes(more)
      } more (${used} of ${limit} bytes, ${more} more): ` +
        `delete files, abort open uploads or ask the administrator for more; ${outcome}`,
    );
  }
}

/** A project has as many open uploads as it may. The message is a sentence for the caller. */
export class TooManyOpenUploads extends Error {
  override readonly name = "TooManyOpenUploads";

  constructor(readonly max: number) {
    super(
      `The project has ${max} uploads open, and no more are allowed: ` +
        `complete or abort one of them, then start this one again`,
    );
  }
}

/** Bytes that a record speaks of are missing or are other ones. */
export class StoreDamaged extends Error {
  override readonly name = "StoreDamaged";
  /** What is wrong with the file, as the end of a sentence. */
  readonly problem: string;

  /**
   * @param file The file, as a message names it.
   * @param problem What is wrong with it, as the end of a sentence.
   */
  constructor(file: string, problem: string) {
    super(`The file ${file} is damaged: ${problem}`);
    this.problem = problem;
  }
}

/** Whether SQLite or the disk could not read a part of the store's file. */
export function isCorruption(error: unknown): error is TypeError {
  return error instanceof TypeError && /malformed|disk I\/O error/.test(error.message);
}

/** The data folder or the store in it cannot be used. The message is a sentence for the person who started us. */
export class CannotOpenStore extends Error {
  override readonly name = "CannotOpenStore";
}

/** Why a call on an upload cannot be served. */
export type UploadProblem = "absent" | "other name" | "completed" | "parts";

/** A call on an upload that cannot be served. The message is a sentence for the caller. */
export class UploadRefused extends Error {
  override readonly name = "UploadRefused";

  constructor(readonly problem: UploadProblem, message: string) {
    super(message);
  }
}

/** What there is only one of, of that name. */
export type Unique = "project" | "app" | "host" | "key name";

/** Something of that name is there already. The message is a sentence for the caller. */
export class AlreadyExists extends Error {
  override readonly name = "AlreadyExists";

  constructor(readonly what: Unique, readonly id: string) {
    super(EXISTING[what](JSON.stringify(id)));
  }
}

const EXISTING: Record<Unique, (id: string) => string> = {
  project: (id) => `There is a project ${id} already: choose another id`,
  app: (id) => `There is an application ${id} in this project already: choose another name`,
  host: (id) => `Another application has the host name ${id} already: choose another one`,
  "key name": (id) => `The application has a key ${id} already: choose another name or delete it`,
};

const REMOVABLE = { project: "project", drive: "drive", app: "application" } as const;

/** What is to be written or made is being removed. The message is a sentence for the caller. */
export class BeingDeleted extends Error {
  override readonly name = "BeingRemoved";

  constructor(readonly what: keyof typeof REMOVABLE, readonly id: string) {
    super(`The ${REMOVABLE[what]} ${JSON.stringify(id)} is being removed: try again`);
  }
}

/** There is no such project, or not any more. */
export class NoSuchProject extends Error {
  override readonly name = "NoSuchProject";

  constructor(readonly project: string) {
    super(`There is no project ${JSON.stringify(project)}`);
  }
}

/** There is no such application, or not any more. The message is a sentence for the caller. */
export class NoSuchApp extends Error {
  override readonly name = "NoSuchApp";

  constructor(readonly app: string) {
    super(`There is no application ${JSON.stringify(app)} in this project`);
  }
}

/** Keys are for applications whose access control is on. The message is a sentence for the caller. */
export class AccessIsOff extends Error {
  override readonly name = "AccessIsOff";

  constructor(readonly app: string) {
    super(
      `The access control of the application ${JSON.stringify(app)} is off: enable it first`,
    );
  }
}

/** A backup cannot be made. The message is a sentence for the person who wants it. */
export class CannotBackUp extends Error {
  override readonly name = "CannotBackUp";
}

/** Damaged files that a message lists. */
const LISTED_DAMAGE = 3;

/** The store has damaged files, so a copy of it is no backup. The message says where the copy is. */
export class DamagedBackup extends CannotBackUp {
  /** @param damage What is damaged, a sentence each without its end. */
  constructor(path: string, damage: readonly string[]) {
    const listed = damage.slice(0, LISTED_DAMAGE).join(". ");
    const more = damage.length - LISTED_DAMAGE;
    super(
      `The store is damaged in ${damage.length} places, so this copy is no backup and replaces none: ` +
        `it is ${path}. ${listed}${more > 0 ? `. And ${more} more: see kvdrive verify` : ""}`,
    );
  }
}

/** Another process makes a backup at the same place. The message is a sentence. */
export class BackupRuns extends Error {
  override readonly name = "BackupRuns";
}

/** A backup cannot be brought back. The message is a sentence for the person who wants it. */
export class CannotRestore extends Error {
  override readonly name = "CannotRestore";
}
