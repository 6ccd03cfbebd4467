import { StoreFull, StoreUnavailable, type UploadProblem, UploadRefused } from "../store/errors.ts";
import { errors, HttpError } from "./http_error.ts";
import { json } from "./json_response.ts";

/** What a refused call on an upload is in HTTP. */
const UPLOAD_ERRORS: Record<UploadProblem, (message: string) => HttpError> = {
  absent: errors.noUpload,
  "other name": errors.otherName,
  completed: errors.uploadCompleted,
  parts: errors.badParts,
};

/** The error that a caller gets for whatever was thrown: our own defects say nothing of their inside. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof UploadRefused) return UPLOAD_ERRORS[error.problem](error.message);
  if (error instanceof StoreUnavailable) return errors.unavailable(error);
  if (error instanceof StoreFull) return errors.full(error);
  return errors.internal(error);
}

/** "An error body is `{"errors": ["one clear sentence", …]}`, never empty." */
export function renderError({ status, message, headers }: HttpError): Response {
  return json(status, { errors: [message] }, headers);
}
