import { KEY_PREFIX } from "../drive/limits.ts";
import type { Database } from "./database.ts";
import { decide } from "./decide.ts";
import { keys, prefixes } from "./keys.ts";
import { Operation } from "./operation.ts";
import type { ProjectKeyRecord, ProjectRecord } from "./records.ts";

/** Adds a key, or what it is listed by; fails where another key of the project has that prefix. */
export function setKey(
  operation: Operation,
  hash: string,
  record: ProjectKeyRecord & { prefix: string },
): void {
  const index = keys.projectKeyPrefix(record.project, record.prefix);
  operation.check(index, null).set(index, hash).set(keys.projectKey(hash), record);
}

/** The first prefix for a key that no other key of the project has: the wished one, or as much of the hash as it takes. */
export async function freePrefix(
  db: Database,
  project: string,
  hash: string,
  wished = hash.slice(0, KEY_PREFIX),
): Promise<string> {
  const candidates = [wished, ...[1, 2, 4].map((times) => hash.slice(0, times * KEY_PREFIX)), hash];
  const found = await db.reader.getMany<unknown[]>(
    candidates.map((prefix) => keys.projectKeyPrefix(project, prefix)),
  );
  return candidates[found.findIndex(({ value }) => value === null)] ?? hash;
}

/** Gives the keys of older stores, of which only the hash is there, something to be listed by. */
export async function indexOldKeys(db: Database): Promise<void> {
  const all = db.reader.list<ProjectKeyRecord>({ prefix: prefixes.projectKeys() });
  for await (const { key, value } of all) {
    if (value.prefix === undefined) await indexOldKey(db, String(key.at(-1)));
  }
}

async function indexOldKey(db: Database, hash: string): Promise<void> {
  await decide(db, async () => {
    const { key, value, versionstamp } = await db.reader.get<ProjectKeyRecord>(
      keys.projectKey(hash),
    );
    if (value === null || value.prefix !== undefined) return { result: undefined };
    const owner = await db.reader.get<ProjectRecord>(keys.project(value.project));
    if (owner.value === null) return { result: undefined };
    const prefix = await freePrefix(db, value.project, hash);
    const operation = new Operation().check(key, versionstamp).check(owner.key, owner.versionstamp);
    setKey(operation, hash, { ...value, prefix });
    return { operation, result: undefined };
  });
}
