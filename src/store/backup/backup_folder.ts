import { basename, join } from "@std/path";
import { exists, makePrivate } from "../disk/durable_file.ts";

const PATTERN = /^kvdrive-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.db$/;

/** How far ahead of our clock the newest backup may be and still count, in milliseconds: clocks are set. */
const CLOCK_STEP = 60_000;

const MAGIC = "SQLite format 3\0";

/** A folder of backups that are named by their time. Whatever has another name is somebody else's. */
export class BackupFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Makes the folder, looks whether files can be made in it, and makes the backups in it private; throws what the system
   * throws.
   */
  async prepare(): Promise<void> {
    await Deno.mkdir(this.path, { recursive: true, mode: 0o700 });
    await Deno.remove(await Deno.makeTempFile({ dir: this.path, prefix: ".kvdrive-" }));
    await makePrivate((await this.#list()).map(({ name }) => join(this.path, name)));
  }

  /**
   * The file of a backup that is made at a time, in milliseconds since 1970. If a clock that was set back has led to a name
   * that is in use, it is the next free one.
   */
  async fileAt(time: number): Promise<string> {
    for (let second = time;; second += 1000) {
      const name = new Date(second).toISOString().slice(0, 19).replaceAll(":", "-");
      const path = join(this.path, `kvdrive-${name}Z.db`);
      if (!await exists(path)) return path;
    }
  }

  /** Where each backup of this folder is made before it has its name: one process at a time. */
  get temporary(): string {
    return join(this.path, "kvdrive-backup.part");
  }

  /** Where the newest copy of a damaged store is kept. It is no backup, and replaces none. */
  get damaged(): string {
    return join(this.path, "kvdrive-damaged.db");
  }

  /**
   * When the newest whole backup was made, in milliseconds since 1970; `undefined` if there is none. Files that are dated in
   * the future do not count: the clock was wrong when they were made, or is now.
   */
  async newest(now: number): Promise<number | undefined> {
    for (const { name, time } of await this.#list()) {
      if (time <= now + CLOCK_STEP && await isDatabase(join(this.path, name))) return time;
    }
    return undefined;
  }

  /**
   * Removes the oldest backups until `keep` are left, and returns the names of those removed. The one just made stays in any
   * case; files that are dated after it stay too and are not counted.
   *
   * @param made The file of the backup just made.
   */
  async prune(keep: number, made: string): Promise<string[]> {
    const last = timeOf(basename(made)) ?? -Infinity;
    const counted = (await this.#list()).filter(({ time }) => time <= last);
    const old = counted.slice(Math.max(1, keep)).map(({ name }) => name);
    for (const name of old) await Deno.remove(join(this.path, name));
    return old;
  }

  /** The backups of this folder, the newest first. */
  async #list(): Promise<{ name: string; time: number }[]> {
    const found: { name: string; time: number }[] = [];
    for await (const { name, isFile } of Deno.readDir(this.path)) {
      const time = isFile ? timeOf(name) : undefined;
      if (time !== undefined) found.push({ name, time });
    }
    return found.sort((a, b) => b.time - a.time);
  }
}

/** Whether a file begins as SQLite's databases do (sqlite.org/fileformat.html, 1.3): backups get their name once whole. */
async function isDatabase(path: string): Promise<boolean> {
  try {
    using file = await Deno.open(path);
    const head = new Uint8Array(MAGIC.length);
    return await file.read(head) === MAGIC.length && new TextDecoder().decode(head) === MAGIC;
  } catch (error) {
    // Removed meanwhile, or not ours to read.
    if (error instanceof Deno.errors.NotFound) return false;
    if (error instanceof Deno.errors.PermissionDenied) return false;
    throw error;
  }
}

/** When a backup with this name was made, in milliseconds since 1970; `undefined` where it is none. */
function timeOf(name: string): number | undefined {
  const [, day, ...clock] = PATTERN.exec(name) ?? [];
  const time = Date.parse(`${day}T${clock.join(":")}Z`);
  return Number.isNaN(time) ? undefined : time;
}
