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

/** Milliseconds for a shell to complete a word: the program may have to ask the server. */
const COMPLETION_TIME = 1500;
const START_TIME = 1500;
const PATIENCE = 30_000;

/**
 * Types a line into an interactive shell on a terminal, waiting after each Tab, and returns the arguments that the program
 * was then called with.
 */
export async function completeLine(
  { command, load }: ShellKind,
  line: string,
  folder: Folder,
  env: Record<string, string>,
): Promise<string[]> {
  const seen = folder.at("arguments");
  await Deno.remove(seen).catch(() => {});
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
  try {
    await delay(START_TIME);
    await type(`${load}\r`);
    await delay(START_TIME);
    for (const part of line.split(/(?<=\t)/)) {
      await type(part);
      if (part.endsWith("\t")) await delay(COMPLETION_TIME);
    }
    await type("\r");
    return await deadline(argumentsIn(seen), PATIENCE);
  } finally {
    await type("\x03\rexit\r").catch(() => {});
    await keyboard.close().catch(() => {});
    const timer = setTimeout(() => process.kill("SIGKILL"), PATIENCE);
    await process.status;
    clearTimeout(timer);
  }
}

/** Writes a `kvdrive` that completes as the program does, and otherwise only notes its arguments. */
async function wrapProgram(folder: Folder, seen: string): Promise<string> {
  const words = programCommand([]).map((word) => `'${word}'`).join(" ");
  await Deno.mkdir(folder.at("bin"), { recursive: true });
  const path = await folder.write(
    "bin/kvdrive",
    `#!/bin/sh
case "$1" in
  complete|completion) exec ${words} "$@" ;;
  *) printf '%s\\n' "$@" > '${seen}.new'; mv '${seen}.new' '${seen}' ;;
esac
`,
  );
  await Deno.chmod(path, 0o755);
  return folder.at("bin");
}

async function argumentsIn(path: string): Promise<string[]> {
  for (;;) {
    try {
      return (await Deno.readTextFile(path)).replace(/\n$/, "").split("\n");
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
