import { join } from "@std/path";

const PATTERN = /^kvdrive-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.db$/;

/** How far ahead of our clock the newest backup may be and still count, in milliseconds: clocks are set. */
const CLOCK_STEP = 60_000;

/** A folder of backups that are named by their time. Whatever has another name is somebody else's. */
export class BackupFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Makes the folder and looks whether files can be made in it; throws what the system throws. */
  async prepare(): Promise<void> {
    await Deno.mkdir(this.path, { recursive: true, mode: 0o700 });
    await Deno.remove(await Deno.makeTempFile({ dir: this.path, prefix: ".kvdrive-" }));
  }

  /** The file of a backup that is made at a time, in milliseconds since 1970. */
  fileAt(time: number): string {
    const name = new Date(time).toISOString().slice(0, 19).replaceAll(":", "-");
    return join(this.path, `kvdrive-${name}Z.db`);
  }

  /** Where each backup of this folder is made before it has its name: one process at a time. */
  get temporary(): string {
    return join(this.path, "kvdrive-backup.part");
  }

  /** When the next backup is due, if one is to be made every so often. */
  async dueAt(every: number, now: number): Promise<number> {
    const times = (await this.#list()).map(({ time }) => time);
    const newest = Math.max(...times.filter((time) => time <= now + CLOCK_STEP), -Infinity);
    return newest + every;
  }

  /** Removes all but the newest; gives the names of what it removed. */
  async prune(keep: number): Promise<string[]> {
    const backups = (await this.#list()).sort((a, b) => b.time - a.time);
    const old = backups.slice(keep).map(({ name }) => name);
    for (const name of old) await Deno.remove(join(this.path, name));
    return old;
  }

  async #list(): Promise<{ name: string; time: number }[]> {
    const found: { name: string; time: number }[] = [];
    for await (const { name, isFile } of Deno.readDir(this.path)) {
      const time = isFile ? timeOf(name) : undefined;
      if (time !== undefined) found.push({ name, time });
    }
    return found;
  }
}

/** When a backup with this name was made, in milliseconds since 1970; `undefined` where it is none. */
function timeOf(name: string): number | undefined {
  const [, day, ...clock] = PATTERN.exec(name) ?? [];
  const time = Date.parse(`${day}T${clock.join(":")}Z`);
  return Number.isNaN(time) ? undefined : time;
}
