/**
 * The errors of the S3 interface: one table of codes, and the exception that carries one.
 *
 * @module
 */

/** The status of each error code, as S3 answers it. */
export const S3_STATUS = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  EntityTooLarge: 400,
  EntityTooSmall: 400,
  IncompleteBody: 400,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidChunkSizeError: 403,
  InvalidDigest: 400,
  InvalidPolicyDocument: 400,
  InvalidRequest: 400,
  InvalidToken: 400,
  InvalidURI: 400,
  MalformedPOSTRequest: 400,
  MalformedTrailerError: 400,
  MalformedXML: 400,
  MaxPostPreDataLengthExceeded: 400,
  MissingContentLength: 411,
  NotImplemented: 501,
  RequestTimeout: 400,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  XAmzContentSHA256Mismatch: 400,
} as const satisfies Record<string, number>;

/** The code of an error, which client libraries decide by. */
export type S3Code = keyof typeof S3_STATUS;

/** An error response of the S3 interface. */
export class S3Error extends Error {
  override readonly name = "S3Error";

  /**
   * @param message What happened and what would be right, for the person who reads the client's log.
   * @param details Further elements of the answer by name, such as `ArgumentName`.
   */
  constructor(
    readonly code: S3Code,
    message: string,
    readonly details: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  /** The status of the response. */
  get status(): number {
    return S3_STATUS[this.code];
  }
}
