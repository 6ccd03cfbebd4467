import { assertEquals } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { environment, type Folder, programCommand } from "../command.ts";

/** An interactive shell with the completions of the program. */
export interface ShellKind {
  name: string;
  /** The words that start it without the settings of a user. */
  command: readonly string[];
  /** The line that loads the completions. */
  load: string;
}

export const SHELLS: readonly ShellKind[] = [
  { name: "bash", command: ["bash", "--norc", "-i"], load: "source <(kvdrive completion bash)" },
  {
    name: "zsh",
    command: ["zsh", "-f", "-i"],
    load: "autoload -Uz compinit; compinit -u -D; source <(kvdrive completion zsh)",
  },
  {
    name: "fish",
    command: ["fish", "--no-config", "-i"],
    load: "kvdrive completion fish | source",
  },
];

/** Milliseconds for a shell to load the completions, and to run a line. */
const PATIENCE = 90_000;

/**
 * Types a line with Tabs into an interactive shell on a terminal, and returns the arguments that the program was then
 * called with.
 */
export async function completeLine(
  { command, load }: ShellKind,
  line: string,
  folder: Folder,
  env: Record<string, string>,
): Promise<string[]> {
  const seen = folder.at("arguments");
  const bin = await wrapProgram(folder, seen);
  const process = new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", command.join(" "), "/dev/null"],
    cwd: folder.path,
    env: {
      ...environment(env),
      PATH: `${bin}:${Deno.env.get("PATH")}`,
      HOME: folder.path,
      TERM: "xterm",
    },
    clearEnv: true,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const keyboard = process.stdin.getWriter();
  const type = (text: string) => keyboard.write(new TextEncoder().encode(text));
  const run = async (text: string) => {
    await type(`${text}\r`);
    return await deadline(takeArguments(seen), PATIENCE);
  };
  try {
    // The shell must have loaded the completions before the first Tab.
    assertEquals(await run(`${load}; kvdrive loaded`), ["loaded"]);
    return await run(line);
  } finally {
    await type("\x03\rexit\r").catch(() => {});
    await keyboard.close().catch(() => {});
    const timer = setTimeout(() => process.kill("SIGKILL"), PATIENCE);
    await process.status;
    clearTimeout(timer);
  }
}

/**
 * Writes a `kvdrive` that completes as the program does, and otherwise only notes its arguments. The shell has an empty
 * home without a history; Deno has its cache in that of the user, and would download all packages again.
 */
export async function wrapProgram(folder: Folder, seen: string): Promise<string> {
  const words = programCommand([]).map((word) => `'${word}'`).join(" ");
  await Deno.mkdir(folder.at("bin"), { recursive: true });
  const path = await folder.write(
    "bin/kvdrive",
    `#!/bin/sh
case "$1" in
  complete|completion) HOME='${Deno.env.get("HOME") ?? ""}' exec ${words} "$@" ;;
  *) printf '%s\\n' "$@" > '${seen}.new'; mv '${seen}.new' '${seen}' ;;
esac
`,
  );
  await Deno.chmod(path, 0o755);
  return folder.at("bin");
}

/** Waits for the arguments of the next call, and removes them. */
async function takeArguments(path: string): Promise<string[]> {
  for (;;) {
    try {
      const text = await Deno.readTextFile(path);
      await Deno.remove(path);
      return text.replace(/\n$/, "").split("\n");
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      await delay(50);
    }
  }
}

/** Reports whether a program is installed. */
export async function isInstalled(program: string): Promise<boolean> {
  try {
    const command = new Deno.Command(program, { args: ["--version"], stdout: "null" });
    return (await command.output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
