/** How long a process may take to end before it is killed, in milliseconds. */
const TERM_PATIENCE = 5000;

/** The processes and the temporary folder of a piece of work. All of it is gone when the scope is closed. */
export class Scope implements AsyncDisposable {
  readonly folder: string;
  readonly #parent: Scope | undefined;
  readonly #nested = new Set<Scope>();
  readonly #processes = new Set<Deno.ChildProcess>();
  readonly #cleanUps: (() => Promise<void>)[] = [];
  #closing: Promise<void> | undefined;
  #interrupted = false;

  private constructor(folder: string, parent?: Scope) {
    this.folder = folder;
    this.#parent = parent;
  }

  static async open(): Promise<Scope> {
    return new Scope(await Deno.makeTempDir({ prefix: "kvdrive-bench-" }));
  }

  /** A scope inside of this one, for what can go earlier. */
  async nested(): Promise<Scope> {
    const folder = await Deno.makeTempDir({ dir: this.folder });
    const scope = new Scope(folder, this);
    this.#nested.add(scope);
    return scope;
  }

  /** A new folder. */
  async makeFolder(): Promise<string> {
    return await Deno.makeTempDir({ dir: this.folder });
  }

  /** Starts a process. It ends with the scope if it runs still. */
  spawn(command: string, options: Deno.CommandOptions): Deno.ChildProcess {
    if (this.#closing !== undefined) throw new Error(`Cannot start ${command}: the run is ending`);
    const child = new Deno.Command(command, { stdin: "null", ...options }).spawn();
    this.#processes.add(child);
    child.status.then(() => this.#processes.delete(child));
    return child;
  }

  /** Has something done once the processes have ended. */
  onClose(cleanUp: () => Promise<void>): void {
    this.#cleanUps.push(cleanUp);
  }

  /** Closes it before the work has ended. The work prints nothing more. */
  async interrupt(): Promise<void> {
    this.#interrupted = true;
    await this.#close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const root = this.#root;
    await this.#close();
    if (root.#interrupted) await new Promise<never>(() => {});
  }

  get #root(): Scope {
    return this.#parent === undefined ? this : this.#parent.#root;
  }

  #close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await Promise.all([...this.#nested].map((scope) => scope.#close()));
    await Promise.all([...this.#processes].map(endNow));
    for (const cleanUp of this.#cleanUps) await cleanUp();
    await Deno.remove(this.folder, { recursive: true });
    if (this.#parent !== undefined) this.#parent.#nested.delete(this);
  }
}

/** Ends a process as an operator does. After a killed server, the next one on its store reads without a memory map. */
async function endNow(child: Deno.ChildProcess): Promise<void> {
  send(child, "SIGTERM");
  const timer = setTimeout(() => send(child, "SIGKILL"), TERM_PATIENCE);
  await child.status;
  clearTimeout(timer);
}

function send(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch (error) {
    // It had ended by itself.
    if (!(error instanceof TypeError)) throw error;
  }
}

/** Leaves no process and no folder behind on Ctrl-C. */
export function endOnSignal(scope: Scope): void {
  const statuses = { SIGINT: 130, SIGTERM: 143 } as const;
  for (const [signal, status] of Object.entries(statuses)) {
    Deno.addSignalListener(signal as keyof typeof statuses, () => {
      scope.interrupt().finally(() => Deno.exit(status));
    });
  }
}

/** A process that listens. */
export interface Listening {
  process: Deno.ChildProcess;
  origin: string;
  /** What it printed up to then. */
  output: string;
  /** When it was started, by `performance.now()`. */
  startedAt: number;
}

export interface CommandLine {
  args: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
}

const READY = /listening on (https?:\/\/\S+)\n/;

/** Runs a program to its end. @returns its standard output. */
export async function runToEnd(
  scope: Scope,
  command: string,
  { args, env = {}, cwd }: CommandLine,
): Promise<string> {
  const child = scope.spawn(command, {
    args: [...args],
    env,
    ...(cwd === undefined ? {} : { cwd }),
    stdout: "piped",
    stderr: "piped",
  });
  const { success, code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  if (success) return decoder.decode(stdout);
  throw new Error(`${command} ${args[0] ?? ""} ended with ${code}: ${decoder.decode(stderr)}`);
}

/** Runs a Deno program of the benchmark in a process of its own. @returns the value that it printed as JSON. */
export async function runScript<T>(scope: Scope, file: string, input: unknown): Promise<T> {
  const output = await runToEnd(scope, Deno.execPath(), {
    args: ["run", ...scriptFlags(), new URL(file, import.meta.url).pathname, JSON.stringify(input)],
  });
  return JSON.parse(output);
}

/** Starts a Deno program and waits until it listens. */
export async function startListening(
  scope: Scope,
  { args, env = {}, cwd }: CommandLine,
): Promise<Listening> {
  const startedAt = performance.now();
  const process = scope.spawn(Deno.execPath(), {
    args: [...args],
    env,
    ...(cwd === undefined ? {} : { cwd }),
    stdout: "piped",
    stderr: "inherit",
  });
  const ready = await readUntilReady(process.stdout);
  return { process, ...ready, startedAt };
}

/** What a Deno program of the benchmark is run with. */
export function scriptFlags(): string[] {
  return ["-A", "--quiet", "--unstable-kv"];
}

async function readUntilReady(
  stdout: ReadableStream<Uint8Array>,
): Promise<{ origin: string; output: string }> {
  const decoder = new TextDecoder();
  const reader = stdout.getReader();
  let output = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`A server ended before it was ready: ${output}`);
    output += decoder.decode(value, { stream: true });
    const origin = READY.exec(output)?.[1];
    if (origin !== undefined) return { origin, output };
  }
}
