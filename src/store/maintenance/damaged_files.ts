import type { Database } from "../engine/database.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { readMany } from "../engine/read_queue.ts";
import type { DamageRecord, FileRecord, Place } from "../engine/records.ts";

/** Damaged files that are remembered; more of them are only logged. Each entry has some 1.5 KB at the most. */
export const MAX_DAMAGED_FILES = 1000;

/**
 * The shortest and the longest time between two checks of a file that is known to be damaged, in milliseconds. In between
 * it is as long as the damage was known at the last check: what a disk could not read for an hour is read again within
 * two.
 */
const MIN_RECHECK = 60_000;
const MAX_RECHECK = 24 * 60 * MIN_RECHECK;

/** A file whose bytes are missing or wrong. */
export interface Damage extends DamageRecord {
  place: Place;
}

/** The damaged files that were found. What is said of a version ends with it: entries of others are dropped. */
export class DamagedFiles {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Remembers that a version of a file is damaged, if it is still the file's. Returns whether that was not known yet.
   *
   * @param problem The end of a sentence.
   * @param isChecked Whether the whole file was read to find it. Unless it was, it is due for a check at once.
   */
  async note(
    place: Place,
    version: string,
    problem: string,
    { isChecked = false }: { isChecked?: boolean } = {},
  ): Promise<boolean> {
    const [file, entry] = await this.#db.reader.getMany<[FileRecord, DamageRecord]>([
      keys.file(place),
      keys.damage(place),
    ]);
    if (file.value?.version !== version) return false;
    const known = entry.value?.version === version ? entry.value : undefined;
    if (known !== undefined && !isChecked) return false;
    if (known === undefined && (await this.list()).length >= MAX_DAMAGED_FILES) return true;
    const now = Date.now();
    const checked = isChecked ? { checked: now } : {};
    const damage: DamageRecord = { version, problem, found: known?.found ?? now, ...checked };
    const operation = new Operation()
      .check(file.key, file.versionstamp)
      .check(entry.key, entry.versionstamp)
      .set(entry.key, damage);
    return (await this.#db.commit(operation)).ok && known === undefined;
  }

  /** Forgets what was said of a version of a file, whose bytes are right. Returns whether something was. */
  async clear(place: Place, version: string): Promise<boolean> {
    const { key, value, versionstamp } = await this.#db.reader.get<DamageRecord>(
      keys.damage(place),
    );
    if (value?.version !== version) return false;
    return (await this.#db.commit(new Operation().check(key, versionstamp).delete(key))).ok;
  }

  /** Those whose files are to be read again now, as they may be whole: a fault of the disk may pass. */
  async due(): Promise<Damage[]> {
    const now = Date.now();
    return (await this.list()).filter(({ found, checked }) => {
      if (checked === undefined) return true;
      const passed = now - checked;
      // A clock that was set back does not hold it up.
      return passed < 0 || passed >= Math.min(Math.max(checked - found, MIN_RECHECK), MAX_RECHECK);
    });
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
