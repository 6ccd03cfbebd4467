/**
 * Takes a snapshot of a store into a repository, while others read and write both.
 *
 * A transaction fixes the moment in both files of the store. All groups of that moment are compared with those of the
 * newest snapshot, in the order of their keys, so memory does not grow with the store. New groups are sent; then the nodes
 * of the tree that changed; the manifest last.
 *
 * @module
 */
import type { DatabaseSync } from "node:sqlite";
import { dirname } from "@std/path/dirname";
import { RepositoryError } from "../../repository/errors.ts";
import { GroupSender } from "../../repository/group_sender.ts";
import {
  encodeManifest,
  type Manifest,
  newSnapshotId,
  type SnapshotInfo,
} from "../../repository/manifest.ts";
import { Presence } from "../../repository/presence.ts";
import { FOLDERS, Repository, type RepositorySettings } from "../../repository/repository.ts";
import { fingerprintOf, TreeBuilder } from "../../repository/tree.ts";
import { ByteWriter } from "../../repository/bytes.ts";
import { failureReason } from "../../rules/system_error.ts";
import { keptFiles } from "../disk/kept_files.ts";
import { formatIn } from "../engine/format.ts";
import { CannotBackUp, DamagedBackup } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import type { FileRecord } from "../engine/records.ts";
import { isPresent } from "../files/file_record.ts";
import { heapLimiter } from "../verify/heap_limiter.ts";
import { Snapshot } from "../verify/snapshot.ts";
import { type Group, groupsOf } from "./groups.ts";
import { KnownGroups } from "./known_groups.ts";
import { SECTIONS, treeKey } from "./rows.ts";
import { SourceCheck } from "./source_check.ts";
import { setPriority } from "node:os";

export interface SnapshotOptions {
  /** The file of the records. */
  source: string;
  store: string;
  repository: RepositorySettings;
  /** Bytes a second; `undefined` for no limit. */
  bandwidth?: number | undefined;
}

/** Receives the bytes of the store that were compared, the bytes in all, and the bytes that were sent. */
export type OnProgress = (done: number, total: number, sent: number) => void;

/** What a snapshot tells while it works. */
export interface SnapshotEvents {
  onProgress?: OnProgress;
  /** Receives sentences for the operator. */
  onNotice?: (text: string) => void;
}

/** A snapshot as lists show it. */
export type SnapshotSummary = Pick<Manifest, "id" | "time" | "files" | "bytes" | "added">;

export interface TakenSnapshot extends SnapshotSummary {
  /** What is damaged in the store, one sentence without its period each: the snapshot is not whole. */
  damage: string[];
}

/** @throws {DamagedBackup} if the store was damaged when the snapshot was taken. */
export function requireWhole({ id, damage }: TakenSnapshot, target: string): void {
  if (damage.length === 0) return;
  throw new DamagedBackup(`the snapshot ${id} in ${target} is not whole`, damage);
}

/**
 * Takes a snapshot.
 *
 * @throws {RepositoryError} if the repository cannot be used.
 * @throws {CannotBackUp} if the store cannot be read.
 */
export async function takeSnapshot(
  { source, store, repository: settings, bandwidth }: SnapshotOptions,
  events: SnapshotEvents = {},
): Promise<TakenSnapshot> {
  const repository = await Repository.openFor(store, settings);
  await using presence = await Presence.begin(repository.target, "write", events.onNotice);
  const earlier = await presence.earlierRuns();
  const all = await repository.snapshots(({ message }) => events.onNotice?.(message));
  const hasUnfinished = earlier.unfinished.size > 0;
  const parent = all.at(-1);
  const known = await KnownGroups.open(repository, parent, hasUnfinished);
  const sender = new GroupSender(repository, bandwidth);
  const suspects = new Set(parent?.damaged);
  const sending = sendStore({ source, store, known, sender, events, suspects });
  const { info, root, damage } = await sending.catch(explainFailure(source));
  const manifest = withAdded({
    id: newSnapshotId(),
    sequence: 1 + (parent?.sequence ?? 0),
    revision: 0,
    ...info,
    root,
    damaged: damage.keys,
  }, sender.sent + repository.sealer.overhead);
  await repository.requirePresent();
  await presence.publish(async () => {
    const { name } = await sender.sendManifest(manifest);
    return [`${FOLDERS.snapshot}/${name}`];
  });
  await presence.forgetDead(earlier);
  await presence.end(true);
  const { id, time, files, bytes, added } = manifest;
  return { id, time, files, bytes, added, damage: damage.messages };
}

/** Returns a function that says of an error which the repository did not raise that the store cannot be read. */
function explainFailure(source: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof RepositoryError) throw error;
    const place = `the store in ${dirname(source)}`;
    const message = `Cannot read ${place}: ${failureReason(error)}. See kvdrive verify`;
    throw new CannotBackUp(message, { cause: error });
  };
}

interface Sending {
  /** See `SourceCheck`. */
  suspects: ReadonlySet<string>;
  source: string;
  store: string;
  known: KnownGroups;
  sender: GroupSender;
  events: SnapshotEvents;
}

async function sendStore(
  { source, store, known, sender, events, suspects }: Sending,
): Promise<{ info: SnapshotInfo; root: Manifest["root"]; damage: ReturnType<SourceCheck["end"]> }> {
  using snapshot = await Snapshot.take(source);
  const time = Date.now();
  const files = new FileCounter(time);
  const check = new SourceCheck(snapshot, suspects);
  const tree = new TreeBuilder(async (_, fingerprint, bytes) => {
    return known.node(fingerprint) ?? await sender.sendNode(bytes);
  });
  const { records, bytes } = snapshot;
  const size = snapshot.files.reduce((sum, { sqlite }) => sum + sizeOf(sqlite), 0);
  let done = 0;
  const limitHeap = heapLimiter();
  const add = async (group: Group) => {
    const { key, fingerprint } = group;
    const found = check.isSuspect(key) ? undefined : await known.find(key, fingerprint);
    check.endGroup(found === undefined);
    tree.add(key, found ?? (await sender.add(group)).entry);
    done += group.size;
    limitHeap();
    events.onProgress?.(Math.min(done, size), size, sender.sent);
  };
  const groups = groupsOf(snapshot, {
    onRow: (row) => files.add(check.row(row)),
    onChunk: (...chunk) => check.chunk(...chunk),
    onVersion: (...version) => check.version(...version),
    onGap: (...gap) => check.gap(...gap),
  });
  for (const group of groups) await add(group);
  for (const group of await keptGroups(dirname(source))) await add(group);
  await sender.finish();
  const root = await tree.finish();
  if (root === undefined) throw new RepositoryError("The store is empty: start the server once");
  const commits = { records: lastCommit(records.sqlite), bytes: lastCommit(bytes.sqlite) };
  const { count, total } = files;
  const format = formatIn(snapshot.get<Deno.KvU64>(keys.format())?.value);
  const info = { time, store, format, files: count, bytes: total, size, commits };
  return { info, root, damage: check.end() };
}

/** Returns the groups of the files beside the store that belong to its backups. */
async function keptGroups(folder: string): Promise<Group[]> {
  const files = [...await keptFiles(folder)].sort(([a], [b]) => a < b ? -1 : 1);
  return files.map(([name, content]) => {
    const rows = new ByteWriter();
    rows.sized(new TextEncoder().encode(name));
    rows.sized(content);
    const bytes = rows.written;
    return {
      key: treeKey(SECTIONS.keptFiles, new TextEncoder().encode(name)),
      fingerprint: fingerprintOf(bytes),
      size: bytes.byteLength,
      isCompressed: true,
      write: (to) => to.bytes(bytes),
    };
  });
}

/** Returns a manifest that counts what its snapshot sends, with itself. @param sent What is sent besides it. */
function withAdded(manifest: Omit<Manifest, "added">, sent: number): Manifest {
  let added = sent;
  // The number may need another digit.
  for (let round = 0; round < 3; round++) {
    added = sent + encodeManifest({ ...manifest, added }).byteLength;
  }
  return { ...manifest, added };
}

/** Counts the files that callers see, and their bytes. */
class FileCounter {
  count = 0;
  total = 0;

  /** @param now Milliseconds since 1970. */
  constructor(private readonly now: number) {}

  add(record: FileRecord | undefined): void {
    if (record === undefined || !isPresent(record, this.now)) return;
    this.count++;
    this.total += record.size;
  }
}

function sizeOf(sqlite: DatabaseSync): number {
  const { bytes } = sqlite
    .prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size")
    .get() ?? {};
  return Number(bytes);
}

function lastCommit(sqlite: DatabaseSync): number {
  return Number(sqlite.prepare("SELECT max(version) AS n FROM data_version").get()?.["n"] ?? 0);
}

/** The niceness of a thread that takes snapshots; that of others is 0. */
const NICENESS = 10;

/**
 * Lets threads that answer requests have the processor before this one. Only Linux knows it of a thread; elsewhere it would
 * be that of the whole server.
 */
export function yieldToRequests(): void {
  if (Deno.build.os === "linux") setPriority(0, NICENESS);
}
