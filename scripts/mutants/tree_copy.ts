import { join } from "@std/path/join";
import { spawn } from "node:child_process";
import { cp } from "node:fs/promises";
import { configOf } from "../test/test_file.ts";

/** How a run of tests ended. */
export interface TestRun {
  /** `broken`: it failed, but no test did; a file could not be loaded. */
  outcome: "passed" | "failed" | "timed out" | "broken";
  /** The name of the first test that failed. */
  failedTest: string | undefined;
  output: string;
  /** In milliseconds. */
  time: number;
}

/** A copy of the project in a temporary folder, in which sources are changed and tested. */
export class TreeCopy implements AsyncDisposable {
  readonly #folder: string;
  readonly #signal: AbortSignal | undefined;

  private constructor(folder: string, signal: AbortSignal | undefined) {
    this.#folder = folder;
    this.#signal = signal;
  }

  /**
   * Copies a project.
   *
   * @param parts Files and folders of the project. Those that do not exist are left out.
   * @param dir Where the temporary folder is made.
   * @param signal Ends the running tests.
   */
  static async make(
    { root, parts }: { root: string; parts: readonly string[] },
    { dir, signal }: { dir?: string | undefined; signal?: AbortSignal | undefined },
  ): Promise<TreeCopy> {
    const options = { prefix: "kvdrive-mutants-", ...(dir === undefined ? {} : { dir }) };
    const folder = await Deno.makeTempDir(options);
    await Deno.mkdir(join(folder, "tmp"));
    for (const part of parts) {
      await cp(join(root, part), join(folder, "tree", part), { recursive: true })
        .catch(ignoreMissing);
    }
    return new TreeCopy(folder, signal);
  }

  /** Returns a file; `undefined` if it does not exist. */
  async read(file: string): Promise<string | undefined> {
    try {
      return await Deno.readTextFile(this.#path(file));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }

  async write(file: string, text: string): Promise<void> {
    await Deno.writeTextFile(this.#path(file), text);
  }

  /**
   * Runs test files until the first test fails.
   *
   * @param limit In milliseconds. Then the tests are ended with all processes that they have started.
   */
  async test(files: readonly string[], limit: number): Promise<TestRun> {
    const groups = Map.groupBy(files, (file) => configOf(file).join(" "));
    let run: TestRun = { outcome: "passed", failedTest: undefined, output: "", time: 0 };
    for (const group of groups.values()) {
      const { time, output, ...rest } = await this.#test(group, limit - run.time);
      run = { ...rest, output: run.output + output, time: run.time + time };
      if (run.outcome !== "passed") break;
    }
    return run;
  }

  /** Runs test files that have one configuration. */
  async #test(files: readonly string[], limit: number): Promise<TestRun> {
    const config = files.slice(0, 1).flatMap(configOf);
    const options = ["--no-check", "--no-prompt", "-A", "--fail-fast", "--reporter=tap"];
    const { code, output, time } = await this.#run(
      ["test", ...config, ...options, ...files],
      limit,
    );
    // A step of a test is indented; its test fails as well.
    const failedTest = /^not ok \d+ - (.*)$/m.exec(output)?.[1]?.replaceAll("\\#", "#");
    if (code === 0) return { outcome: "passed", failedTest: undefined, output, time };
    if (time >= limit) return { outcome: "timed out", failedTest, output, time };
    const hasRun = failedTest !== undefined || /^\s*ok \d+ - /m.test(output);
    return { outcome: hasRun ? "failed" : "broken", failedTest, output, time };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#folder, { recursive: true });
  }

  #path(file: string): string {
    return join(this.#folder, "tree", file);
  }

  /** Runs Deno in a process group of its own, so that servers of tests that were ended do not stay. */
  async #run(
    args: readonly string[],
    limit: number,
  ): Promise<{ code: number | null; output: string; time: number }> {
    const started = performance.now();
    const child = spawn(Deno.execPath(), args, {
      cwd: join(this.#folder, "tree"),
      env: {
        ...Deno.env.toObject(),
        NO_COLOR: "1",
        TMPDIR: join(this.#folder, "tmp"),
        // Some tests need a real disk.
        KVDRIVE_TEST_DISK: Deno.env.get("TMPDIR") ?? "/tmp",
      },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const endGroup = () => child.pid !== undefined && endProcessGroup(child.pid);
    const timer = setTimeout(endGroup, limit);
    this.#signal?.addEventListener("abort", endGroup);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => output += text);
    }
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on("exit", resolve).on("error", reject);
    });
    clearTimeout(timer);
    this.#signal?.removeEventListener("abort", endGroup);
    endGroup();
    return { code, output, time: performance.now() - started };
  }
}

function endProcessGroup(id: number): void {
  try {
    Deno.kill(-id, "SIGKILL");
  } catch (error) {
    // All of its processes have ended.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function ignoreMissing(error: unknown): void {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  if (!isMissing) throw error;
}
