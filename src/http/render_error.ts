import {
  AccessIsOff,
  AlreadyExists,
  BeingRemoved,
  isDiskFailure,
  MemoryExhausted,
  NoSuchApp,
  NoSuchProject,
  QuotaExceeded,
  StoreFull,
  StoreUnavailable,
  TooManyOpenUploads,
  type UploadProblem,
  UploadRefused,
} from "../store/errors.ts";
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
  // Its key let the caller in a moment ago.
  if (error instanceof NoSuchProject) return errors.unknownKey();
  if (error instanceof NoSuchApp) return errors.noApplication(error.app);
  if (error instanceof BeingRemoved && error.what === "drive") {
    return errors.driveBeingRemoved(error.id);
  }
  if (isConflict(error)) return errors.conflict(error.message);
  if (error instanceof StoreUnavailable || isDiskFailure(error)) return errors.unavailable(error);
  if (error instanceof MemoryExhausted) return errors.noMemory(error.part);
  if (error instanceof QuotaExceeded) return errors.overQuota(error.message);
  if (error instanceof StoreFull) return errors.full(error);
  return errors.internal(error);
}

function isConflict(error: unknown): error is Error {
  return [BeingRemoved, AlreadyExists, AccessIsOff, TooManyOpenUploads].some((kind) =>
    error instanceof kind
  );
}

/** "An error body is `{"errors": ["one clear sentence", …]}`, never empty." */
export function renderError({ status, message, headers }: HttpError): Response {
  return json(status, { errors: [message] }, headers);
}
