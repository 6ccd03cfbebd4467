/**
 * The entries of a grant: its record, its place in the list of its credential, and the entries of the garbage journal
 * that delete both at its deadline. They are made and deleted together.
 *
 * A grant refers to its credential by a SHA-256, which is looked up at each use, so revoking a key needs no write to its
 * grants. They are deleted after it, so that a key which is made again does not revive them. The kind is a part of the
 * key of the entry, so a token of one kind is never one of another.
 *
 * @module
 */
import { setExpiring } from "../bytes/garbage.ts";
import type { Database } from "../engine/database.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { MAX_COMMIT_BYTES, Operation } from "../engine/operation.ts";
import type { GrantIndexRecord, GrantKind, GrantRecord } from "../engine/records.ts";

export interface Grant<T extends GrantRecord = GrantRecord> {
  kind: GrantKind;
  /** SHA-256 of its token. */
  hash: string;
  record: T;
}

/** What names all entries of a grant. */
interface GrantEntries {
  kind: GrantKind;
  hash: string;
  owner: string;
  id: string;
  expires: number;
}

/** Returns the journal's ids of the entries that delete a grant. */
function journalIds(hash: string): { record: string; index: string } {
  return { record: hash, index: `${hash}.index` };
}

function indexOf({ hash, record }: Grant<GrantRecord & { project?: string }>): GrantIndexRecord {
  const { expires, owner, project = owner.project } = record;
  return { hash, expires, ...(project === undefined ? {} : { project }) };
}

/** Adds a grant, or changes one whose deadline stays. */
export function setGrant(operation: Operation, grant: Grant): void {
  const { kind, hash, record: value } = grant;
  const { owner, id, expires: deadline } = value;
  const index = indexOf(grant);
  const place = { project: index.project ?? "" };
  const ids = journalIds(hash);
  const listed = keys.grantOf(owner.hash, kind, id);
  setExpiring(operation, place, { key: listed, value: index, deadline, id: ids.index });
  setExpiring(operation, place, { key: keys.grant(kind, hash), value, deadline, id: ids.record });
}

/** Returns the keys of the journal's entries that delete a grant. */
export function grantJournalKeys(hash: string, expires: number): Deno.KvKey[] {
  return Object.values(journalIds(hash)).map((id) => keys.garbage(expires, id));
}

export function deleteGrant(operation: Operation, { kind, hash, record }: Grant): void {
  const { id, owner, expires } = record;
  deleteEntries(operation, { kind, hash, owner: owner.hash, id, expires });
}

/** Adds the deletion of a grant that was found in the list of its credential. */
export function deleteListedGrant(
  operation: Operation,
  { key, value: { hash, expires } }: Pick<Deno.KvEntry<GrantIndexRecord>, "key" | "value">,
): void {
  const [, owner = "", kind = "", id = ""] = key.map(String);
  deleteEntries(operation, { kind: kind as GrantKind, hash, owner, id, expires });
}

function deleteEntries(
  operation: Operation,
  { kind, hash, owner, id, expires }: GrantEntries,
): void {
  for (const key of grantJournalKeys(hash, expires)) operation.delete(key);
  operation.delete(keys.grantOf(owner, kind, id)).delete(keys.grant(kind, hash));
}

/** Returns the list of the grants of a credential, the oldest first. @param owner Its SHA-256. */
export async function listGrants(
  db: Database,
  owner: string,
  kind?: GrantKind,
): Promise<Deno.KvEntry<GrantIndexRecord>[]> {
  const prefix = prefixes.all("grant_of", owner, ...(kind === undefined ? [] : [kind]));
  return await Array.fromAsync(db.reader.list<GrantIndexRecord>({ prefix }));
}

export async function deleteGrants(
  db: Database,
  listed: readonly Deno.KvEntry<GrantIndexRecord>[],
): Promise<void> {
  let batch = new Operation();
  for (const entry of listed) {
    const step = new Operation();
    deleteListedGrant(step, entry);
    if (!batch.hasRoomFor(step, MAX_COMMIT_BYTES)) {
      await db.commitBulk(batch);
      batch = new Operation();
    }
    batch.add(step);
  }
  if (listed.length > 0) await db.commitBulk(batch);
}

/**
 * Deletes the oldest grants of a credential until there is room for another one. Two processes at the same time may leave
 * one more.
 *
 * @returns The hashes of the deleted ones.
 */
export async function makeRoom(
  db: Database,
  owner: string,
  kind: GrantKind,
  limit: number,
): Promise<string[]> {
  const listed = await listGrants(db, owner, kind);
  const surplus = listed.slice(0, Math.max(0, listed.length + 1 - limit));
  await deleteGrants(db, surplus);
  return surplus.map(({ value }) => value.hash);
}

/** Deletes all grants of a credential that is no longer valid. @param owner Its SHA-256. */
export async function endGrants(db: Database, owner: string): Promise<void> {
  await deleteGrants(db, await listGrants(db, owner));
}
