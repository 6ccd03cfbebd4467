/**
 * The errors of the S3 interface: one table of codes, and the exception that carries one.
 *
 * @module
 */

import { toHttpError } from "../http/error_response.ts";
import type { ErrorCode } from "../rules/error_codes.ts";
import { RightMissing } from "../rules/rights.ts";
import { NoSuchDrive, NoSuchProject } from "../store/engine/errors.ts";

/** The status of each error code, as S3 answers it. */
const S3_STATUS = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  BucketAlreadyOwnedByYou: 409,
  BucketNotEmpty: 409,
  EntityTooLarge: 400,
  EntityTooSmall: 400,
  IncompleteBody: 400,
  InsufficientStorage: 507,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidBucketName: 400,
  InvalidChunkSizeError: 403,
  InvalidDigest: 400,
  InvalidPart: 400,
  InvalidPartNumber: 416,
  InvalidPartOrder: 400,
  InvalidPolicyDocument: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidStorageClass: 400,
  InvalidToken: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedPOSTRequest: 400,
  MalformedTrailerError: 400,
  MalformedXML: 400,
  MaxPostPreDataLengthExceeded: 400,
  MetadataTooLarge: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  NoSuchBucket: 404,
  NoSuchBucketPolicy: 404,
  NoSuchCORSConfiguration: 404,
  NoSuchKey: 404,
  NoSuchLifecycleConfiguration: 404,
  NoSuchPublicAccessBlockConfiguration: 404,
  NoSuchTagSet: 404,
  NoSuchUpload: 404,
  NoSuchVersion: 404,
  NoSuchWebsiteConfiguration: 404,
  NotImplemented: 501,
  ObjectLockConfigurationNotFoundError: 404,
  OperationAborted: 409,
  OwnershipControlsNotFoundError: 404,
  PreconditionFailed: 412,
  ReplicationConfigurationNotFoundError: 404,
  RequestTimeTooSkewed: 403,
  RequestTimeout: 400,
  ServerSideEncryptionConfigurationNotFoundError: 404,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
  XAmzContentSHA256Mismatch: 400,
} as const satisfies Record<string, number>;

/** The code of an error, by which client libraries decide what to do. */
export type S3Code = keyof typeof S3_STATUS;

export class S3Error extends Error {
  override readonly name = "S3Error";

  /**
   * @param message What happened and what would be right, for the person who reads the client's log.
   * @param details Further elements of the response by name, such as `ArgumentName`.
   * @param headers Further headers of the response.
   */
  constructor(
    readonly code: S3Code,
    message: string,
    readonly details: Readonly<Record<string, string>> = {},
    cause?: unknown,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message, { cause });
  }

  get status(): number {
    return S3_STATUS[this.code];
  }
}

/** Errors that several operations have. */
export const s3Errors = {
  noSuchBucket: (bucket: string) =>
    new S3Error("NoSuchBucket", "The bucket does not exist: create it first", {
      BucketName: bucket,
    }),
  noSuchKey: (key: string) => new S3Error("NoSuchKey", "The key does not exist", { Key: key }),
  noSuchUpload: (id: string) =>
    new S3Error(
      "NoSuchUpload",
      "The upload does not exist: it never was, has expired, was aborted or completed",
      { UploadId: id },
    ),
  /** @param condition The header that does not hold, if it is known. */
  preconditionFailed: (condition?: string) =>
    new S3Error(
      "PreconditionFailed",
      "A condition of the request does not hold",
      condition === undefined ? {} : { Condition: condition },
    ),
  badArgument: (name: string, value: string, problem: string) =>
    new S3Error("InvalidArgument", `Bad value of ${name}: ${problem}`, {
      ArgumentName: name,
      ArgumentValue: value.slice(0, MAX_QUOTED),
    }),
  notImplemented: (what: string) =>
    new S3Error("NotImplemented", `This server does not implement ${what}`),
} as const;

/** The longest part of a caller's value that a response repeats, in characters. */
const MAX_QUOTED = 200;

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
