import type { ErrorCode } from "../rules/error_codes.ts";
import { failureReason } from "../rules/system_error.ts";

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
