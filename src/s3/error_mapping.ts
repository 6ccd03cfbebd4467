import { HttpError, toHttpError } from "../http/http_error.ts";
import { RightMissing } from "../rules/rights.ts";
import {
  BeingDeleted,
  NoSuchDrive,
  NoSuchProject,
  TooManyOpenUploads,
  UploadRefused,
} from "../store/engine/errors.ts";
import { type S3Code, S3Error, s3Errors } from "./s3_error.ts";

/** The codes for errors of the HTTP layer and the store, by their status. */
const CODES: Readonly<Record<number, S3Code>> = {
  400: "InvalidRequest",
  401: "InvalidAccessKeyId",
  403: "AccessDenied",
  404: "NoSuchKey",
  405: "MethodNotAllowed",
  408: "RequestTimeout",
  409: "OperationAborted",
  412: "PreconditionFailed",
  413: "EntityTooLarge",
  416: "InvalidRange",
  429: "SlowDown",
  431: "InvalidRequest",
  503: "SlowDown",
  507: "InsufficientStorage",
};

/** The error for anything that was thrown. An unexpected one becomes an `InternalError` without its details. */
export function toS3Error(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  if (error instanceof RightMissing) {
    return new S3Error("AccessDenied", error.message.replace(OF_DRIVE_API, "The access key"));
  }
  if (error instanceof NoSuchProject) {
    return new S3Error("InvalidAccessKeyId", "The access key was revoked");
  }
  if (error instanceof NoSuchDrive) return s3Errors.noSuchBucket(error.drive);
  if (error instanceof UploadRefused) {
    return error.problem === "parts"
      ? new S3Error("InvalidPart", error.message)
      : new S3Error("NoSuchUpload", error.message);
  }
  if (error instanceof BeingDeleted) return new S3Error("OperationAborted", error.message);
  if (error instanceof TooManyOpenUploads) return new S3Error("InvalidRequest", error.message);
  const { status, message, headers, cause } = toHttpError(error);
  const code = CODES[status] ?? "InternalError";
  return new S3Error(code, message, {}, error instanceof HttpError ? cause : error, headers);
}

/** The beginning of messages on missing rights, which are written for the drive API. */
const OF_DRIVE_API = /^The key in X-Api-Key/;
