import { parseHttpDate } from "../rules/dates.ts";
import { SECOND } from "../rules/units.ts";

/** A certificate could not be obtained or stored. The message is a sentence for the log, without secrets. */
export class AcmeError extends Error {
  override readonly name = "AcmeError";
  /** The kind of an authority's refusal, without its prefix: `rateLimited` (RFC 8555, 6.7). */
  readonly kind: string | undefined;
  /** The least time before the next attempt, in milliseconds, as the authority asked. */
  readonly retryAfter: number | undefined;

  constructor(
    message: string,
    { kind, retryAfter, ...options }: ErrorOptions & {
      kind?: string | undefined;
      retryAfter?: number | undefined;
    } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.retryAfter = retryAfter;
  }
}

/** A problem document (RFC 9457), as authorities send it. */
export interface Problem {
  type?: unknown;
  detail?: unknown;
  subproblems?: unknown;
}

const PREFIX = "urn:ietf:params:acme:error:";

/** Characters of an authority's explanation that are repeated. */
const MAX_DETAIL = 500;

/** Returns the kind of a problem, without the prefix of the protocol. */
export function kindOf({ type }: Problem): string | undefined {
  return typeof type === "string" && type.startsWith(PREFIX)
    ? type.slice(PREFIX.length)
    : undefined;
}

/** Returns a problem as the end of a sentence: `NXDOMAIN looking up A for a.example.com (dns)`. */
export function problemText(problem: Problem): string {
  const kind = kindOf(problem);
  const { detail } = problem;
  // Control characters could forge lines of the log.
  const text = typeof detail === "string"
    ? detail.replaceAll(/\p{C}+/gu, " ").trim().slice(0, MAX_DETAIL)
    : "";
  return [text, kind && `(${kind})`].filter(Boolean).join(" ") || "it gave no reason";
}

/**
 * Parses a `Retry-After` header: "a date to retry after or a number of seconds to delay" (RFC 9110, 10.2.3).
 *
 * @param date The `Date` of the same answer: the clocks of this machine and of the authority may differ.
 * @returns Milliseconds; `undefined` if there is none.
 */
export function parseRetryAfter(text: string | null, date: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text) * SECOND;
  const until = parseHttpDate(text);
  if (until === undefined) return undefined;
  const now = parseHttpDate(date ?? "") ?? Date.now() / SECOND;
  return Math.max(0, until - now) * SECOND;
}
