import { prefixes } from "../engine/keys.ts";
import { accountProblems } from "./accounts.ts";
import { quotaProblems, UsageCheck } from "./counters.ts";
import { type FileCount, fileProblems } from "./files.ts";
import { journalProblems, orphanProblems } from "./orphans.ts";
import { PendingRemovals, VersionOwners } from "./ownership.ts";
import type { Problem } from "./problem.ts";
import { Snapshot } from "./snapshot.ts";
import { openUploadProblems, uploadProblems } from "./uploads.ts";

/** What `kvdrive verify` finds wrong before it stops to look for more, so that memory is bounded: some megabytes. */
const MAX_PROBLEMS = 10_000;

export interface VerifyReport {
  problems: Problem[];
  /** Whether there may be more of them. */
  more: boolean;
  /** What was looked at. */
  files: number;
  bytes: number;
  /** Files without a digest that no journal entry names; the scrub of a server adds the digest. */
  unchecked: number;
}

export interface VerifyOptions {
  /** Whether nobody else can have the file open. */
  isOurs?: boolean;
  /** Told how many of the bytes that files have are looked at. */
  onBytes?: (done: number, total: number) => void;
}

/** Every kind of entry that a store has. */
const KINDS = new Set([
  ...["admin_token", "app", "app_host", "app_key", "app_key_name", "app_key_prefix"],
  ...["checksums", "chunk", "completed_upload", "content", "damage", "file", "garbage", "lease"],
  ...["manifest", "open_upload", "part"],
  ...["parts_revision", "pending", "project", "project_key", "project_key_prefix", "quota"],
  ...["recounted", "removal", "scrub", "session", "undigested", "upload", "usage"],
]);

/**
 * Looks at all that a store has as it is at one moment, beside servers that go on: what is found wrong is wrong, however
 * many write. What the sweeper will come to is not.
 *
 * @param path The store's file. Throws what SQLite throws where that is no store.
 */
export async function verifyStore(
  path: string,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  using snapshot = await Snapshot.take(path, options.isOurs);
  const verdict: VerifyReport = { problems: [], more: false, files: 0, bytes: 0, unchecked: 0 };
  for (const problem of allProblems(snapshot, verdict, options)) {
    if (verdict.problems.length >= MAX_PROBLEMS) return { ...verdict, more: true };
    verdict.problems.push(problem);
  }
  return verdict;
}

/** Kinds of problems that mean that bytes are lost. */
const DAMAGE = new Set<Problem["kind"]>(["database", "file", "part"]);

/**
 * Reads all bytes that a copy of a store has and compares them with their checksums and digests; SQLite has found its
 * file sound. Returns what is damaged.
 *
 * @param path A file that no other process uses. Throws what SQLite throws where it is no store.
 * @param onBytes Told how many bytes were read; what it throws ends the check.
 */
export async function verifyBackup(
  path: string,
  onBytes: (bytes: number) => void,
): Promise<Problem[]> {
  using snapshot = await Snapshot.take(path, true);
  const looked = ({ byteLength }: Uint8Array) => onBytes(byteLength);
  const found = [
    ...fileProblems(snapshot, { onFile: () => {}, onBytes: looked }),
    ...uploadProblems(snapshot, new PendingRemovals(snapshot), looked),
  ];
  return found.filter(({ kind }) => DAMAGE.has(kind));
}

function* allProblems(
  snapshot: Snapshot,
  verdict: VerifyReport,
  { onBytes }: VerifyOptions,
): Generator<Problem> {
  const damage = snapshot.damage();
  for (const text of damage) yield databaseProblem(text);
  try {
    yield* entryProblems(snapshot, verdict, onBytes);
  } catch (error) {
    // What is damaged that much cannot be read to its end.
    if (damage.length === 0) throw error;
    yield databaseProblem(error instanceof Error ? error.message : String(error));
  }
}

function* entryProblems(
  snapshot: Snapshot,
  verdict: VerifyReport,
  onBytes: VerifyOptions["onBytes"],
): Generator<Problem> {
  const total = bytesOf(snapshot);
  const removals = new PendingRemovals(snapshot);
  const owners = new VersionOwners(snapshot);
  const usage = new UsageCheck(snapshot, removals);
  const looked = ({ byteLength }: Uint8Array): void => {
    verdict.bytes += byteLength;
    onBytes?.(verdict.bytes, total);
  };
  const onFile = (file: FileCount): void => {
    verdict.files++;
    if (file.isUnchecked) verdict.unchecked++;
    usage.add(file);
  };
  yield* unknownProblems(snapshot);
  yield* accountProblems(snapshot, removals);
  yield* fileProblems(snapshot, { onFile, onBytes: looked });
  yield* usage.rest();
  yield* openUploadProblems(snapshot, removals);
  yield* quotaProblems(snapshot);
  yield* uploadProblems(snapshot, removals, looked);
  yield* journalProblems(snapshot, owners);
  yield* orphanProblems(snapshot, owners);
}

function databaseProblem(text: string): Problem {
  const advice = "restore a backup";
  return { kind: "database", message: `The database itself is damaged: ${text}; ${advice}` };
}

function* unknownProblems(snapshot: Snapshot): Generator<Problem> {
  for (const [kind = ""] of snapshot.heads([], 1)) {
    if (KINDS.has(String(kind))) continue;
    const message = `There are entries of a kind that this version does not know: ${kind}`;
    yield { kind: "unknown", message };
  }
}

/** What the counters say, which may be wrong. */
function bytesOf(snapshot: Snapshot): number {
  let total = 0;
  for (const { key, value } of snapshot.list<unknown>(prefixes.all("usage"))) {
    if (key.at(-1) === "bytes" && value instanceof Deno.KvU64) total += Number(value.value);
  }
  return total;
}
