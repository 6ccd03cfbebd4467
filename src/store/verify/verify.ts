import { isCorruption } from "../engine/errors.ts";
import { FORMAT, formatIn, formatProblem } from "../engine/format.ts";
import { identityOf, keys, prefixes } from "../engine/keys.ts";
import type { S3KeyRecord } from "../engine/records.ts";
import { KINDS } from "../engine/records/kinds.ts";
import { accountProblems } from "./accounts.ts";
import { UsageCheck } from "./counters.ts";
import {
  ADVICE,
  type FileCount,
  fileProblems,
  type OnBytes,
  trashedFileProblems,
  trashProblems,
} from "./files.ts";
import { grantProblems } from "./grants.ts";
import { linkProblems } from "./links.ts";
import { journalProblems, orphanProblems } from "./orphans.ts";
import { PendingDeletions, VersionOwners } from "./ownership.ts";
import type { Problem } from "./problem.ts";
import { referenceProblems } from "./references.ts";
import { Snapshot } from "./snapshot.ts";
import { openUploadProblems, uploadProblems } from "./uploads.ts";

/** Problems that a check reports before it stops. They take some megabytes of memory. */
const MAX_PROBLEMS = 10_000;

/** The kinds of problems that mean lost bytes. */
const DAMAGE = new Set<Problem["kind"]>(["database", "file", "part", "entry"]);

/** The result of a check. */
export interface VerifyReport {
  problems: Problem[];
  /** Whether the check stopped because it found too many problems. */
  more: boolean;
  /** The files and bytes that were checked. */
  files: number;
  bytes: number;
  /** Files without a digest that no journal entry names. The scrub of a server adds the digest. */
  unchecked: number;
  /** The format of an older store, of which only the bytes of files and parts were checked. */
  olderFormat?: number;
  /** The S3 keys with their encrypted secrets. Only what encrypts them tells whether they can be used. */
  s3Keys: S3KeyEntry[];
}

export interface S3KeyEntry {
  accessKeyId: string;
  record: S3KeyRecord;
}

export interface VerifyOptions {
  /** Whether no other process can have the file open. */
  isPrivate?: boolean;
  /** Receives the bytes read so far, and the bytes of all files. */
  onBytes?: (done: number, total: number) => void;
}

/**
 * Checks a whole store at one moment, beside servers that continue to write. A problem is one even if the store has
 * changed since. Work that the sweeper has still to do is no problem.
 *
 * @param path The store's file. Throws what SQLite throws if that is no store.
 */
export async function verifyStore(
  path: string,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  return await readingTwice(() => checkStore(path, options));
}

async function checkStore(path: string, options: VerifyOptions): Promise<VerifyReport> {
  using snapshot = await Snapshot.take(path, options.isPrivate);
  const format = requireReadable(snapshot);
  const report: VerifyReport = {
    problems: [],
    more: false,
    files: 0,
    bytes: 0,
    unchecked: 0,
    s3Keys: [],
    ...(format < FORMAT && { olderFormat: format }),
  };
  for (const problem of allProblems(snapshot, report, options)) {
    report.more = report.problems.length >= MAX_PROBLEMS;
    if (report.more) break;
    report.problems.push(problem);
  }
  // An entry that cannot be read may own what seems to be unused.
  if (snapshot.unreadable.size > 0 || report.problems.some(({ kind }) => kind === "entry")) {
    report.problems = report.problems.map(({ repair: _, ...problem }) => problem);
  }
  return report;
}

/**
 * Reads all bytes in a copy of a store and compares them with their checksums and digests. The structure of the file is
 * not checked.
 *
 * @param path A file that no other process uses. Throws what SQLite throws if it is no store.
 * @param onBytes Receives the size of each piece that was read. What it throws ends the check.
 * @returns The damaged files and parts.
 */
export async function verifyBackup(
  path: string,
  onBytes: (bytes: number) => void,
): Promise<Problem[]> {
  const countBytes = ({ byteLength }: Uint8Array) => onBytes(byteLength);
  const options = { onFile: () => {}, onBytes: countBytes };
  return await readingTwice(async () => {
    using snapshot = await Snapshot.take(path, true);
    requireReadable(snapshot);
    return [...withUnreadable(snapshot, () => lostBytes(snapshot, options))];
  });
}

/**
 * Repeats a check that ended at a read which failed, because the next one may succeed. SQLite does not tell a disk that
 * cannot read from a file with wrong contents: both are "malformed".
 */
async function readingTwice<T>(check: () => Promise<T>): Promise<T> {
  for (let tries = 1;; tries++) {
    try {
      return await check();
    } catch (error) {
      if (!isCorruption(error)) throw error;
      if (tries < 2) continue;
      throw new Error(
        `${error.message}: the disk cannot read the file, or the file is damaged; see the ` +
          "messages of the system about the disk, and restore a backup if there are none",
        { cause: error },
      );
    }
  }
}

/**
 * Returns the format of a store.
 *
 * @throws {Error} if a newer version made it.
 */
function requireReadable(snapshot: Snapshot): number {
  const format = formatIn(snapshot.get<Deno.KvU64>(keys.format())?.value);
  if (format > FORMAT) throw new Error(formatProblem(format));
  return format;
}

/** Yields the problems that mean lost bytes, by checks for which the format of the store does not matter. */
function* lostBytes(
  snapshot: Snapshot,
  { onFile, onBytes }: { onFile: (file: FileCount) => void; onBytes: OnBytes },
): Generator<Problem> {
  const problems = function* (): Generator<Problem> {
    yield* fileProblems(snapshot, { onFile, onBytes });
    yield* trashedFileProblems(snapshot, onBytes);
    yield* uploadProblems(snapshot, new PendingDeletions(snapshot), onBytes);
  };
  for (const problem of problems()) if (DAMAGE.has(problem.kind)) yield problem;
}

function* allProblems(
  snapshot: Snapshot,
  report: VerifyReport,
  { onBytes }: VerifyOptions,
): Generator<Problem> {
  const damage = snapshot.damage();
  for (const text of damage) yield databaseProblem(text);
  try {
    yield* withUnreadable(snapshot, () => entryProblems(snapshot, report, onBytes));
  } catch (error) {
    // A damaged database may be unreadable from some point on.
    if (damage.length === 0) throw error;
    yield databaseProblem(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Yields problems, and then the entries that could not be read. SQLite has no checksums, so a bit that has changed in a
 * record may leave a value that cannot be decoded, or one that lacks a field.
 */
function* withUnreadable(
  snapshot: Snapshot,
  find: () => Iterable<Problem>,
): Generator<Problem> {
  try {
    yield* find();
  } catch (error) {
    // Failures of the disk and of SQLite are other errors.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    const message = `An entry has a wrong form (${error.message}), so not all were checked; ` +
      "restore a backup";
    yield { kind: "entry", message };
  }
  for (const { key, reason } of snapshot.unreadable.values()) {
    const isFile = key[0] === "file";
    const message = `The entry ${identityOf(key)} cannot be read: ${reason}; ` +
      (isFile ? ADVICE : "restore a backup");
    const [, project = "", drive = "", name = ""] = key.map(String);
    yield { kind: "entry", message, ...(isFile && { project, drive, name }) };
  }
}

function* entryProblems(
  snapshot: Snapshot,
  report: VerifyReport,
  onProgress: VerifyOptions["onBytes"],
): Generator<Problem> {
  const total = countedBytes(snapshot);
  const deletions = new PendingDeletions(snapshot);
  using owners = new VersionOwners(snapshot);
  const usage = new UsageCheck(snapshot, deletions);
  const onBytes = ({ byteLength }: Uint8Array): void => {
    report.bytes += byteLength;
    onProgress?.(report.bytes, total);
  };
  const onFile = (file: FileCount): void => {
    report.files++;
    if (file.isUnchecked) report.unchecked++;
    usage.add(file, "files", 1);
    usage.add(file, "bytes", file.counted);
  };
  report.s3Keys.push(...s3KeysIn(snapshot));
  if (report.olderFormat !== undefined) return yield* lostBytes(snapshot, { onFile, onBytes });
  yield* unknownEntries(snapshot);
  yield* accountProblems(snapshot, deletions);
  yield* linkProblems(snapshot, deletions);
  yield* grantProblems(snapshot, deletions);
  yield* fileProblems(snapshot, { onFile, onBytes });
  yield* trashedFileProblems(snapshot, onBytes);
  yield* trashProblems(snapshot, usage);
  yield* openUploadProblems(snapshot, usage);
  yield* usage.problems();
  yield* uploadProblems(snapshot, deletions, onBytes);
  yield* journalProblems(snapshot, owners);
  yield* referenceProblems(snapshot, owners);
  yield* orphanProblems(snapshot, owners);
}

function* s3KeysIn(snapshot: Snapshot): Generator<S3KeyEntry> {
  for (const { key, value: record } of snapshot.list<S3KeyRecord>(prefixes.all("s3_key"))) {
    yield { accessKeyId: String(key[1]), record };
  }
}

/** Returns the number of S3 keys in a store. @param path The store's file. */
export async function countS3Keys(path: string): Promise<number> {
  using snapshot = await Snapshot.take(path);
  return [...s3KeysIn(snapshot)].length;
}

function databaseProblem(text: string): Problem {
  const message = `The database itself is damaged: ${text}; restore a backup`;
  return { kind: "database", message };
}

function* unknownEntries(snapshot: Snapshot): Generator<Problem> {
  for (const [kind = ""] of snapshot.heads([], 1)) {
    if (Object.hasOwn(KINDS, kind)) continue;
    const message = `The store has entries of a kind that this version does not know: ${kind}`;
    yield { kind: "unknown", message };
  }
}

/** The counters of bytes that are checked. */
const HELD = new Set(["bytes", "trash_bytes"]);

/** The bytes of all files by the drives' counters, which may be wrong: only the progress depends on them. */
function countedBytes(snapshot: Snapshot): number {
  let total = 0;
  for (const { key, value } of snapshot.list<unknown>(prefixes.all("usage"))) {
    if (HELD.has(String(key.at(-1))) && value instanceof Deno.KvU64) total += Number(value.value);
  }
  return total;
}
