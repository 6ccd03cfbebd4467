import { join } from "@std/path/join";

/** How long a process may take to end before it is killed, in milliseconds. */
const STOP_LIMIT = 20_000;

/** The processes and the temporary folder of a piece of work. All of it is gone when the scope is closed. */
export class Scope implements AsyncDisposable {
  private readonly stack = new AsyncDisposableStack();
  private closing: Promise<void> | undefined;

  private constructor(readonly folder: string) {
    this.stack.defer(() => Deno.remove(folder, { recursive: true }));
  }

  /** Opens the scope of a run. Ctrl-C closes it and ends the program, so that no process or folder is left. */
  static async open(): Promise<Scope> {
    const scope = new Scope(await Deno.makeTempDir({ prefix: "kvdrive-bench-" }));
    for (const [signal, status] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
      Deno.addSignalListener(signal, () => {
        scope.closing ??= scope.stack.disposeAsync().finally(() => Deno.exit(status));
      });
    }
    return scope;
  }

  /** A scope within this one, which may be closed earlier. */
  async nested(): Promise<Scope> {
    return this.stack.use(new Scope(await this.makeFolder()));
  }

  async makeFolder(): Promise<string> {
    return await Deno.makeTempDir({ dir: this.folder });
  }

  /** Starts a process, which ends with the scope. */
  spawn(command: string, options: Deno.CommandOptions): Deno.ChildProcess {
    if (this.stack.disposed) throw new Error(`Cannot start ${command}: the run is ending`);
    const child = new Deno.Command(command, { stdin: "null", ...options }).spawn();
    this.onClose(() => endProcess(child));
    return child;
  }

  /** Cleans up when the scope is closed, in the reverse order of these calls. */
  onClose(cleanUp: () => Promise<void>): void {
    this.stack.defer(cleanUp);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (this.closing ??= this.stack.disposeAsync());
  }
}

/** Ends a process as an operator does. After a killed server, the next one on its store reads without a memory map. */
export async function endProcess(child: Deno.ChildProcess): Promise<void> {
  signal(child, "SIGTERM");
  const timer = setTimeout(() => signal(child, "SIGKILL"), STOP_LIMIT);
  await child.status;
  clearTimeout(timer);
}

function signal(child: Deno.ChildProcess, name: Deno.Signal): void {
  try {
    child.kill(name);
  } catch (error) {
    // It had ended.
    if (!(error instanceof TypeError)) throw error;
  }
}

/** Runs a program until it ends. Returns its standard output. */
export async function runToEnd(
  scope: Scope,
  command: string,
  options: Pick<Deno.CommandOptions, "args" | "cwd">,
): Promise<string> {
  const child = scope.spawn(command, { ...options, stdout: "piped", stderr: "piped" });
  const { success, code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  if (success) return decoder.decode(stdout);
  const [first = ""] = options.args ?? [];
  throw new Error(`${command} ${first} ended with ${code}: ${decoder.decode(stderr)}`);
}

/** Folders of servers that are only in the PATH of root. */
const MORE_FOLDERS = ["/usr/sbin", "/usr/local/sbin"];

/** The path of a program, unless it is not installed. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of [...(Deno.env.get("PATH") ?? "").split(":"), ...MORE_FOLDERS]) {
    const path = join(folder, name);
    try {
      if ((await Deno.stat(path)).isFile) return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) {
        throw error;
      }
    }
  }
  return undefined;
}
