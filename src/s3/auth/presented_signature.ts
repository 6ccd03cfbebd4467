import { S3Error } from "../s3_error.ts";
import {
  ALGORITHM,
  type AmzDate,
  type KeyScope,
  parseAmzDate,
  parseDateHeader,
  parseScope,
} from "./signing_key.ts";
import type { QueryParameter, RequestHeaders } from "./canonical_request.ts";

/** The signature in a request, and what the request says that it covers. */
export interface PresentedSignature {
  accessKeyId: string;
  scope: KeyScope;
  /** In lower case. */
  signedHeaders: string[];
  /** 64 hexadecimal digits. */
  signature: string;
  date: AmzDate;
  /** Seconds for which a presigned URL is valid; absent with a header. */
  expires?: number;
}

/** "The maximum value is 604800 seconds (seven days)." */
const MAX_EXPIRES = 604_800;

/** The name of a header (RFC 9110, 5.6.2) in lower case. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

type ErrorCode = "AuthorizationHeaderMalformed" | "AuthorizationQueryParametersError";

/** Parameters of presigned URLs of Signature Version 2. */
const VERSION_2 = ["AWSAccessKeyId", "Signature"];

/**
 * Finds the signature of a request.
 *
 * @throws {S3Error} if there is none, more than one, or one of another kind, and if it is malformed.
 */
export function presentedSignature(
  headers: RequestHeaders,
  query: readonly QueryParameter[],
): PresentedSignature {
  const header = headers.get("authorization");
  const isPresigned = query.some(({ name }) => PRESIGNED_NAMES.has(name));
  const isVersion2 = query.some(({ name }) => VERSION_2.includes(name));
  if (header !== undefined && (isPresigned || isVersion2)) {
    throw new S3Error(
      "InvalidArgument",
      "Only one signature is allowed: send the Authorization header or a presigned URL, not both",
      { ArgumentName: "Authorization" },
    );
  }
  if (isPresigned) return presignedSignature(query);
  if (isVersion2) throw unsupportedAlgorithm();
  if (header === undefined) {
    throw new S3Error("AccessDenied", "The request has no signature: sign it with an access key");
  }
  return headerSignature(header, headers);
}

/** The error for signatures of other versions. Some clients presign URLs with version 2 unless they are configured. */
export function unsupportedAlgorithm(): S3Error {
  return new S3Error(
    "InvalidRequest",
    "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256: boto3 and the AWS CLI do so for presigned URLs with signature_version s3v4.",
  );
}

/** Parses `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`. */
function headerSignature(header: string, headers: RequestHeaders): PresentedSignature {
  const [, algorithm = "", rest = ""] = /^(\S+)\s*(.*)$/s.exec(header) ?? [];
  if (algorithm === "AWS" || algorithm.startsWith("AWS4-ECDSA")) throw unsupportedAlgorithm();
  if (algorithm !== ALGORITHM) {
    throw new S3Error("InvalidArgument", "Unsupported Authorization Type: use AWS4-HMAC-SHA256", {
      ArgumentName: "Authorization",
    });
  }
  const fields = new Map<string, string>();
  for (const field of rest.split(",")) {
    const [, name = "", value = ""] = /^\s*([A-Za-z]+)=(\S+)\s*$/.exec(field) ?? [];
    if (!HEADER_FIELDS.has(name) || fields.has(name)) throw malformedHeader();
    fields.set(name, value);
  }
  if (fields.size !== HEADER_FIELDS.size) throw malformedHeader();
  return checked({
    credential: fields.get("Credential") ?? "",
    signedHeaders: fields.get("SignedHeaders") ?? "",
    signature: fields.get("Signature") ?? "",
    date: headerDate(headers),
  }, "AuthorizationHeaderMalformed");
}

const HEADER_FIELDS = new Set(["Credential", "SignedHeaders", "Signature"]);

function malformedHeader(): S3Error {
  return new S3Error(
    "AuthorizationHeaderMalformed",
    "The Authorization header is malformed: it must have Credential, SignedHeaders and Signature, once each, separated by commas",
  );
}

/** The time of the request: `x-amz-date` comes before `Date`, as clients cannot always set the latter. */
function headerDate(headers: RequestHeaders): AmzDate {
  const own = headers.get("x-amz-date");
  const date = own === undefined
    ? parseDateHeader(headers.get("date") ?? "")
    : parseAmzDate(own.trim());
  if (date !== undefined) return date;
  throw new S3Error(
    "AccessDenied",
    "AWS authentication requires a valid Date or x-amz-date header, such as 20130524T000000Z",
  );
}

/** The parameters that make a URL presigned, each of which must be there. */
const PRESIGNED_NAMES = new Set([
  "X-Amz-Algorithm",
  "X-Amz-Credential",
  "X-Amz-Date",
  "X-Amz-Expires",
  "X-Amz-SignedHeaders",
  "X-Amz-Signature",
]);

function presignedSignature(query: readonly QueryParameter[]): PresentedSignature {
  const fields = new Map<string, string>();
  for (const { name, value } of query) {
    if (!PRESIGNED_NAMES.has(name)) continue;
    if (fields.has(name)) throw badParameters(`${name} occurs more than once`);
    fields.set(name, decode(value));
  }
  const missing = [...PRESIGNED_NAMES].filter((name) => !fields.has(name));
  if (missing.length > 0) {
    throw badParameters(`a presigned URL requires ${[...PRESIGNED_NAMES].join(", ")}`);
  }
  if (fields.get("X-Amz-Algorithm") !== ALGORITHM) {
    throw badParameters(`X-Amz-Algorithm only supports "${ALGORITHM}"`);
  }
  const date = parseAmzDate(fields.get("X-Amz-Date") ?? "");
  if (date === undefined) {
    throw badParameters('X-Amz-Date must have the form "20130524T000000Z"');
  }
  const expires = fields.get("X-Amz-Expires") ?? "";
  if (!/^\d{1,9}$/.test(expires) || Number(expires) < 1 || Number(expires) > MAX_EXPIRES) {
    throw badParameters(`X-Amz-Expires must be a number of seconds from 1 to ${MAX_EXPIRES}`);
  }
  const presented = checked({
    credential: fields.get("X-Amz-Credential") ?? "",
    signedHeaders: fields.get("X-Amz-SignedHeaders") ?? "",
    signature: fields.get("X-Amz-Signature") ?? "",
    date,
  }, "AuthorizationQueryParametersError");
  return { ...presented, expires: Number(expires) };
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function badParameters(problem: string): S3Error {
  return new S3Error(
    "AuthorizationQueryParametersError",
    `The query parameters for authentication are wrong: ${problem}`,
  );
}

interface SignatureTexts {
  credential: string;
  signedHeaders: string;
  signature: string;
  date: AmzDate;
}

function checked(texts: SignatureTexts, code: ErrorCode): PresentedSignature {
  const { credential, signature, date } = texts;
  const { accessKeyId, scope } = parseCredential(credential, date, code);
  const signedHeaders = texts.signedHeaders.split(";");
  const isList = signedHeaders.every((name) => HEADER_NAME.test(name)) &&
    new Set(signedHeaders).size === signedHeaders.length;
  if (!isList) {
    throw new S3Error(code, "SignedHeaders must list names in lower case, separated by semicolons");
  }
  if (!/^[0-9a-f]{64}$/.test(signature)) {
    const problem = "The signature must have 64 hexadecimal digits in lower case";
    throw new S3Error("SignatureDoesNotMatch", problem);
  }
  return { accessKeyId, scope, signedHeaders, signature, date };
}

/**
 * Parses `AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request`. Any region is accepted: the server has none, and
 * clients are configured with all kinds.
 *
 * @throws {S3Error} if it is malformed, of another service or of another day than the request.
 */
export function parseCredential(
  credential: string,
  date: AmzDate,
  code: ErrorCode,
): { accessKeyId: string; scope: KeyScope } {
  const [, accessKeyId, rest = ""] = /^([A-Za-z0-9._-]{1,128})\/(.+)$/.exec(credential) ?? [];
  const scope = parseScope(rest);
  if (accessKeyId === undefined || scope === undefined) {
    throw new S3Error(
      code,
      'The credential is malformed: it must have the form "<access key id>/YYYYMMDD/<region>/s3/aws4_request"',
    );
  }
  if (!date.text.startsWith(`${scope.day}T`)) {
    throw new S3Error(
      code,
      `The credential is of the day ${scope.day}, but the request is of ${date.text}`,
    );
  }
  return { accessKeyId, scope };
}
