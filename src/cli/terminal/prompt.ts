import { CommandError, printError, UsageError } from "./output.ts";
import { printable } from "./text.ts";

/** @param usage The command line to suggest. @throws {UsageError} if there is no terminal for a question. */
export function requireTerminal(usage: string): void {
  if (Deno.stdin.isTerminal() && Deno.stderr.isTerminal()) return;
  throw new UsageError(`Cannot ask for confirmation without a terminal: add --yes, as in ${usage}`);
}

/**
 * Asks a question on standard error. (Not `confirm()` of the runtime, which asks on standard output, where the result goes.)
 *
 * @throws {CommandError} unless the answer is yes.
 */
export function confirm(question: string): void {
  printError(`${printable(question)} [y/N] `);
  const line = readLine();
  // The end of the input leaves the cursor behind the question.
  if (!line.endsWith("\n")) printError("\n");
  if (/^y(es)?$/i.test(line.trim())) return;
  throw new CommandError("Nothing was changed: the answer was not y");
}

/** Reads a line from standard input. A terminal returns at most one line a read. */
function readLine(): string {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(1024);
  let line = "";
  while (!line.includes("\n") && line.length < MAX_ANSWER) {
    const count = Deno.stdin.readSync(buffer);
    if (count === null) break;
    line += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
  return line;
}

/** Bytes of a terminal in raw mode. */
const ENTER = new Set([0x0a, 0x0d]);
const BACKSPACE = new Set([0x08, 0x7f]);
const INTERRUPT = 0x03;
const END_OF_INPUT = 0x04;
const KILL_LINE = 0x15;

/** The exit status of programs that Ctrl-C ends: 128 + the signal's number. */
const INTERRUPTED_STATUS = 128 + 2;

/** Characters of an answer: a line is short, and more is a wrong file. */
const MAX_ANSWER = 64 * 1024;

/**
 * Reads a secret: on a terminal asks for it on standard error and shows nothing of what is typed, otherwise reads the first
 * line of standard input.
 */
export function readSecret(question: string): string {
  if (!Deno.stdin.isTerminal()) return readLine().split("\n")[0]?.trim() ?? "";
  // Before the question: an answer to it is shown at no time.
  Deno.stdin.setRaw(true);
  try {
    printError(question);
    return readHidden().trim();
  } finally {
    Deno.stdin.setRaw(false);
    printError("\n");
  }
}

function readHidden(): string {
  const typed: number[] = [];
  const buffer = new Uint8Array(1024);
  for (;;) {
    const count = Deno.stdin.readSync(buffer);
    if (count === null) return textOf(typed);
    for (const byte of buffer.subarray(0, count)) {
      if (ENTER.has(byte) || (byte === END_OF_INPUT && typed.length === 0)) return textOf(typed);
      if (byte === INTERRUPT) {
        Deno.stdin.setRaw(false);
        printError("\n");
        Deno.exit(INTERRUPTED_STATUS);
      }
      if (BACKSPACE.has(byte)) typed.pop();
      else if (byte === KILL_LINE) typed.length = 0;
      else if (byte >= 0x20) typed.push(byte);
    }
  }
}

function textOf(bytes: readonly number[]): string {
  return new TextDecoder().decode(new Uint8Array(bytes));
}
