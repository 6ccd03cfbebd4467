/**
 * What a name stands for: the one place where operations give a name a file, or take it away. The counters of the drive
 * and its feed of changes follow in the same operation, so no change can be without them.
 *
 * @module
 */
import { keys } from "../engine/keys.ts";
import type { NameChange, Operation } from "../engine/operation.ts";
import type { CachedProject } from "../engine/project_cache.ts";
import type { FileRecord, Place } from "../engine/records.ts";
import { countUsage } from "../quotas/usage.ts";
import { countedRecord } from "./file_record.ts";

type Owner = Pick<CachedProject, "feed" | "webhooks">;

/** The entry of a file's record, as the operation checks it. */
type Current = Deno.KvEntryMaybe<FileRecord>;

/** Adds that a name has this record. */
export function setFile(
  operation: Operation,
  owner: Owner,
  place: Place,
  current: Current,
  record: FileRecord,
): void {
  replace(operation, place, current, record);
  // Another deadline is no change of what the name stands for.
  if (record.version !== current.value?.version) {
    announce(operation, owner, place, { type: "put", name: place.name, ...described(record) });
  }
}

/** Adds that a name has no file any more. */
export function removeFile(
  operation: Operation,
  owner: Owner,
  place: Place,
  current: Current,
): void {
  operation.delete(keys.file(place));
  countUsage(operation, place, countedRecord(current), null);
  announceRemoval(operation, owner, place);
}

/** Adds that the file of one name has another name, in place of the file that may have had it. */
export function moveFile(
  operation: Operation,
  owner: Owner,
  { from, to, source, target }: { from: Place; to: Place; source: Current; target: Current },
  record: FileRecord,
): void {
  operation.delete(keys.file(from));
  countUsage(operation, from, countedRecord(source), null);
  replace(operation, to, target, record);
  const { name } = to;
  if (from.drive === to.drive) {
    const change = { type: "move", name, from: from.name, ...described(record) } as const;
    return announce(operation, owner, to, change);
  }
  announceRemoval(operation, owner, from);
  announce(operation, owner, to, { type: "put", name, ...described(record) });
}

/** Adds to the feed that a name has no file any more: for a deletion of a drive, which counts on its own. */
export function announceRemoval(operation: Operation, owner: Owner, place: Place): void {
  announce(operation, owner, place, { type: "delete", name: place.name });
}

function replace(operation: Operation, place: Place, current: Current, record: FileRecord): void {
  operation.set(keys.file(place), record);
  countUsage(operation, place, countedRecord(current), record);
}

function announce(
  operation: Operation,
  { feed, webhooks }: Owner,
  { project, drive }: Place,
  change: NameChange,
): void {
  if (feed === undefined) return;
  operation.announce(keys.feed(project, feed, drive), change);
  // A counter, as adding to one conflicts with no other operation.
  if (webhooks !== undefined) operation.sum(keys.webhookDue(project, drive), 1);
}

function described({ version, size, type }: FileRecord) {
  return { etag: version, size, content_type: type };
}
