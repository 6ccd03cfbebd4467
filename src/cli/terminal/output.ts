import { writeAll as writeFully } from "../../client/local_files.ts";
import { AcmeError } from "../../acme/acme_error.ts";
import type { LogFormat } from "../../http/request_log.ts";
import { RepositoryError } from "../../repository/errors.ts";
import { failureReason } from "../../rules/system_error.ts";
import { formatBytes } from "../../rules/units.ts";
import { StoreFull } from "../../store/disk/disk_space.ts";
import {
  CannotBackUp,
  S3KeysUnavailable,
  StoreDamaged,
  StoreUnavailable,
  UnreadableEntry,
} from "../../store/engine/errors.ts";
import { printable, printableJson } from "./text.ts";

// Errors whose message is one line for the user: "kvdrive: <message>", without a stack trace.

/** A command line that is not valid. Exit status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A server that cannot start. Exit status 1. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** A valid command that failed. Exit status 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** The environment variables of the process. */
export type Environment = Record<string, string | undefined>;

const encoder = new TextEncoder();

/** The reader of standard output closed it, as `head` does. The program ends without a message. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

/** Ends the program with a status, after another process has reported why. */
export class ExitWith extends Error {
  override readonly name = "ExitWith";

  constructor(readonly status: number) {
    super(`Exit status ${status}`);
  }
}

/** The exit status of programs that SIGPIPE ends: 128 + the signal's number. */
export const OUTPUT_CLOSED_STATUS = 128 + 13;

/**
 * Writes to standard output, synchronously.
 *
 * @throws {OutputClosed} if the reader closed it.
 * @throws {CommandError} if writing fails otherwise, as on a full disk.
 */
export function print(text: string): void {
  try {
    writeAll(Deno.stdout, text);
  } catch (error) {
    throw outputFailure(error);
  }
}

/** Writes bytes to standard output as they are, with the errors of `print`. */
export async function writeOut(bytes: Uint8Array): Promise<void> {
  try {
    await writeFully(Deno.stdout, bytes);
  } catch (error) {
    throw outputFailure(error);
  }
}

/** Returns a size for standard output: "1.5 MB" on a terminal, exact bytes elsewhere. */
export function sizeText(bytes: number): string {
  return Deno.stdout.isTerminal() ? formatBytes(bytes) : String(bytes);
}

/** Returns the error of a failed write to standard output. */
function outputFailure(error: unknown): OutputClosed | CommandError {
  if (error instanceof Deno.errors.BrokenPipe) {
    return new OutputClosed("Standard output is closed", { cause: error });
  }
  const reason = failureReason(error);
  return new CommandError(`Cannot write to standard output: ${reason}`, { cause: error });
}

/** Writes to standard error, synchronously. Failures are ignored: they must neither end a server nor change a status. */
export function printError(text: string): void {
  try {
    writeAll(Deno.stderr, text);
  } catch {
    // Nowhere to report it.
  }
}

/** Writes a sentence for the user to standard error, on one line. */
export function printNotice(sentence: string): void {
  printError(`kvdrive: ${printable(sentence.replaceAll(/\s+/g, " "))}\n`);
}

/** Writes to standard output, or to standard error if that fails: a server continues without a reader. */
export function announce(text: string): void {
  try {
    writeAll(Deno.stdout, text);
  } catch {
    printError(text);
  }
}

/**
 * Control characters, except those that the program writes itself: line feeds, tabs, and the sequences of `styleFor`. The
 * others come from names and other people's messages, and would control the terminal.
 */
// deno-lint-ignore no-control-regex
const FOREIGN_CONTROL = /(?![\n\t]|\x1b\[[0-2]m)\p{Cc}/gu;

function writeAll(file: { writeSync(bytes: Uint8Array): number }, text: string): void {
  writeBytes(file, text.replaceAll(FOREIGN_CONTROL, printable));
}

/** Writes to the terminal on standard error, with its commands as they are. */
export function drawOnTerminal(text: string): void {
  try {
    writeBytes(Deno.stderr, text);
  } catch {
    // The terminal has gone.
  }
}

function writeBytes(file: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = encoder.encode(text);
  while (rest.byteLength > 0) rest = rest.subarray(file.writeSync(rest));
}

/** Logs a failure, with the id of the request that met it. */
export type LogFailure = (error: unknown, requestId?: string) => void;

/** Logs a message that is not a failure: one sentence. */
export type LogNotice = (text: string) => void;

/** Returns the loggers of a server, by default to standard error. Every line is JSON if the request log is. */
export function serverLog(
  format: LogFormat | "off",
  write: (line: string) => void = printError,
): { onError: LogFailure; onNotice: LogNotice } {
  if (format !== "json") {
    return {
      onError: (error, requestId) => write(failureLine(error, requestId)),
      onNotice: (text) => write(`${nowText()} info: ${text}\n`),
    };
  }
  const add = (entry: Record<string, unknown>) =>
    write(`${printableJson({ time: nowText(), ...entry })}\n`);
  return {
    onError: (error, requestId) =>
      add({ level: "error", id: requestId ?? null, error: describe(error) }),
    onNotice: (message) => add({ level: "info", message }),
  };
}

function nowText(): string {
  return new Date().toISOString();
}

/** Logs a failure to standard error as text. */
export function logFailure(error: unknown): void {
  printError(failureLine(error));
}

function failureLine(error: unknown, requestId?: string): string {
  const request = requestId === undefined ? "" : ` request ${requestId}`;
  return `${nowText()} error${request}: ${describe(error)}\n`;
}

/** Returns the message of an expected error, and the stack of any other. */
function describe(error: unknown): string {
  const expected = error instanceof StoreUnavailable || error instanceof StoreFull ||
    error instanceof StoreDamaged || error instanceof CannotBackUp || error instanceof AcmeError ||
    error instanceof RepositoryError || error instanceof S3KeysUnavailable ||
    error instanceof UnreadableEntry ||
    error instanceof CommandError;
  return expected ? error.message : Deno.inspect(error, { colors: false });
}
