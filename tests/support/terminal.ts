import { deadline } from "@std/async/deadline";
import { environment, programCommand } from "./command.ts";

/** How long a command may take that is expected to end by itself. */
const PATIENCE = 90_000;

/** What the program prints when it has asked. */
const QUESTION = "[y/N] ";

/** Python's way to run a program on a pseudo terminal and to end as it does. */
const PYTHON = `import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))`;

export interface TerminalResult {
  code: number;
  /** All that the terminal showed, the typed answer too. */
  text: string;
}

/**
 * Runs the program on a terminal, and types the answer as soon as it asks.
 *
 * @param redirect Something that a shell is to do with its streams, such as `2>/dev/null`.
 */
export async function runOnTerminal(
  args: readonly string[],
  { answer = "", env = {}, redirect = "" }: {
    answer?: string;
    env?: Record<string, string>;
    redirect?: string;
  } = {},
): Promise<TerminalResult> {
  const words = programCommand(args).map(shellQuoted);
  const [program, ...programArgs] = await onTerminal(`exec ${words.join(" ")} ${redirect}`);
  const process = new Deno.Command(program, {
    args: programArgs,
    env: { ...environment(env), SHELL: "/bin/sh" },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  try {
    return await deadline(converse(process, answer), PATIENCE);
  } catch (error) {
    process.kill("SIGKILL");
    throw error;
  } finally {
    await process.status;
  }
}

/** The program on a terminal of a known size, which a test looks at while it runs. */
export class TerminalProgram {
  /** Told of what the terminal gets. */
  onText: (text: string) => void = () => {};
  readonly #process: Deno.ChildProcess;
  readonly #keyboard: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #read: Promise<void>;
  readonly #device = Promise.withResolvers<string>();

  private constructor(process: Deno.ChildProcess) {
    this.#process = process;
    this.#keyboard = process.stdin.getWriter();
    this.#read = this.#readAll();
  }

  /** @param columns How wide the terminal is. */
  static async start(
    args: readonly string[],
    { columns, env = {} }: { columns: number; env?: Record<string, string> },
  ): Promise<TerminalProgram> {
    const words = programCommand(args).map(shellQuoted);
    const line = `stty cols ${columns}; tty; exec ${words.join(" ")}`;
    const [program, ...programArgs] = await onTerminal(line);
    return new TerminalProgram(
      new Deno.Command(program, {
        args: programArgs,
        env: { ...environment(env), SHELL: "/bin/sh" },
        clearEnv: true,
        stdin: "piped",
        stdout: "piped",
        stderr: "inherit",
      }).spawn(),
    );
  }

  /** Makes the terminal wider or narrower, as a person does who pulls at its window. */
  async resize(columns: number): Promise<void> {
    const args = ["-F", await this.#device.promise, "cols", String(columns)];
    const { success } = await new Deno.Command("stty", { args }).output();
    if (!success) throw new Error("The terminal could not be resized");
  }

  async type(text: string): Promise<void> {
    await this.#keyboard.write(new TextEncoder().encode(text));
  }

  /** The exit status. */
  async ended(): Promise<number> {
    const { code } = await deadline(this.#process.status, PATIENCE);
    await this.#read;
    return code;
  }

  /** Ends it, if it runs. */
  async kill(): Promise<void> {
    try {
      this.#process.kill("SIGKILL");
    } catch (error) {
      // It had ended by itself.
      if (!(error instanceof TypeError)) throw error;
    }
    await this.#process.status;
    await this.#read;
    await this.#keyboard.close().catch(() => {});
  }

  /** The first line is that of `tty`. */
  async #readAll(): Promise<void> {
    let first: string | undefined = "";
    for await (const text of this.#process.stdout.pipeThrough(new TextDecoderStream())) {
      if (first === undefined) {
        this.onText(text);
        continue;
      }
      first += text;
      const end = first.indexOf("\n");
      if (end === -1) continue;
      this.#device.resolve(first.slice(0, end).trim());
      this.onText(first.slice(end + 1));
      first = undefined;
    }
  }
}

async function converse(process: Deno.ChildProcess, answer: string): Promise<TerminalResult> {
  const keyboard = process.stdin.getWriter();
  let text = "";
  let asked = false;
  for await (const piece of process.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (asked || !text.includes(QUESTION)) continue;
    asked = true;
    await keyboard.write(new TextEncoder().encode(answer));
  }
  const { code } = await process.status;
  await keyboard.close().catch(() => {});
  return { code, text };
}

/** The command that runs a line of shell on a terminal: with util-linux, which Debian always has, or with Python. */
async function onTerminal(line: string): Promise<[string, ...string[]]> {
  const script = await versionOf("script");
  if (script.includes("util-linux")) {
    return ["script", "--quiet", "--return", "--command", line, "/dev/null"];
  }
  if ((await versionOf("python3")) !== "") return ["python3", "-c", PYTHON, "/bin/sh", "-c", line];
  throw new Error("Neither script of util-linux nor python3 is there, to make a terminal");
}

async function versionOf(program: string): Promise<string> {
  try {
    const { stdout } = await new Deno.Command(program, { args: ["--version"] }).output();
    return new TextDecoder().decode(stdout);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

const ESCAPE = "\x1b";
const SEQUENCE_OR_CHARACTER = new RegExp(`${ESCAPE}\\[[\\d;?]*[A-Za-z]|[^${ESCAPE}]`, "gsu");

/** What a terminal shows of what a program writes: lines, and the sequences that clear. */
export class Screen {
  lines: string[] = [""];
  /** The longest text that stood in a line at any time. */
  widest = 0;
  #row = 0;
  #column = 0;

  write(text: string): void {
    for (const [piece] of text.matchAll(SEQUENCE_OR_CHARACTER)) this.#put(piece);
  }

  #put(piece: string): void {
    const line = this.lines[this.#row] ?? "";
    if (piece === "\r") this.#column = 0;
    else if (piece === "\n") this.lines[++this.#row] ??= "";
    else if (piece === "\x1b[K" || piece === "\x1b[J") {
      this.lines[this.#row] = line.slice(0, this.#column);
    } else if (piece.length === 1) {
      this.lines[this.#row] = line.slice(0, this.#column) + piece + line.slice(++this.#column);
      this.widest = Math.max(this.widest, (this.lines[this.#row] ?? "").length);
    }
  }
}
