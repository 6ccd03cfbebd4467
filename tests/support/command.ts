import { assert, assertEquals, assertMatch } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { fromFileUrl } from "@std/path/from-file-url";
import { type CommandResult, endHosted, runHosted } from "./cli/hosted_commands.ts";

/** Where the sources begin, for those who start them in another way. */
export const MAIN = fromFileUrl(new URL("../../main.ts", import.meta.url));

/** An executable that stands for the sources: what `deno task pack` or `deno task compile` makes. */
export const EXECUTABLE = Deno.env.get("KVDRIVE_TEST_PROGRAM");

/**
 * Whether it runs on the oldest Deno, which does not tell the certificate of a server that is none of an authority, nor
 * that a reader has left.
 */
export const IS_OLDEST = Deno.env.has("KVDRIVE_TEST_OLDEST");

/**
 * The words that start the program under test with these arguments. The tests know nothing else of the project.
 *
 * @param runtime The runtime's options, which grant all permissions unless given. An executable has its own inside.
 */
export function programCommand(
  args: readonly string[],
  runtime: readonly string[] = ["-A"],
): [string, ...string[]] {
  return EXECUTABLE === undefined
    ? [Deno.execPath(), "run", ...runtime, MAIN, ...args]
    : [EXECUTABLE, ...args];
}

/** Opens shared stores. The runtime itself reads it, from the environment of the process. */
const STORE_TOKEN = "DENO_KV_ACCESS_TOKEN";

/** How long a command may take that is expected to end by itself. */
const PATIENCE = 90_000;

export type { CommandResult };

/** Starts the program with exactly these arguments; none of our settings are inherited. */
export function spawnProgram(
  args: readonly string[],
  env: Record<string, string>,
  runtime?: readonly string[],
): Deno.ChildProcess {
  const [program, ...words] = programCommand(args, runtime);
  return new Deno.Command(program, {
    args: words,
    env: environment(env),
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/**
 * Runs the program with exactly these arguments until it ends; none of our settings are inherited. The sources run in one
 * process for all commands of a test file; an executable, or the sources with settings of the runtime, in one of its own.
 *
 * @param runtime The runtime's options, which grant all permissions unless given.
 */
export async function runCommand(
  args: readonly string[],
  env: Record<string, string> = {},
  runtime?: readonly string[],
): Promise<CommandResult> {
  if (EXECUTABLE === undefined && runtime === undefined && !(STORE_TOKEN in env)) {
    return await runHostedInTime(args, env);
  }
  const process = spawnProgram(args, env, runtime);
  const output = process.output();
  try {
    const { code, stdout, stderr } = await deadline(output, PATIENCE);
    return { code, stdout: decode(stdout), stderr: decode(stderr) };
  } catch (error) {
    process.kill("SIGKILL");
    const { stdout, stderr } = await output;
    const text = `The program did not end by itself: ${decode(stdout)}${decode(stderr)}`;
    throw new Error(text, { cause: error });
  }
}

async function runHostedInTime(
  args: readonly string[],
  env: Record<string, string>,
): Promise<CommandResult> {
  try {
    return await deadline(runHosted(args, environment(env)), PATIENCE);
  } catch (error) {
    await endHosted();
    throw new Error(`The command did not end by itself: ${args.join(" ")}`, { cause: error });
  }
}

/** Fails unless the program refused with one sentence on standard error and printed nothing else. */
export function assertRefused(run: CommandResult, code: number, names: RegExp): void {
  assertEquals(run.code, code, `${run.stdout}${run.stderr}`);
  assertEquals(run.stdout, "");
  assertMatch(run.stderr, names);
  const lines = run.stderr.trimEnd().split("\n");
  assertEquals(lines.length, 1, `One sentence expected: ${run.stderr}`);
  assert(!/\bat (file|async|ext):|\.ts:\d/.test(run.stderr), `A stack trace: ${run.stderr}`);
}

/** A folder that is removed at the end of the block. */
export class Folder implements AsyncDisposable {
  constructor(readonly path: string) {}

  static async make(): Promise<Folder> {
    return new Folder(await Deno.makeTempDir({ prefix: "kvdrive-test-" }));
  }

  /** Creates a folder outside `/dev/shm`: Deno refuses to write below `/dev` without `--allow-all`. */
  static async makeOnDisk(): Promise<Folder> {
    const dir = Deno.env.get("KVDRIVE_TEST_DISK");
    const options = { prefix: "kvdrive-test-", ...(dir === undefined ? {} : { dir }) };
    return new Folder(await Deno.makeTempDir(options));
  }

  at(name: string): string {
    return `${this.path}/${name}`;
  }

  async write(name: string, content: string | Uint8Array): Promise<string> {
    const path = this.at(name);
    if (typeof content === "string") await Deno.writeTextFile(path, content);
    else await Deno.writeFile(path, content);
    return path;
  }

  async has(name: string): Promise<boolean> {
    try {
      await Deno.lstat(this.at(name));
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

/** The names in a folder, in order. */
export async function namesIn(path: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(path));
  return entries.map(({ name }) => name).sort();
}

/** The files in a folder with their bytes, without those that a running server removes meanwhile. */
export async function* filesIn(
  path: string,
): AsyncGenerator<[name: string, bytes: Uint8Array<ArrayBuffer>]> {
  for await (const { name, isFile } of Deno.readDir(path)) {
    if (!isFile) continue;
    try {
      yield [name, await Deno.readFile(`${path}/${name}`)];
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** Our own environment with these settings of the program and no others, which would change what is tested. */
export function environment(settings: Record<string, string>): Record<string, string> {
  const all = Object.entries(Deno.env.toObject());
  const inherited = Object.fromEntries(all.filter(([name]) => !isSetting(name)));
  // Tests run side by side: without this each would open the gate on the same port.
  return {
    ...inherited,
    NO_COLOR: "1",
    KVDRIVE_APPS_PORT: "0",
    // The profiles of the user who runs the tests must not matter.
    XDG_CONFIG_HOME: "/nonexistent",
    ...settings,
  };
}

/** Where an executable keeps its runtime is no setting of the program. */
function isSetting(name: string): boolean {
  return name.startsWith("KVDRIVE_") && name !== "KVDRIVE_RUNTIME_DIR";
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
