import { assert } from "@std/assert";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { FileRecord } from "../engine/records.ts";
import { shareBytes } from "../files/shared_bytes.ts";
import { newVersion } from "../bytes/versions.ts";
import { countUsage } from "../quotas/usage.ts";
import { place } from "./bodies.ts";
import type { TestStore } from "./stores.ts";

/** Makes a file a copy of another that shares its bytes, in one operation. */
export async function copy({ db }: Pick<TestStore, "db">, from: string, to: string): Promise<void> {
  const { key, value, versionstamp } = await db.reader.get<FileRecord>(keys.file(place(from)));
  assert(value !== null);
  const operation = new Operation().check(key, versionstamp);
  const record = { ...shareBytes(operation, key, value), version: newVersion() };
  operation.check(keys.file(place(to)), null).set(keys.file(place(to)), record);
  countUsage(operation, place(to), null, record);
  assert((await db.commit(operation)).ok);
}
