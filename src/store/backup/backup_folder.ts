import { basename } from "@std/path/basename";
import { join } from "@std/path/join";
import { MINUTE, SECOND } from "../../rules/units.ts";
import { companionsOf, exists, makePrivate } from "../disk/durable_file.ts";

const BACKUP_NAME = /^kvdrive-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.db$/;

/** How far a backup's name may be ahead of our clock, in milliseconds: clocks are corrected now and then. */
const CLOCK_TOLERANCE = MINUTE;

/** The first bytes of a SQLite database (sqlite.org/fileformat.html, 1.3). */
const SQLITE_HEADER = "SQLite format 3\0";

/** A folder of backups that are named by their time. Files with other names are left alone. */
export class BackupFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Creates the folder, checks that files can be created in it, and makes its backups private; throws what the system
   * throws.
   */
  async prepare(): Promise<void> {
    await Deno.mkdir(this.path, { recursive: true, mode: 0o700 });
    await Deno.remove(await Deno.makeTempFile({ dir: this.path, prefix: ".kvdrive-" }));
    await makePrivate((await this.#list()).map(({ name }) => join(this.path, name)));
  }

  /**
   * Returns the file for a backup that is made now. If the clock was set back and that name is in use, it is the next
   * free one.
   *
   * @param now Milliseconds since 1970.
   */
  async fileAt(now: number): Promise<string> {
    for (let time = now;; time += SECOND) {
      const name = new Date(time).toISOString().slice(0, 19).replaceAll(":", "-");
      const path = join(this.path, `kvdrive-${name}Z.db`);
      const isUsed = await Promise.all([path, ...companionsOf(path)].map(exists));
      if (!isUsed.includes(true)) return path;
    }
  }

  /** The lock of the process that makes a backup: one at a time. Earlier versions wrote their copies to it. */
  get lock(): string {
    return join(this.path, "kvdrive-backup.part");
  }

  /** The file that keeps the newest copy of a damaged store. It is no backup and replaces none. */
  get damaged(): string {
    return join(this.path, "kvdrive-damaged.db");
  }

  /**
   * Returns when the newest complete backup was made, in milliseconds since 1970; `undefined` if there is none. Files
   * dated in the future do not count: the clock was wrong when they were made, or is wrong now.
   *
   * @param now Milliseconds since 1970.
   */
  async newest(now: number): Promise<number | undefined> {
    for (const { name, time } of await this.#list()) {
      if (time <= now + CLOCK_TOLERANCE && await isDatabase(join(this.path, name))) return time;
    }
    return undefined;
  }

  /**
   * Removes the oldest backups until `keep` are left. The newest backup always stays, and so do files dated after it,
   * which are not counted.
   *
   * @param newest The file of the backup just made.
   * @returns The names of the removed files.
   */
  async prune(keep: number, newest: string): Promise<string[]> {
    const last = timeOf(basename(newest)) ?? -Infinity;
    const counted = (await this.#list()).filter(({ time }) => time <= last);
    const old = counted.slice(Math.max(1, keep)).map(({ name }) => name);
    for (const name of old) await Deno.remove(join(this.path, name));
    return old;
  }

  /** The backups of this folder, newest first. */
  async #list(): Promise<{ name: string; time: number }[]> {
    const found: { name: string; time: number }[] = [];
    for await (const { name, isFile } of Deno.readDir(this.path)) {
      const time = isFile ? timeOf(name) : undefined;
      if (time !== undefined) found.push({ name, time });
    }
    return found.sort((a, b) => b.time - a.time);
  }
}

/**
 * Returns whether a file starts as a SQLite database does. That is enough: a backup gets its name only once it is
 * whole.
 */
export async function isDatabase(path: string): Promise<boolean> {
  try {
    using file = await Deno.open(path);
    const head = new Uint8Array(SQLITE_HEADER.length);
    return await file.read(head) === head.length &&
      new TextDecoder().decode(head) === SQLITE_HEADER;
  } catch (error) {
    // Removed since the folder was listed, or another user's.
    if (error instanceof Deno.errors.NotFound) return false;
    if (error instanceof Deno.errors.PermissionDenied) return false;
    throw error;
  }
}

/** Returns the time in a backup's name, in milliseconds since 1970; `undefined` for other names. */
function timeOf(name: string): number | undefined {
  const [, day, ...clock] = BACKUP_NAME.exec(name) ?? [];
  const time = Date.parse(`${day}T${clock.join(":")}Z`);
  return Number.isNaN(time) ? undefined : time;
}
