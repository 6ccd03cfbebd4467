import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { statfs as statfsWithCallback } from "node:fs";
import { promisify } from "node:util";
import { MIB, patternBytes } from "../../support/bytes.ts";
import type { Answer } from "../../support/answer.ts";
import type { Drive, Upload } from "../../support/drive.ts";
import { storeFilesOf } from "./store_files.ts";
import { assertErrorAnswer } from "../../support/suite.ts";

const statfs = promisify(statfsWithCallback);

export const DISK_SIZE = 64 * MIB;

/** A disk in memory, which is unmounted on disposal. */
export class SmallDisk implements AsyncDisposable {
  private constructor(readonly path: string) {}

  /** Returns `undefined` without the right to mount. */
  static async mount(size = DISK_SIZE): Promise<SmallDisk | undefined> {
    const path = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
    const options = ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path];
    if (await run("mount", options)) return new SmallDisk(path);
    await Deno.remove(path);
    return undefined;
  }

  /** Returns the free space in bytes. */
  async free(): Promise<number> {
    return await freeBytes(this.path);
  }

  /** Gives it more space. */
  async grow(size: number): Promise<void> {
    const isMounted = await run("mount", ["-o", `remount,size=${size}`, this.path]);
    if (!isMounted) throw new Error(`Cannot remount ${this.path}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!await run("umount", [this.path]) && !await run("umount", ["-l", this.path])) {
      throw new Error(`Cannot unmount ${this.path}`);
    }
    await Deno.remove(this.path);
  }
}

async function run(command: string, args: string[]): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(command, { args }).output();
    return success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** Writes a file that uses all free space of its disk, also what a server on it gives back meanwhile. */
export async function fillDisk(path: string): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true });
  do {
    for (let size = MIB; size >= 1;) {
      if (!await write(file, size)) size >>= 1;
    }
  } while (await freeBytes(path) > 0);
}

/** Returns whether there was room. */
async function write(file: Deno.FsFile, size: number): Promise<boolean> {
  try {
    return await file.write(new Uint8Array(size)) > 0;
  } catch (error) {
    if (error instanceof Error && /No space left/.test(error.message)) return false;
    throw error;
  }
}

type Bytes = Uint8Array<ArrayBuffer>;
export type Files = Record<string, Bytes>;

/** Time for the space of deleted files to be reclaimed, in milliseconds: 90 s, and what a slow machine needs beside. */
const RECLAIM_TIMEOUT = 240_000;

/** After how many milliseconds a server tries again to give back the space of a log that a reader kept; and more. */
const LOG_INTERVAL = 3500;

/**
 * Repeats uploads until the disk is full: until one is refused, and again once the server has given back the space of its
 * logs.
 */
export async function untilFull(upload: () => Promise<Answer>, success: number): Promise<void> {
  let refusals = 0;
  for (let index = 0; index < 1000; index++) {
    const answer = await upload();
    if (answer.status === success) continue;
    assertErrorAnswer(answer.expect(507));
    if (++refusals === 2) return;
    await delay(LOG_INTERVAL);
  }
  throw new Error("The disk never became full");
}

/** Uploads files until the disk is full. Returns the acknowledged ones. */
export async function fill(drive: Drive, size: number): Promise<Files> {
  const files: Files = {};
  let index = 0;
  await untilFull(async () => {
    const name = `fill-${index}`;
    const body = patternBytes(size, index);
    const answer = await drive.send("POST", `/files?name=${name}`, { body });
    if (answer.status === 201) {
      files[name] = body;
      index++;
    }
    return answer;
  }, 201);
  return files;
}

/** Asserts that every kind of upload is rejected and changes nothing. */
export async function assertFull(drive: Drive, upload: Upload, bytes: Bytes): Promise<void> {
  await drive.unchangedBy(async () => {
    for (const name of ["new", "fill-0"]) {
      assertErrorAnswer(
        (await drive.send("POST", `/files?name=${name}`, { body: bytes })).expect(507),
      );
    }
    assertErrorAnswer((await upload.send(1, bytes)).expect(507));
  });
}

/** Repeats an upload until it is accepted. */
export async function uploadOnceAccepted(
  drive: Drive,
  name: string,
  bytes: Bytes,
): Promise<void> {
  const until = performance.now() + RECLAIM_TIMEOUT;
  for (;;) {
    const answer = await drive.send("POST", `/files?name=${name}`, { body: bytes });
    if (answer.status === 201) return;
    assertEquals(answer.status, 507, answer.text);
    assert(performance.now() < until, "The space of deleted files was not reclaimed");
    await delay(200);
  }
}

/** Holds a read transaction on a server's store in another process, like a backup of a large store. */
export class LongReader implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;

  private constructor(process: Deno.ChildProcess) {
    this.#process = process;
  }

  static async open(data: string): Promise<LongReader> {
    const code = `import { DatabaseSync } from "node:sqlite";
      const files = ${JSON.stringify(storeFilesOf(data))}.map((path) => new DatabaseSync(path));
      for (const sqlite of files) {
        sqlite.exec("BEGIN");
        sqlite.prepare("SELECT count(*) FROM sqlite_master").all();
      }
      console.log("reading");
      setTimeout(() => {}, 300_000);`;
    const process = new Deno.Command(Deno.execPath(), {
      args: ["eval", code],
      stdout: "piped",
    }).spawn();
    const reader = process.stdout.getReader();
    await reader.read();
    reader.releaseLock();
    await process.stdout.cancel();
    return new LongReader(process);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
  }
}
