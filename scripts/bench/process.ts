import type { Scope } from "./scope.ts";

/** A process that said where it listens. */
export interface Listening {
  process: Deno.ChildProcess;
  origin: string;
  /** What it printed up to then. */
  output: string;
  /** Milliseconds from its start to the line that says so. */
  took: number;
}

export interface CommandLine {
  args: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
}

const READY = /listening on (http:\/\/\S+)\n/;

/** Runs a program to its end; gives what it printed. */
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

/** Runs a Deno program of the benchmark in a process of its own; gives the value that it printed as JSON. */
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
  const started = performance.now();
  const process = scope.spawn(Deno.execPath(), {
    args: [...args],
    env,
    ...(cwd === undefined ? {} : { cwd }),
    stdout: "piped",
    stderr: "inherit",
  });
  const ready = await readUntilReady(process.stdout);
  return { process, ...ready, took: performance.now() - started };
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
