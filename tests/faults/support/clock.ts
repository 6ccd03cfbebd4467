import { assert } from "@std/assert";
import { delay } from "@std/async/delay";
import { Folder } from "../../support/command.ts";
import { Drive } from "../../support/drive.ts";
import { TestServer } from "../../support/server.ts";

/** Possible paths of the library of faketime, which replaces the system clock of a process. */
const LIBRARIES = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib/faketime/libfaketimeMT.so.1",
];

const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** A server whose system clock can be set while it runs. Its monotonic clock is not affected. */
export class ClockedServer implements AsyncDisposable {
  private probes = 0;

  private constructor(
    readonly server: TestServer,
    private readonly folder: Folder,
    private readonly file: string,
  ) {}

  /** Starts a server. Returns `undefined` if faketime is not installed. */
  static async start(args: string[], data?: string): Promise<ClockedServer | undefined> {
    const library = LIBRARIES.find(isFile);
    if (library === undefined) return undefined;
    const folder = await Folder.make();
    const file = await folder.write("clock", "+0\n");
    const server = await TestServer.start({
      args,
      ...(data === undefined ? {} : { data }),
      env: {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        DONT_FAKE_MONOTONIC: "1",
      },
    });
    return new ClockedServer(server, folder, file);
  }

  /**
   * Sets the server's clock to `offset` milliseconds after this machine's, and waits until new files have that date.
   */
  async setClock(offset: number): Promise<void> {
    // Replaced atomically: the library reads it whenever the server reads the clock.
    await Deno.writeTextFile(`${this.file}.new`, `${offset < 0 ? "" : "+"}${offset / 1000}\n`);
    await Deno.rename(`${this.file}.new`, this.file);
    const end = performance.now() + 10_000;
    while (Math.abs(await this.offset() - offset) > MINUTE) {
      assert(performance.now() < end, "The server's clock was not set");
      await delay(20);
    }
  }

  /**
   * Returns how far the server's clock is ahead of this machine's, in milliseconds. (Its header `Date` never goes
   * back.)
   */
  private async offset(): Promise<number> {
    const probe = new Drive(this.server, "clock-probe");
    const name = `${this.probes++}`;
    await probe.put(name, "");
    const { headers } = await probe.get(name);
    return Date.parse(headers.get("Last-Modified") ?? "") - Date.now();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The path of Debian's libfaketime on all architectures. */
const LIBRARY = /\/libfaketimeMT\.so\.1$/;

/** The system clock of processes that are started with `env`. Their monotonic clock is not affected. */
export class FakeClock implements AsyncDisposable {
  private constructor(readonly env: Record<string, string>, private readonly file: string) {}

  /** @throws {Error} if libfaketime is not installed. */
  static async make(): Promise<FakeClock> {
    const library = await findLibrary();
    const file = await Deno.makeTempFile({ prefix: "kvdrive-test-" });
    const clock = new FakeClock({
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
    }, file);
    await clock.set(0);
    return clock;
  }

  /** Sets the clock. @param offset Seconds after the correct time, negative for before. */
  async set(offset: number): Promise<void> {
    // Replaced atomically: processes read it at any time.
    await Deno.writeTextFile(`${this.file}.new`, offset < 0 ? `${offset}` : `+${offset}`);
    await Deno.rename(`${this.file}.new`, this.file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.file);
  }
}

async function findLibrary(): Promise<string> {
  const { stdout } = await new Deno.Command("dpkg", { args: ["-L", "libfaketime"] }).output();
  const path = new TextDecoder().decode(stdout).split("\n").find((line) => LIBRARY.test(line));
  if (path === undefined) {
    throw new Error("These tests need libfaketime: apt-get install libfaketime");
  }
  return path;
}
