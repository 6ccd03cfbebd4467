import { failureReason } from "../rules/system_error.ts";
import {
  ForeignAnswer,
  isTemporary as mayPass,
  KvdriveError,
  type KvdriveErrorDetails,
} from "./api/error.ts";

export { isUndone, KvdriveError } from "./api/error.ts";

/** A failure on this machine, such as a file that cannot be read. The message is one sentence for the user. */
export class ClientError extends Error {
  override readonly name: string = "ClientError";
}

/** A failure that is no defect of the program: on this machine, or of a request. */
export type TransferError = ClientError | KvdriveError;

export function isTransferError(error: unknown): error is TransferError {
  return error instanceof ClientError || error instanceof KvdriveError;
}

/** Reports whether the server refused a request with one of these statuses. */
export function hasStatus(error: unknown, ...statuses: number[]): error is KvdriveError {
  return error instanceof KvdriveError && statuses.includes(error.status);
}

/** Returns the result of a request; `undefined` if the server does not have what it is about. */
export async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}

/** Returns the error for a file that changed while it was fetched. */
export function fileChanged(message: string): KvdriveError {
  return new KvdriveError(message, { code: "file_changed" });
}

/** Reports whether a file changed while it was sent or fetched. */
export function isFileChanged(error: unknown): boolean {
  return error instanceof KvdriveError &&
    ["file_changed", "source_changed", "upload_conflict"].includes(error.code);
}

/** Returns the error for a file that exists and must not be replaced. */
export function fileExists(): KvdriveError {
  return new KvdriveError("Another file of that name exists", {
    status: 412,
    code: "precondition_failed",
  });
}

/** Reports whether a failure may pass. A wrong key will not: repeating it prolongs the wait of others of this network. */
export function isTemporary(error: unknown): error is KvdriveError {
  return mayPass(error) && error.code !== "too_many_wrong_keys";
}

/** Reports whether an error would also fail every other file of a transfer. */
export function isFatal(error: unknown): boolean {
  // One that may pass was repeated for as long as the user wants.
  return isDiskFull(error) || isTemporary(error) || hasStatus(error, 401, 403, 429, 507) ||
    !isTransferError(error);
}

function isDiskFull(error: unknown): boolean {
  const cause = error instanceof ClientError ? error.cause : undefined;
  return cause instanceof Error && "code" in cause &&
    (cause.code === "ENOSPC" || cause.code === "EDQUOT");
}

/** Returns an error of the local file system as a `ClientError`: "Cannot read a.txt: Permission denied". */
export function fileError(action: string, path: string, error: unknown): TransferError {
  if (isTransferError(error)) return error;
  const reason = failureReason(error);
  return new ClientError(`Cannot ${action} ${path}: ${reason}`, { cause: error });
}

/** Returns an error with another message, and some other details. */
export function reworded(
  error: KvdriveError,
  message: string,
  details: Partial<KvdriveErrorDetails> = {},
): KvdriveError {
  const { status, code, requestId, retryAfter, cause } = error;
  return new KvdriveError(message, { status, code, requestId, retryAfter, cause, ...details });
}

/** A server, as errors of its requests speak of it. */
export interface NamedServer {
  origin: string;
  /** What it is asked with: "project key". */
  secret: string;
  /** Whether authorities are given with `--cacert`. */
  hasAuthorities: boolean;
}

/** Returns an error of a request in the words of the command line, with advice. */
export function explained(error: KvdriveError, server: NamedServer): KvdriveError {
  const { status, code, message } = error;
  const { origin, secret } = server;
  if (code === "unreachable") return unreachable(error, server);
  if (error instanceof ForeignAnswer) return reworded(error, foreignProblem(error, origin));
  // Errors without a code have this status for wrong keys only.
  const isTooOften = status === 429 && ["too_many_wrong_keys", "invalid_answer"].includes(code);
  if (status === 401 || isTooOften) {
    const advice =
      "Check KVDRIVE_KEY or the file of --key-file, or log in again with kvdrive login";
    return reworded(error, `${origin} does not accept the ${secret} (${message}). ${advice}`, {
      code: isTooOften ? "too_many_wrong_keys" : code,
    });
  }
  return mayPass(error) ? reworded(error, `${origin} answered ${status} (${message})`) : error;
}

function unreachable(error: KvdriveError, { origin, hasAuthorities }: NamedServer): KvdriveError {
  const { cause } = error;
  const reason = reasonOf(cause);
  const problem = certificateProblem(reason, hasAuthorities);
  // Retrying is useless: a server keeps its certificate, and one that speaks plain HTTP will not switch to TLS.
  const code = "invalid_answer";
  if (problem !== undefined) {
    return reworded(error, `The certificate of ${origin} ${problem}`, { code });
  }
  if (/corrupt message of type/.test(reason)) {
    const advice = "Use http:// in place of https://";
    return reworded(error, `${origin} does not speak TLS. ${advice}`, { code });
  }
  return reworded(error, `Cannot reach ${origin}: ${reason}`);
}

/** Returns why a request failed, as the end of a sentence, without the URL that the runtime repeats. */
function reasonOf(error: unknown): string {
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
function certificateProblem(reason: string, hasAuthorities: boolean): string | undefined {
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

/** Describes an answer that is not from kvdrive, whose errors are JSON, but from a proxy or another server. */
function foreignProblem(error: ForeignAnswer, origin: string): string {
  const { status } = error;
  if (status < 300) {
    return `${origin} did not answer like kvdrive. Is the address right? Set it with --url or KVDRIVE_URL`;
  }
  if (status < 400) {
    return `${origin} redirects to another address, and the key is not sent there. Set the right address with --url or KVDRIVE_URL`;
  }
  if (status === 413) {
    return `A proxy in front of ${origin} refused the size of the request (413). Allow 11 MB: in nginx with client_max_body_size, in Caddy with request_body max_size, in Traefik with maxRequestBodyBytes of the buffering middleware`;
  }
  const problem = `${origin} answered ${status}, and the answer is not from kvdrive`;
  return mayPass(error)
    ? `${problem}. Is kvdrive running behind the proxy?`
    : `${problem}. Is the address right (--url or KVDRIVE_URL), and does the proxy pass every path?`;
}
