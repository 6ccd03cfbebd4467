import { toHttpError } from "../http/error_response.ts";
import type { ErrorCode } from "../rules/error_codes.ts";
import { RightMissing } from "../rules/rights.ts";
import { NoSuchDrive, NoSuchProject } from "../store/engine/errors.ts";
import { type S3Code, S3Error, s3Errors } from "./s3_error.ts";

/** The codes of S3 for error codes that need another one than their status. */
const BY_CODE: Partial<Record<ErrorCode, S3Code>> = {
  invalid_parts: "InvalidPart",
  too_many_open_uploads: "InvalidRequest",
  upload_completed: "NoSuchUpload",
  upload_name_mismatch: "NoSuchUpload",
  upload_not_found: "NoSuchUpload",
};

const BY_STATUS: Readonly<Record<number, S3Code>> = {
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
  if (error instanceof NoSuchProject) {
    return new S3Error("InvalidAccessKeyId", "The access key was revoked");
  }
  if (error instanceof NoSuchDrive) return s3Errors.noSuchBucket(error.drive);
  const { code, status, message, headers, cause } = toHttpError(error);
  const s3Code = BY_CODE[code] ?? BY_STATUS[status] ?? "InternalError";
  const sentence = error instanceof RightMissing ? `The access key ${error.problem}` : message;
  return new S3Error(s3Code, sentence, {}, cause, headers);
}
