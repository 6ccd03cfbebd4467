import type { LogForm } from "../http/request_log.ts";
import { CannotBackUp, StoreDamaged, StoreFull, StoreUnavailable } from "../store/errors.ts";
import { visibleJson } from "./visible.ts";

const encoder = new TextEncoder();

/** Writes to standard output, at once. */
export function print(text: string): void {
  writeAll(Deno.stdout, text);
}

/** Writes to standard error, at once. */
export function printError(text: string): void {
  writeAll(Deno.stderr, text);
}

function writeAll(file: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = encoder.encode(text);
  while (rest.byteLength > 0) rest = rest.subarray(file.writeSync(rest));
}

/** Tells the operator of a failure in one entry, with the request that met it. */
export type LogFailure = (error: unknown, requestId?: string) => void;

/** The same in the form of the log: what reads lines of JSON finds nothing else on standard error either. */
export function failureLog(form: LogForm): LogFailure {
  return form === "json" ? logFailureAsJson : logFailure;
}

function logFailureAsJson(error: unknown, requestId?: string): void {
  const time = new Date().toISOString();
  const entry = { time, level: "error", id: requestId ?? null, error: describe(error) };
  printError(`${visibleJson(entry)}\n`);
}

/** Tells the operator of something that is no failure, in a sentence. */
export type LogNotice = (text: string) => void;

/** Writes notices in the form of the log, to standard error as failures. */
export function noticeLog(form: LogForm): LogNotice {
  return form === "json"
    ? (text) => printError(`${visibleJson({ time: nowText(), level: "info", message: text })}\n`)
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
