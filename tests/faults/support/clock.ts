import { assert } from "@std/assert";
import { delay } from "@std/async/delay";
import { Drive } from "../../support/drive.ts";
import { TestServer } from "../../support/server.ts";

const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

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

  /** Sets the clock. @param offset Milliseconds after the correct time, negative for before. */
  async set(offset: number): Promise<void> {
    const seconds = offset / 1000;
    // Replaced atomically: processes read it at any time.
    await Deno.writeTextFile(`${this.file}.new`, seconds < 0 ? `${seconds}` : `+${seconds}`);
    await Deno.rename(`${this.file}.new`, this.file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.file);
  }
}

/** A server with a clock of its own. */
export class ClockedServer implements AsyncDisposable {
  private probes = 0;

  private constructor(readonly server: TestServer, private readonly clock: FakeClock) {}

  /** @throws {Error} if libfaketime is not installed. */
  static async start(args: string[]): Promise<ClockedServer> {
    const clock = await FakeClock.make();
    return new ClockedServer(await TestServer.start({ args, env: clock.env }), clock);
  }

  /** Sets the clock to `offset` milliseconds after this machine's, and waits until new files have that date. */
  async setClock(offset: number): Promise<void> {
    await this.clock.set(offset);
    const end = performance.now() + 60_000;
    while (Math.abs(await this.offset() - offset) > MINUTE) {
      assert(performance.now() < end, "The server's clock was not set");
      await delay(20);
    }
  }

  /**
   * Returns how far the server's clock is ahead of this machine's, in milliseconds. (Its header `Date` never goes back.)
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
    await this.clock[Symbol.asyncDispose]();
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
