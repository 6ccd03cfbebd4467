import type { ErrorCode } from "./types.ts";

/**
 * Why a request failed without a refusal of the server:
 *
 * - `unreachable`: there was no answer, or it was cut off. The status is 0.
 * - `invalid_answer`: the answer is not from kvdrive, but from a proxy or another server.
 * - `invalid_argument`: the client cannot send what it was given. The status is 0.
 * - `not_modified`: the file is the one of `ifNoneMatch`. The status is 304.
 * - `source_changed`: what was to be stored changed, or could not be read, during the upload. The status is 0.
 * - `file_changed`: the file was replaced or deleted during the download.
 * - `upload_conflict`: another client sent other parts to the upload that was resumed. The status is 0.
 *
 * @example
 * ```ts
 * try {
 *   await connect({ url: "http://127.0.0.1:9", key, retryFor: 0 }).whoami();
 * } catch (error) {
 *   const code: ClientErrorCode = "unreachable";
 *   error instanceof KvdriveError && error.code === code; // true
 * }
 * ```
 */
export type ClientErrorCode =
  | "unreachable"
  | "invalid_answer"
  | "invalid_argument"
  | "not_modified"
  | "source_changed"
  | "file_changed"
  | "upload_conflict";

/**
 * What is known about a failure.
 *
 * @example
 * ```ts
 * const details: KvdriveErrorDetails = { status: 404, code: "file_not_found" };
 * new KvdriveError("There is no file a.txt", details).status; // 404
 * ```
 */
export interface KvdriveErrorDetails {
  /** The status of the answer; 0 if there was none. */
  status?: number;
  /** Newer servers may have codes that are not in the type. */
  code: ErrorCode | ClientErrorCode;
  /** The id of the request, which is in the server's log as well. */
  requestId?: string | undefined;
  /** Milliseconds that the server asks to wait before the request is repeated. */
  retryAfter?: number | undefined;
  /** The error of the platform. */
  cause?: unknown;
}

/**
 * A request that failed. The message is a sentence for people; programs read the code.
 *
 * @example
 * ```ts
 * try {
 *   await photos.move("missing.jpg", "b.jpg");
 * } catch (error) {
 *   if (!(error instanceof KvdriveError)) throw error;
 *   error.status; // 404
 *   error.code; // "file_not_found"
 *   error.message; // "There is no file …"
 *   error.requestId; // "dd783f46-…"
 * }
 * ```
 */
export class KvdriveError extends Error {
  override readonly name = "KvdriveError";
  /** The status of the answer; 0 if there was none. */
  readonly status: number;
  /** Why the request failed. Newer servers may have codes that are not in the type. */
  readonly code: ErrorCode | ClientErrorCode;
  /** The id of the request, which is in the server's log as well; `undefined` if there was no answer. */
  readonly requestId: string | undefined;
  /** Milliseconds that the server asks to wait before the request is repeated. */
  readonly retryAfter: number | undefined;

  /** Makes an error. */
  constructor(message: string, details: KvdriveErrorDetails) {
    const { status = 0, code, requestId, retryAfter, cause } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** An answer that is not from kvdrive, but from a proxy or another server. */
export class ForeignAnswer extends KvdriveError {
  constructor(message: string, details: Omit<KvdriveErrorDetails, "code">) {
    super(message, { ...details, code: "invalid_answer" });
  }
}

/** Statuses that may pass. Not 501 and 507: a repeated request would fail as well. */
const TEMPORARY_STATUSES: readonly number[] = [408, 425, 429, 500, 502, 503, 504];

/** Reports whether a failure may pass, so that the request is worth repeating. */
export function isTemporary(error: unknown): error is KvdriveError {
  return error instanceof KvdriveError &&
    (error.code === "unreachable" || TEMPORARY_STATUSES.includes(error.status));
}

/** Those with which a server refuses a request before it looks at it. */
const UNDONE_STATUSES: readonly number[] = [429, 503];

/** Reports whether a failed request certainly changed nothing. */
export function isUndone(error: unknown): boolean {
  if (!(error instanceof KvdriveError)) return false;
  return UNDONE_STATUSES.includes(error.status) ||
    error.status === 0 && isConnectionRefused(error.cause);
}

/** The runtimes say so in their own ways: Deno in the message, Node.js in the code of the cause; browsers do not say. */
function isConnectionRefused(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  const { code } = cause as { code?: unknown };
  return code === "ECONNREFUSED" || code === "ConnectionRefused" ||
    /connection refused|ECONNREFUSED/i.test(cause.message) || isConnectionRefused(cause.cause);
}

/** Returns an error for an argument that cannot be sent. */
export function invalidArgument(message: string, cause?: unknown): KvdriveError {
  return new KvdriveError(message, { code: "invalid_argument", cause });
}

/** What an error of the server says. */
interface ErrorBody {
  errors?: unknown;
  code?: unknown;
}

/** Returns the error for an answer that is no success. @param address The address of the server. */
export async function refusalOf(response: Response, address: string): Promise<KvdriveError> {
  const { status, headers } = response;
  const requestId = headers.get("x-request-id") ?? undefined;
  const details = { status, requestId, retryAfter: retryAfterOf(headers) };
  const fail = (message: string, code: ErrorCode | ClientErrorCode) =>
    new KvdriveError(message, { ...details, code });
  if (status === 304) return fail("The file has not changed", "not_modified");
  // Browsers hide the status of a redirect that is not followed.
  if (response.type === "opaqueredirect" || status >= 300 && status < 400) {
    await response.body?.cancel();
    return new ForeignAnswer(
      `${address} redirects to another address, and the key is not sent there: use that address`,
      details,
    );
  }
  const { errors, code } = bodyOf(await response.text());
  if (!Array.isArray(errors)) {
    // Answers to HEAD have no body, so the status has to do.
    const known = CODES_OF_STATUSES[status];
    if (known !== undefined && requestId !== undefined) return fail(`Refused (${status})`, known);
    const problem = `${address} answered ${status}, and the answer is not from kvdrive`;
    return new ForeignAnswer(`${problem}: is the address right?`, details);
  }
  const message = errors.filter((one) => typeof one === "string").join("; ");
  return fail(message, typeof code === "string" ? code as ErrorCode : "invalid_answer");
}

const CODES_OF_STATUSES: Readonly<Record<number, ErrorCode>> = {
  401: "unknown_key",
  403: "missing_permission",
  404: "file_not_found",
  412: "precondition_failed",
};

function bodyOf(text: string): ErrorBody {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? body : {};
  } catch {
    // The page of a proxy.
    return {};
  }
}

/** Returns the milliseconds of `Retry-After`, in seconds or as a date; `undefined` without one. */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** Returns the result of a request; `undefined` if it was refused with one of these codes. */
export async function unlessMissing<T>(
  result: Promise<T>,
  codes: readonly ErrorCode[],
): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof KvdriveError && codes.some((code) => code === error.code)) {
      return undefined;
    }
    throw error;
  }
}
