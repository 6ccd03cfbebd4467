/**
 * Every error that the store throws on purpose. Those that refuse a caller have an error code; `src/http/` maps the others
 * to codes, and `src/cli/` all to exit codes.
 *
 * The message of every refusal and of everything for the operator is a sentence for a person.
 *
 * @module
 */
import { type ErrorCode, Refusal } from "../../rules/error_codes.ts";
import { formatBytes } from "../../rules/units.ts";

/** An error that is named after its class. */
class StoreError extends Error {
  override readonly name = this.constructor.name;
}

// The store fails.

/** The store cannot do it now, and may be able to soon. */
export class StoreUnavailable extends StoreError {}

/** A file was replaced or deleted while it was read, and the bytes of the version are gone. */
export class VersionReplaced extends StoreUnavailable {
  /** @param file The file, as `fileText` names it. */
  constructor(file: string) {
    super(`The file ${file} was replaced or deleted while it was read`);
  }
}

/** The memory budget for a kind of request is used up, and no memory became free in time. */
export class MemoryExhausted extends StoreError {
  /** @param part Name of the part of the memory budget. */
  constructor(readonly part: string) {
    super(`The memory budget for ${part} is used up`);
  }
}

/** Bytes that a record refers to are missing or wrong. */
export class StoreDamaged extends StoreError {
  /**
   * @param file The file, as `fileText` names it.
   * @param problem The damage, as the end of a sentence.
   */
  constructor(file: string, readonly problem: string) {
    super(`The file ${file} is damaged: ${problem}`);
  }
}

/** An entry of the store cannot be read. It counts as absent. */
export class UnreadableEntry extends StoreError {
  /** @param reason Why, as the end of a sentence. */
  constructor(key: Deno.KvKey, reason: string) {
    super(
      `The entry ${
        JSON.stringify(key)
      } cannot be read and counts as absent: ${reason}; see kvdrive verify`,
    );
  }
}

/**
 * Messages of SQLite when the disk fails or its files cannot be opened (sqlite.org/rescode.html: SQLITE_IOERR,
 * SQLITE_CORRUPT, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PROTOCOL). Nothing was changed, and the same call may work
 * later. SQLite reports a read that failed with EIO as "malformed" (`abort_due_to_error` in its vdbe.c).
 */
const DISK_FAILURES =
  /disk I\/O error|disk image is malformed|unable to open database file|attempt to write a readonly database|locking protocol/;

/** Returns whether an error of Deno KV or `node:sqlite` reports a failing disk and not a defect of kvdrive. */
export function isDiskFailure(error: unknown): error is Error {
  return error instanceof Error && DISK_FAILURES.test(error.message);
}

/** Returns whether SQLite or the disk could not read a part of the store's file. */
export function isCorruption(error: unknown): error is Error {
  return error instanceof Error && /malformed|disk I\/O error/.test(error.message);
}

// The caller is refused.

/** The project does not exist, or not any more. */
export class NoSuchProject extends Refusal {
  constructor(readonly project: string) {
    super("project_not_found", `There is no project ${JSON.stringify(project)}`);
  }
}

/** The drive does not exist, or not any more, and the write may not create it. */
export class NoSuchDrive extends Refusal {
  constructor(readonly drive: string) {
    super("drive_not_found", `There is no drive ${JSON.stringify(drive)}`);
  }
}

/** The application does not exist, or not any more. */
export class NoSuchApp extends Refusal {
  constructor(readonly app: string) {
    super("app_not_found", `There is no application ${JSON.stringify(app)} in this project`);
  }
}

/** Kinds of names that are unique: in the store, in a project, or in an application. */
export type Unique = "project" | "app" | "host" | "key name";

const TAKEN: Record<Unique, (id: string) => string> = {
  project: (id) => `There is a project ${id} already: choose another id`,
  app: (id) => `There is an application ${id} in this project already: choose another name`,
  host: (id) => `Another application has the host name ${id} already: choose another one`,
  "key name": (id) => `The application has a key ${id} already: choose another name or delete it`,
};

const TAKEN_CODES: Record<Unique, ErrorCode> = {
  project: "project_exists",
  app: "app_exists",
  host: "host_exists",
  "key name": "app_key_exists",
};

export class AlreadyExists extends Refusal {
  constructor(readonly what: Unique, readonly id: string) {
    super(TAKEN_CODES[what], TAKEN[what](JSON.stringify(id)));
  }
}

/** The project keeps no changes. */
export class ChangesOff extends Refusal {
  constructor() {
    super(
      "changes_off",
      'The project keeps no changes: set its "change_days", or list the drive instead',
    );
  }
}

/** Changes after a cursor may be gone. */
export class ChangesExpired extends Refusal {
  constructor() {
    super(
      "changes_expired",
      "The changes after this cursor are no longer kept: list the drive again, " +
        'beginning with a new cursor, which a request without "since" returns',
    );
  }
}

/** A text is no cursor of this drive. */
export class InvalidCursor extends Refusal {
  constructor(text: string) {
    super(
      "invalid_parameter",
      `The cursor ${JSON.stringify(text)} is none of this drive: ` +
        'give the "id" of a change or the "last" of an earlier response, or 0',
    );
  }
}

/** As many callers of a project wait for changes as may. */
export class TooManyWaiting extends Refusal {
  constructor(max: number) {
    super(
      "too_many_waiting",
      `${max} callers of the project are waiting for changes, which is the limit: try again later`,
    );
  }
}

const DELETABLE = { project: "project", drive: "drive", app: "application" } as const;

/** The target of a write is being deleted. */
export class BeingDeleted extends Refusal {
  constructor(readonly what: keyof typeof DELETABLE, readonly id: string) {
    super(
      "being_removed",
      `The ${DELETABLE[what]} ${JSON.stringify(id)} is being removed: try again`,
    );
  }
}

/** Keys exist only for applications with access control. */
export class AccessIsOff extends Refusal {
  constructor(readonly app: string) {
    super(
      "access_off",
      `The access control of the application ${JSON.stringify(app)} is off: enable it first`,
    );
  }
}

/** Why a call on an upload is refused. */
export type UploadProblem = "absent" | "other name" | "completed" | "parts";

const UPLOAD_CODES: Record<UploadProblem, ErrorCode> = {
  absent: "upload_not_found",
  "other name": "upload_name_mismatch",
  completed: "upload_completed",
  parts: "invalid_parts",
};

/** A call on an upload does not fit its state. */
export class UploadRefused extends Refusal {
  constructor(readonly problem: UploadProblem, message: string) {
    super(UPLOAD_CODES[problem], message);
  }
}

export class TooManyOpenUploads extends Refusal {
  constructor(readonly max: number) {
    super(
      "too_many_open_uploads",
      `The project has ${max} uploads open, and no more are allowed: ` +
        `complete or abort one of them, then start this one again`,
    );
  }
}

export class TooManyLinks extends Refusal {
  constructor(readonly max: number) {
    super(
      "too_many_links",
      `The project has ${max} links, and no more are allowed: revoke links that are not needed, ` +
        `then create this one again`,
    );
  }
}

export class TooManyWebhooks extends Refusal {
  constructor(max: number) {
    super(
      "too_many_webhooks",
      `The project has ${max} webhooks, and no more are allowed: delete one that is not needed`,
    );
  }
}

/** State of a project's limit at a refused write, in bytes or files. */
export interface QuotaNumbers {
  resource: "bytes" | "files";
  /** In use, with what is being written. Includes the trash and, of bytes, the parts of open uploads. */
  used: number;
  limit: number;
  /** What the write needed in addition. */
  more: number;
}

/** The project's quota has no room for the write. */
export class QuotaExceeded extends Refusal {
  /** @param outcome Effect of the refused write, as the end of a sentence. */
  constructor(readonly numbers: QuotaNumbers, outcome = "nothing was stored") {
    const { resource, used, limit, more } = numbers;
    const sentence = resource === "files"
      ? `The project has ${used} of its ${limit} files, those in the trash included, and cannot take ${more} more: ` +
        "delete files, empty the trash or ask the administrator for more"
      : `The project has ${formatBytes(used)} of its ${formatBytes(limit)} in use and cannot take ${
        formatBytes(more)
      } more (${used} of ${limit} bytes, ${more} more): ` +
        "delete files, empty the trash, abort open uploads or ask the administrator for more";
    super("quota_exceeded", `${sentence}; ${outcome}`);
  }
}

/** The secrets of S3 keys cannot be encrypted or decrypted. */
export class S3KeysUnavailable extends Refusal {
  constructor(message: string, options?: ErrorOptions) {
    super("s3_keys_unavailable", message, options);
  }
}

// The operator is told.

export class CannotOpenStore extends StoreError {}

export class CannotBackUp extends StoreError {}

/** Damaged files that a message lists. */
const LISTED_DAMAGE = 3;

/** The store has damaged files, so its copy does not count as a backup. */
export class DamagedBackup extends CannotBackUp {
  /**
   * @param outcome What has become of the backup, as a part of a sentence.
   * @param damage One sentence without its period for each damaged place.
   */
  constructor(outcome: string, damage: readonly string[]) {
    const listed = damage.slice(0, LISTED_DAMAGE).join(". ");
    const more = damage.length - LISTED_DAMAGE;
    super(
      `The store is damaged in ${damage.length} places, so ${outcome}. ${listed}${
        more > 0 ? `. And ${more} more: see kvdrive verify` : ""
      }`,
    );
  }
}

export class CannotRestore extends StoreError {}
