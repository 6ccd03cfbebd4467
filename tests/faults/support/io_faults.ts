import { deadline } from "@std/async/deadline";
import { assertEquals } from "@std/assert";
import { storeFilesOf } from "./store_files.ts";

/** A failing system call of SQLite, and its error. */
export interface IoFault {
  /** It depends on the build of SQLite whether fsync or fdatasync makes a commit durable. */
  call: "pwrite64" | "pread64" | "fsync,fdatasync" | "ftruncate";
  error: "EIO" | "ENOSPC";
}

/** The errors that a database gets from a failing or full disk. */
export const IO_FAULTS: readonly IoFault[] = [
  { call: "pwrite64", error: "EIO" },
  { call: "pwrite64", error: "ENOSPC" },
  { call: "pread64", error: "EIO" },
  { call: "fsync,fdatasync", error: "EIO" },
  { call: "fsync,fdatasync", error: "ENOSPC" },
  { call: "ftruncate", error: "EIO" },
];

/** Time for strace to attach to a process or to detach from it, in milliseconds. */
const ATTACH_TIME = 60_000;

/** Whether strace is installed and may trace other processes. */
export async function canInject(): Promise<boolean> {
  const sleeper = new Deno.Command("sleep", { args: ["60"] }).spawn();
  try {
    const strace = new Deno.Command("strace", {
      args: ["-p", String(sleeper.pid), "-o", "/dev/null", "-e", "trace=fsync"],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const attached = await firstLine(strace.stderr, /attached/);
    if (attached) strace.kill("SIGINT");
    await strace.status;
    return attached;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  } finally {
    sleeper.kill("SIGKILL");
    await sleeper.status;
  }
}

/**
 * Makes calls of a process on its store's files fail until disposal: the `first` one, and then each `every`th. Other
 * files are not affected, and no byte is changed.
 */
export class FailingDisk implements AsyncDisposable {
  private constructor(private readonly strace: Deno.ChildProcess, readonly log: string) {}

  static async begin(
    pid: number,
    data: string,
    { call, error }: IoFault,
    { first, every }: { first: number; every: number },
  ): Promise<FailingDisk> {
    const log = await Deno.makeTempFile({ prefix: "kvdrive-test-" });
    const files = storeFilesOf(data).flatMap((path) => ["-P", path, "-P", `${path}-wal`]);
    const strace = new Deno.Command("strace", {
      args: [
        ...["-f", "-p", String(pid), "-o", log, ...files],
        ...["-e", `trace=${call}`, "-e", `inject=${call}:error=${error}:when=${first}+${every}`],
      ],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const attached = await deadline(firstLine(strace.stderr, /attached/), ATTACH_TIME);
    assertEquals(attached, true, "strace cannot attach to the server");
    return new FailingDisk(strace, log);
  }

  /** Returns the number of calls that have failed so far. */
  async failed(): Promise<number> {
    return (await Deno.readTextFile(this.log)).split("(INJECTED)").length - 1;
  }

  /** Ends the faults. */
  async end(): Promise<void> {
    await this[Symbol.asyncDispose]();
    await Deno.remove(this.log);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.strace.kill("SIGINT");
    } catch (error) {
      // It has already ended.
      if (!(error instanceof TypeError)) throw error;
    }
    await deadline(this.strace.status, ATTACH_TIME);
  }
}

/** Waits for a matching line. Returns `false` if the stream ends without one. Reads the rest in the background. */
async function firstLine(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  wanted: RegExp,
): Promise<boolean> {
  const found = Promise.withResolvers<boolean>();
  const readAll = async () => {
    let text = "";
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (wanted.test(text)) found.resolve(true);
    }
    found.resolve(false);
  };
  readAll().catch(found.reject);
  return await found.promise;
}
