import type { components } from "./api_schema.d.ts";
import { wordsOf } from "./error_words.ts";

/** By which the dashboard tells one error of the server from another. */
export type ErrorCode = components["schemas"]["ErrorCode"];

/** A call that failed, with a sentence for the user. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    /** The status of the answer; 0 if there was none. */
    readonly status: number,
    message: string,
    /** Seconds after which the server wants to be asked again. */
    readonly retryAfter?: number,
    /** `undefined` if the server did not answer, but a proxy or nothing. */
    readonly code?: ErrorCode,
  ) {
    super(message);
  }

  /** Whether the same call may succeed later: the server was not reached, is busy or failed. */
  get isTemporary(): boolean {
    return [0, 408, 429, 500, 502, 503, 504].includes(this.status);
  }
}

/** The error for a call without an answer. */
export function unreachable(): ApiError {
  const reason = navigator.onLine ? "The server does not answer" : "This device is offline";
  return new ApiError(0, reason);
}

/** The error for an answer that is not a success. Reads its body. */
export async function refused(response: Response): Promise<ApiError> {
  const seconds = Number(response.headers.get("retry-after") ?? NaN);
  const { message, code } = errorIn(await response.text().catch(() => ""));
  return new ApiError(
    response.status,
    message === undefined ? proxySentence(response.status) : wordsOf({ code, error: message }),
    Number.isFinite(seconds) ? seconds : undefined,
    code,
  );
}

/** The server's sentence and code in the JSON of an error; nothing if a proxy answered something else. */
function errorIn(text: string): { message?: string; code?: ErrorCode } {
  try {
    const { errors, code } = JSON.parse(text);
    const [message] = Array.isArray(errors) ? errors : [];
    return typeof message === "string" ? { message, code } : {};
  } catch {
    // A proxy may answer with a page.
    return {};
  }
}

/** The sentence for an answer of a proxy in front of the server. */
function proxySentence(status: number): string {
  return status === 413
    ? "A proxy in front of the server refuses requests of this size: it must let 11 MB pass"
    : `The server answered with status ${status}`;
}

/** A sentence for the user about anything that was thrown. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
