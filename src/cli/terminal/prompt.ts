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
  if (/^y(es)?$/i.test(readLine().trim())) return;
  throw new CommandError("Nothing was changed: the answer was not y");
}

/** Reads a line from standard input. A terminal returns at most one line a read. */
function readLine(): string {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(1024);
  let line = "";
  while (!line.includes("\n")) {
    const count = Deno.stdin.readSync(buffer);
    if (count === null) {
      printError("\n");
      break;
    }
    line += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
  return line;
}
