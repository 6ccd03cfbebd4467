import type { ErrorCode } from "../rules/error_codes.ts";
import { failureReason } from "../rules/system_error.ts";
import { TEMPORARY_STATUSES, UNDONE_STATUSES } from "./api/error.ts";

/** A transfer that cannot be done. The message is one sentence for the user. */
export class ClientError extends Error {
  override readonly name: string = "ClientError";
}

interface TemporaryFailureOptions extends ErrorOptions {
  isUndone?: boolean;
  code?: ErrorCode | undefined;
}

/** A failure of the server or the network that may pass: the operation is worth repeating. */
export class TemporaryFailure extends ClientError {
  override readonly name: string = "TemporaryFailure";

  /** Whether the request was refused before the server looked at it, and so has changed nothing. */
  readonly isUndone: boolean;
  /** The server's error code; `undefined` without an answer of kvdrive. */
  readonly code: ErrorCode | undefined;

  /** @param wait Milliseconds that the server asked to wait. */
  constructor(
    message: string,
    readonly wait = 0,
    { isUndone = false, code, ...options }: TemporaryFailureOptions = {},
  ) {
    super(message, options);
    this.isUndone = isUndone;
    this.code = code;
  }
}

export class Unreachable extends TemporaryFailure {
  override readonly name = "Unreachable";
}

/** An operation that was repeated until its time was over. */
export class RetriesExhausted extends ClientError {
  override readonly name = "RetriesExhausted";
}

/** A request that the server refused for good. */
export class Refused extends ClientError {
  override readonly name = "Refused";

  /** @param code The server's error code; `undefined` if the answer is not from kvdrive. */
  constructor(readonly status: number, message: string, readonly code?: ErrorCode) {
    super(message);
  }
}

/** Returns the result of a request; `undefined` if the server does not have what it is about. */
export async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined;
    throw error;
  }
}

/** A file that changed while it was sent or fetched. */
export class FileChanged extends ClientError {
  override readonly name = "FileChanged";
}

/** A file that exists and must not be replaced. */
export class FileExists extends ClientError {
  override readonly name = "FileExists";

  constructor() {
    super("Another file of that name exists");
  }
}

/** Reports whether an error would also fail every other file of a transfer. */
export function isFatal(error: unknown): boolean {
  if (isDiskFull(error)) return true;
  if (error instanceof Refused) return [401, 403, 429, 507].includes(error.status);
  return error instanceof RetriesExhausted || !(error instanceof ClientError);
}

function isDiskFull(error: unknown): boolean {
  const cause = error instanceof ClientError ? error.cause : undefined;
  return cause instanceof Error && "code" in cause &&
    (cause.code === "ENOSPC" || cause.code === "EDQUOT");
}

/** Returns an error of the local file system as a `ClientError`: "Cannot read a.txt: Permission denied". */
export function fileError(action: string, path: string, error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  const reason = failureReason(error);
  return new ClientError(`Cannot ${action} ${path}: ${reason}`, { cause: error });
}

/** Returns why a request failed, as the end of a sentence, without the URL that the runtime repeats. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause ?? error : error;
  const reason = failureReason(cause)
    .replace(/^error sending request (from .* )?for url \(.*?\): /, "")
    .replace(/^client error \([A-Za-z]+\): /, "")
    .replace(/^tcp connect error: /, "")
    .replace(/^tcp open error: /, "")
    .replace(/^Fetch failed: /, "");
  if (/dns error/.test(reason)) return "there is no host of that name";
  if (/connection closed before message completed/.test(reason)) {
    return "it closed the connection without an answer";
  }
  // "Connection refused", within a sentence.
  return reason.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** Describes a certificate error as the end of a sentence; `undefined` if the reason is another one. */
export function certificateProblem(reason: string, hasAuthorities: boolean): string | undefined {
  if (!/certificate|UnknownIssuer|CaUsedAsEndEntity/i.test(reason)) return undefined;
  if (/expired/i.test(reason)) {
    return `has expired, or the clock of this machine (${clock()}) is wrong. Renew the certificate on the server`;
  }
  if (/not valid yet/i.test(reason)) {
    return `is not valid yet. Is the clock of this machine (${clock()}) right?`;
  }
  if (/not valid for name/i.test(reason)) {
    const [, names] = /only valid for (.*)$/.exec(reason) ?? [];
    const only = names === undefined ? "" : `, only for ${names}`;
    return `is not for that name${only}. Use one of the server's names with --url or KVDRIVE_URL`;
  }
  if (/CaUsedAsEndEntity/.test(reason)) {
    return "is that of an authority (CA:TRUE), which a server cannot use. Create one for the server with CA:FALSE, signed by the authority";
  }
  // An authority with the right name and another key leads to a bad signature.
  if (/UnknownIssuer|BadSignature/.test(reason)) {
    return hasAuthorities
      ? "is not trusted: no authority in the file of --cacert signed it. Add the certificate of the authority to that file"
      : "is not trusted: no authority known to this machine signed it. Give the authority's certificate with --cacert or DENO_CERT";
  }
  return `cannot be trusted: ${reason}`;
}

function clock(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}

/** Describes an error that is not from kvdrive, whose errors are JSON, but from a proxy or another server. */
export function foreignRefusal(origin: string, status: number, wait: number): ClientError {
  if (status === 413) {
    return new Refused(
      status,
      `A proxy in front of ${origin} refused the size of the request (413). Allow 11 MB: in nginx with client_max_body_size, in Caddy with request_body max_size, in Traefik with maxRequestBodyBytes of the buffering middleware`,
    );
  }
  const problem = `${origin} answered ${status}, and the answer is not from kvdrive`;
  if (TEMPORARY_STATUSES.includes(status)) {
    const isUndone = UNDONE_STATUSES.includes(status);
    return new TemporaryFailure(`${problem}. Is kvdrive running behind the proxy?`, wait, {
      isUndone,
    });
  }
  return new Refused(
    status,
    `${problem}. Is the address right (--url or KVDRIVE_URL), and does the proxy pass every path?`,
  );
}

/** The server's error messages in one line, and the error code. */
interface ServerError {
  /** Empty if the answer is not from kvdrive. */
  sentence: string;
  /** Newer servers may have codes that this program does not know; earlier ones have none. */
  code?: ErrorCode;
}

/** Reads the body of an error. */
export async function serverError(answer: Response): Promise<ServerError> {
  try {
    const { errors, code } = await answer.json() as { errors?: unknown; code?: unknown };
    if (!Array.isArray(errors)) return { sentence: "" };
    const sentence = errors.filter((one) => typeof one === "string").join("; ");
    return { sentence, ...(typeof code === "string" ? { code: code as ErrorCode } : {}) };
  } catch {
    return { sentence: "" };
  }
}
