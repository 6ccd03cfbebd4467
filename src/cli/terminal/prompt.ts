import { CommandError, UsageError } from "./errors.ts";
import { printError } from "./output.ts";
import { printable } from "./text.ts";

/** @throws {UsageError} where there is nobody to ask. */
export function requireTerminal(form: string): void {
  if (Deno.stdin.isTerminal() && Deno.stderr.isTerminal()) return;
  throw new UsageError(`There is no terminal to ask on: add --yes, as in ${form}`);
}

/** Asks whether to go on. @throws {CommandError} unless the answer is yes. */
export function confirm(question: string): void {
  printError(`${printable(question)} [y/N] `);
  if (/^y(es)?$/i.test(readLine().trim())) return;
  throw new CommandError("Nothing was changed, as the answer was not y");
}

/** A terminal gives one line at a time. */
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
