import { DAY, MINUTE } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { isPresent } from "../files/file_record.ts";
import { readMany } from "../reads/read_queue.ts";
import type { DamageRecord, FileRecord, Place } from "../engine/records.ts";

/** Damaged files that are recorded; more of them are only logged. An entry has at most about 1.5 KB. */
export const MAX_DAMAGED_FILES = 1000;

/**
 * The shortest and the longest time between two checks of a damaged file, in milliseconds. In between, the time is as long
 * as the damage was known at the last check: a file that the disk could not read for an hour is read again within two.
 */
const MIN_RECHECK = MINUTE;
const MAX_RECHECK = DAY;

/** A file whose bytes are missing or wrong. */
export interface Damage extends DamageRecord {
  place: Place;
}

/** The record of damaged files. An entry is of one version and is dropped when the file gets another one. */
export class DamagedFiles {
  constructor(private readonly db: Database) {}

  /**
   * Records that a version of a file is damaged, if the file still has that version. Returns whether that is new.
   *
   * @param problem The end of a sentence.
   * @param isChecked Whether the whole file was read. If not, it is due for a check at once.
   */
  async note(
    place: Place,
    version: string,
    problem: string,
    { isChecked = false }: { isChecked?: boolean } = {},
  ): Promise<boolean> {
    const [file, entry] = await this.db.reader.getMany<[FileRecord, DamageRecord]>([
      keys.file(place),
      keys.damage(place),
    ]);
    if (versionOf(file) !== version) return false;
    const known = entry.value?.version === version ? entry.value : undefined;
    if (known !== undefined && !isChecked) return false;
    if (known === undefined && (await this.list()).length >= MAX_DAMAGED_FILES) return true;
    const now = Date.now();
    const checked = isChecked ? { checked: now } : {};
    const damage: DamageRecord = { version, problem, found: known?.found ?? now, ...checked };
    const operation = new Operation()
      .unchanged(file, entry)
      .set(entry.key, damage);
    return (await this.db.commit(operation)).ok && known === undefined;
  }

  /** Drops the entry of a version whose bytes are right. Returns whether there was one. */
  async clear(place: Place, version: string): Promise<boolean> {
    const { key, value, versionstamp } = await this.db.reader.get<DamageRecord>(
      keys.damage(place),
    );
    if (value?.version !== version) return false;
    return (await this.db.commit(new Operation().check(key, versionstamp).delete(key))).ok;
  }

  /** Returns the files that are due for another check: a fault of the disk may have passed. */
  async due(): Promise<Damage[]> {
    const now = Date.now();
    return (await this.list()).filter(({ found, checked }) => {
      if (checked === undefined) return true;
      const passed = now - checked;
      // If the clock was set back, the check is due as well.
      return passed < 0 || passed >= Math.min(Math.max(checked - found, MIN_RECHECK), MAX_RECHECK);
    });
  }

  /** Returns all damaged files in the order of their keys. */
  async list(): Promise<Damage[]> {
    const entries = await Array.fromAsync(
      this.db.reader.list<DamageRecord>({ prefix: prefixes.all("damage") }),
    );
    const places = entries.map(({ key }) => placeOf(key));
    const files = await readMany<FileRecord>(this.db.reader, places.map(keys.file));
    const damages: Damage[] = [];
    for (const [i, { key, value, versionstamp }] of entries.entries()) {
      const place = places[i];
      if (place === undefined) continue;
      const file = files[i];
      const isOfFile = file !== undefined && versionOf(file) === value.version &&
        (file.value === null || isPresent(file.value, Date.now()));
      if (isOfFile) damages.push({ place, ...value });
      else await this.db.commit(new Operation().check(key, versionstamp).delete(key));
    }
    return damages;
  }
}

/** Returns the version that damage is known by: of a record that cannot be read, the versionstamp. */
export function versionOf({ value, versionstamp }: Deno.KvEntryMaybe<FileRecord>): string | null {
  return value?.version ?? versionstamp;
}

/** Returns the file that a key is of. The key has a kind, then a project, a drive and a name. */
export function placeOf(key: Deno.KvKey): Place {
  const [, project = "", drive = "", name = ""] = key.map(String);
  return { project, drive, name };
}
