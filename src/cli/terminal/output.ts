import type { LogFormat } from "../../http/request_log.ts";
import { failureReason } from "../../rules/system_error.ts";
import { StoreFull } from "../../store/disk/disk_space.ts";
import { CannotBackUp, StoreDamaged, StoreUnavailable } from "../../store/engine/errors.ts";
import { CommandError } from "./errors.ts";
import { printableJson } from "./text.ts";

export type Environment = Record<string, string | undefined>;

const encoder = new TextEncoder();

/** The reader of standard output closed it, as `head` does: there is nothing left to do, and nothing to say. */
export class OutputClosed extends Error {
  override readonly name = "ReaderLeft";
}

/** The exit status of a program that SIGPIPE (13) ended, which other programs have then: 128 and the signal's number. */
export const OUTPUT_CLOSED_STATUS = 128 + 13;

/**
 * Writes to standard output, at once.
 *
 * @throws {OutputClosed} where its reader closed it.
 * @throws {CommandError} where it cannot be written to otherwise, such as a file on a full disk.
 */
export function print(text: string): void {
  try {
    writeAll(Deno.stdout, text);
  } catch (error) {
    throw outputFailure(error);
  }
}

/** What is thrown of a failed write to standard output. */
export function outputFailure(error: unknown): OutputClosed | CommandError {
  if (error instanceof Deno.errors.BrokenPipe) {
    return new OutputClosed("Standard output is closed", { cause: error });
  }
  const reason = failureReason(error);
  return new CommandError(`Cannot write to standard output: ${reason}`, { cause: error });
}

/** Writes to standard error, at once. Where that cannot be, there is nowhere to say so. */
export function printError(text: string): void {
  try {
    writeAll(Deno.stderr, text);
  } catch {
    // The reader is gone, or its disk is full: that must not end a server, or change an exit status.
  }
}

/** Writes to standard output for a server, which goes on without a reader; what it has to say goes to standard error then. */
export function announce(text: string): void {
  try {
    writeAll(Deno.stdout, text);
  } catch {
    printError(text);
  }
}

function writeAll(file: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = encoder.encode(text);
  while (rest.byteLength > 0) rest = rest.subarray(file.writeSync(rest));
}

/** Tells the operator of a failure in one entry, with the request that met it. */
export type LogFailure = (error: unknown, requestId?: string) => void;

/** The same in the form of the log: what reads lines of JSON finds nothing else on standard error either. */
export function failureLog(form: LogFormat): LogFailure {
  return form === "json" ? logFailureAsJson : logFailure;
}

function logFailureAsJson(error: unknown, requestId?: string): void {
  const time = new Date().toISOString();
  const entry = { time, level: "error", id: requestId ?? null, error: describe(error) };
  printError(`${printableJson(entry)}\n`);
}

/** Tells the operator of something that is no failure, in a sentence. */
export type LogNotice = (text: string) => void;

/** Writes notices in the form of the log, to standard error as failures. */
export function noticeLog(form: LogFormat): LogNotice {
  return form === "json"
    ? (text) => printError(`${printableJson({ time: nowText(), level: "info", message: text })}\n`)
    : (text) => printError(`${nowText()} info: ${text}\n`);
}

function nowText(): string {
  return new Date().toISOString();
}

/** Tells the operator of a failure in one entry, as people read it. */
export function logFailure(error: unknown, requestId?: string): void {
  const request = requestId === undefined ? "" : ` request ${requestId}`;
  printError(`${new Date().toISOString()} error${request}: ${describe(error)}\n`);
}

/** What the store could not do is a sentence; of a defect the whole stack helps. */
function describe(error: unknown): string {
  const expected = error instanceof StoreUnavailable || error instanceof StoreFull ||
    error instanceof StoreDamaged || error instanceof CannotBackUp;
  return expected ? error.message : Deno.inspect(error, { colors: false });
}
