import type { Database } from "./database.ts";
import { keys, prefixes } from "./keys.ts";
import { Operation } from "./operation.ts";
import { readMany } from "./read_many.ts";
import type { DamageRecord, FileRecord, Place } from "./records.ts";

/** Damaged files that are remembered; more of them are only logged. Each entry has some 1.5 KB at the most. */
export const MAX_DAMAGES = 1000;

/** A file whose bytes are missing or wrong. */
export interface Damage extends DamageRecord {
  place: Place;
}

/** The damaged files that were found. What is said of a version ends with it: entries of others are dropped. */
export class Damages {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Remembers that a version of a file is damaged, if it is still the file's. Returns whether that was not known yet.
   *
   * @param problem The end of a sentence.
   */
  async note(place: Place, version: string, problem: string): Promise<boolean> {
    const [file, known] = await this.#db.reader.getMany<[FileRecord, DamageRecord]>([
      keys.file(place),
      keys.damage(place),
    ]);
    if (file.value?.version !== version || known.value?.version === version) return false;
    if ((await this.list()).length >= MAX_DAMAGES) return true;
    const damage: DamageRecord = { version, problem, found: Date.now() };
    const operation = new Operation()
      .check(file.key, file.versionstamp)
      .check(known.key, known.versionstamp)
      .set(known.key, damage);
    return (await this.#db.commit(operation)).ok;
  }

  /** Forgets what was said of a file, whose bytes are right again. */
  async clear(place: Place): Promise<void> {
    const { key, value } = await this.#db.reader.get(keys.damage(place));
    if (value !== null) await this.#db.commit(new Operation().delete(key));
  }

  /** All that are known, in the order of their keys. */
  async list(): Promise<Damage[]> {
    const entries = await Array.fromAsync(
      this.#db.reader.list<DamageRecord>({ prefix: prefixes.all("damage") }),
    );
    const places = entries.map(({ key }) => placeOf(key));
    const files = await readMany<FileRecord>(this.#db.reader, places.map(keys.file));
    const damages: Damage[] = [];
    for (const [i, { key, value, versionstamp }] of entries.entries()) {
      const place = places[i];
      if (place === undefined) continue;
      if (files[i]?.value?.version === value.version) damages.push({ place, ...value });
      else await this.#db.commit(new Operation().check(key, versionstamp).delete(key));
    }
    return damages;
  }
}

/** The file that a key is of whose parts behind the first are a project, a drive and a name. */
export function placeOf(key: Deno.KvKey): Place {
  const [, project = "", drive = "", name = ""] = key.map(String);
  return { project, drive, name };
}
