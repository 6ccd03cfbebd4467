import { failureReason } from "../rules/system_error.ts";

/** Something that keeps a transfer from being done. The message is a sentence for the person who asked for it. */
export class ClientError extends Error {
  override readonly name: string = "ClientError";
}

/** The server or the network cannot do it now, and may be able to soon. */
export class TemporaryFailure extends ClientError {
  override readonly name: string = "Transient";

  /** @param wait How long the server asks to wait, in milliseconds. */
  constructor(message: string, readonly wait = 0, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Nobody answers there. */
export class Unreachable extends TemporaryFailure {
  override readonly name = "Unreached";
}

/** What failed was tried again until its time was over. */
export class RetriesExhausted extends ClientError {
  override readonly name = "GaveUp";
}

/** The server understood, and does not do it. */
export class Refused extends ClientError {
  override readonly name = "Refused";

  constructor(readonly status: number, message: string) {
    super(message);
  }
}

/** A file became another one while it was sent or fetched. */
export class FileChanged extends ClientError {
  override readonly name = "Changed";
}

/** There is a file of that name already. */
export class FileExists extends ClientError {
  override readonly name = "NotNew";

  constructor() {
    super("There is another file of that name, which is not to be replaced");
  }
}

/** Whether no other file can be transferred either. */
export function isFatal(error: unknown): boolean {
  if (error instanceof Refused) return [401, 403, 429, 507].includes(error.status);
  return error instanceof RetriesExhausted || !(error instanceof ClientError);
}

/** What a file system says of a file of ours. */
export function fileError(what: string, path: string, error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  const reason = failureReason(error);
  return new ClientError(`Cannot ${what} ${path}: ${reason}`, { cause: error });
}
