import { dirname, join } from "@std/path";
import { ROOT } from "../package/parts.ts";

/** Most time that the tests of one change may take, in milliseconds. A change that makes them hang is noticed. */
const TIME_LIMIT = 120_000;

/** A copy of the tree in a temporary folder, with what is not committed yet. */
export class TreeCopy implements AsyncDisposable {
  /** What tests print that fail without a change, by the files; `undefined` for those that pass. */
  readonly #failures = new Map<string, Promise<string | undefined>>();

  private constructor(readonly folder: string) {}

  static async make(): Promise<TreeCopy> {
    const folder = await Deno.makeTempDir({ prefix: "kvdrive-mutants-" });
    const list = new Deno.Command("git", {
      args: ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
      cwd: ROOT,
    });
    const names = new TextDecoder().decode((await list.output()).stdout).split("\0");
    for (const name of names) {
      if (name === "") continue;
      await Deno.mkdir(dirname(join(folder, name)), { recursive: true });
      await Deno.copyFile(join(ROOT, name), join(folder, name)).catch(ignoreMissing);
    }
    return new TreeCopy(folder);
  }

  async read(file: string): Promise<string> {
    return await Deno.readTextFile(join(this.folder, file));
  }

  async write(file: string, text: string): Promise<void> {
    await Deno.writeTextFile(join(this.folder, file), text);
  }

  /** Runs tests without a change, once. @returns what they print if they fail. */
  async failureWithout(tests: readonly string[]): Promise<string | undefined> {
    const key = tests.join(" ");
    const failure = this.#failures.get(key) ?? this.test(tests);
    this.#failures.set(key, failure);
    return await failure;
  }

  /** Runs tests until the first fails. @returns what they print if one fails or the time is over. */
  async test(tests: readonly string[]): Promise<string | undefined> {
    const process = new Deno.Command(Deno.execPath(), {
      args: ["test", "--quiet", "--no-check", "--no-prompt", "-A", "--fail-fast", ...tests],
      cwd: this.folder,
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      signal: AbortSignal.timeout(TIME_LIMIT),
    });
    const { success, stdout, stderr } = await process.output();
    const decoder = new TextDecoder();
    return success ? undefined : decoder.decode(stdout) + decoder.decode(stderr);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

function ignoreMissing(error: unknown): void {
  // A file that was removed and not committed yet.
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
