/** Where Debian's libfaketime lies, whatever the machine's architecture. */
const LIBRARY = /\/libfaketimeMT\.so\.1$/;

/** The wall clock of the processes that are started with `env`. Their monotonic clock goes on as it does. */
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

  /** @param offset Seconds by which it is ahead of the right time; negative where it is behind. */
  async set(offset: number): Promise<void> {
    // A process that reads the file while it is written sees one text or the other.
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
