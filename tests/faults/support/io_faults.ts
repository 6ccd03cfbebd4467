import { deadline } from "@std/async/deadline";
import { assertEquals } from "@std/assert";

/** A system call below SQLite that fails, and how. */
export interface IoFault {
  /** Which of the two makes a commit durable is up to how SQLite was built. */
  call: "pwrite64" | "pread64" | "fsync,fdatasync" | "ftruncate";
  error: "EIO" | "ENOSPC";
}

/** Errors that a failing disk, and a full one, gives to a database. */
export const IO_FAULTS: readonly IoFault[] = [
  { call: "pwrite64", error: "EIO" },
  { call: "pwrite64", error: "ENOSPC" },
  { call: "pread64", error: "EIO" },
  { call: "fsync,fdatasync", error: "EIO" },
  { call: "fsync,fdatasync", error: "ENOSPC" },
  { call: "ftruncate", error: "EIO" },
];

/** How long strace may take to attach to a process, or to leave it, in milliseconds. */
const ATTACH_TIME = 20_000;

/** Whether strace is installed and may trace another process here. */
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
 * Makes some calls of a process on its store's files fail until it is disposed of: the `first` one, and then each
 * `every`th. No other file is concerned, and no byte is changed.
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
    const files = ["kvdrive.db", "kvdrive.db-wal"].flatMap((name) => ["-P", `${data}/${name}`]);
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

  /** How many calls have failed so far. */
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
      // It has ended already.
      if (!(error instanceof TypeError)) throw error;
    }
    await deadline(this.strace.status, ATTACH_TIME);
  }
}

/** Waits for a line that matches, and reads on to the end in the background; `false` where there is none. */
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
