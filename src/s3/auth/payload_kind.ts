import { S3Error } from "../s3_error.ts";

/** How the body of a request is sent and what the signature says of it. */
export type PayloadKind =
  | { kind: "unsigned" }
  /** With the SHA-256 of the body in hexadecimal. */
  | { kind: "signed"; sha256: string }
  /** In chunks of the encoding `aws-chunked`. */
  | { kind: "chunked"; signed: boolean; trailer: boolean };

/** The value of x-amz-content-sha256 for a body that is not signed. */
export const UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD";

const KINDS: ReadonlyMap<string, PayloadKind> = new Map<string, PayloadKind>([
  [UNSIGNED_PAYLOAD, { kind: "unsigned" }],
  ["STREAMING-AWS4-HMAC-SHA256-PAYLOAD", { kind: "chunked", signed: true, trailer: false }],
  ["STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", { kind: "chunked", signed: true, trailer: true }],
  ["STREAMING-UNSIGNED-PAYLOAD-TRAILER", { kind: "chunked", signed: false, trailer: true }],
]);

/** Parses `x-amz-content-sha256`. @throws {S3Error} */
export function parsePayloadKind(value: string): PayloadKind {
  const kind = KINDS.get(value);
  if (kind !== undefined) return kind;
  if (/^[0-9a-f]{64}$/i.test(value)) return { kind: "signed", sha256: value.toLowerCase() };
  if (/^STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD(-TRAILER)?$/.test(value)) {
    throw new S3Error(
      "NotImplemented",
      `Payloads of the kind ${value} are not supported: use AWS4-HMAC-SHA256`,
    );
  }
  throw new S3Error(
    "InvalidArgument",
    "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER, STREAMING-UNSIGNED-PAYLOAD-TRAILER or a SHA-256 in hexadecimal",
    { ArgumentName: "x-amz-content-sha256", ArgumentValue: value },
  );
}
