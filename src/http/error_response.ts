/**
 * From anything that was thrown to the response: the one place that renders errors in JSON.
 *
 * @module
 */
import { type ErrorCode, Refusal } from "../rules/error_codes.ts";
import { StoreFull } from "../store/disk/disk_space.ts";
import {
  isDiskFailure,
  MemoryExhausted,
  NoSuchProject,
  StoreDamaged,
  StoreUnavailable,
} from "../store/engine/errors.ts";
import { errors, HttpError } from "./http_error.ts";
import { json } from "./responses/json_response.ts";

/** The error for anything that was thrown. An unexpected one becomes a 500 without its details. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  // The project was deleted after its key was accepted.
  if (error instanceof NoSuchProject) return errors.unknownKey();
  if (error instanceof Refusal) return new HttpError(error.code, error.message);
  if (error instanceof StoreUnavailable || isDiskFailure(error)) {
    return errors.storeUnavailable(error);
  }
  if (error instanceof MemoryExhausted) return errors.memoryExhausted(error.part);
  if (error instanceof StoreFull) return errors.diskFull(error);
  if (error instanceof StoreDamaged) return errors.fileDamaged(error);
  return errors.internalError(error);
}

/** "An error body is `{"errors": ["one clear sentence", …]}`, never empty"; the code is for programs. */
export function errorBody({ message, code }: Refusal): { errors: string[]; code: ErrorCode } {
  return { errors: [message], code };
}

export function renderError(error: HttpError): Response {
  return json(error.status, errorBody(error), error.headers);
}
