/**
 * Signature Version 4 of a request, in the header `Authorization` or in a presigned URL. A change of anything that was
 * signed is refused, and so is a header `x-amz-…` that was not.
 *
 * @module
 */
import { isoSeconds } from "../../rules/dates.ts";
import { isSameSecret } from "../../rules/secrets.ts";
import { S3Error } from "../s3_error.ts";
import {
  ALGORITHM,
  amzDate,
  type ChunkSigning,
  scopeText,
  sha256Hex,
  sign,
  SigningKeys,
} from "./signing_key.ts";
import {
  canonicalRequest,
  parseQuery,
  type QueryParameter,
  RequestHeaders,
} from "./canonical_request.ts";
import { type PresentedSignature, presentedSignature } from "./presented_signature.ts";

/** "15 minutes": how far the clocks of client and server may differ, in milliseconds. */
const MAX_SKEW = 15 * 60 * 1000;

/**
 * Headers that clients send. The error for a wrong signature repeats only these: a proxy may have added others, such as a
 * secret by which the server recognizes it.
 */
const OF_CLIENTS =
  /^(?:accept|amz-sdk-|cache-control$|content-|date$|expires$|host$|if-|range$|user-agent$|x-amz-)/;

/** The parts of a request that a signature covers, exactly as they were sent. */
export interface RawRequest {
  method: string;
  /** Percent-encoded, with the leading slash, without the query. */
  path: string;
  /** Without "?". */
  query: string;
  /** `Headers`, or the single lines: only these keep repeated headers apart. */
  headers: Iterable<readonly [name: string, value: string]>;
}

/** Finds the secret of an access key, and what else is known of it; `undefined` if there is no such key. */
export type SecretLookup<K> = (
  accessKeyId: string,
) => Promise<{ secret: string; key: K } | undefined>;

/** How the body of a request is sent and what the signature says of it. */
export type PayloadKind =
  | { kind: "unsigned" }
  /** With the SHA-256 of the body in hexadecimal. */
  | { kind: "signed"; sha256: string }
  /** In chunks of the encoding `aws-chunked`. */
  | { kind: "chunked"; signed: boolean; trailer: boolean };

/** A request whose signature is right. */
export interface Verified<K> {
  key: K;
  accessKeyId: string;
  isPresigned: boolean;
  payload: PayloadKind;
  /** For the signatures of chunks; absent unless they are signed. */
  signing?: ChunkSigning;
}

/**
 * Checks the signature of a request, in a header or in a presigned URL.
 *
 * @param now Milliseconds since 1970.
 * @param keys Signing keys that were derived before.
 * @throws {S3Error}
 */
export async function verifySignature<K>(
  request: RawRequest,
  lookup: SecretLookup<K>,
  now: number,
  keys: SigningKeys = new SigningKeys(),
): Promise<Verified<K>> {
  const headers = new RequestHeaders(request.headers);
  const query = parseQuery(request.query);
  const presented = presentedSignature(headers, query);
  refuseSessionToken(headers, query);
  requireSignedHeaders(presented, headers);
  const isPresigned = presented.expires !== undefined;
  const hash = payloadHash(headers, query, isPresigned);
  const payload = parsePayloadKind(hash);
  assertTime(presented, now);

  const { accessKeyId, scope, date, signedHeaders, signature } = presented;
  const found = await lookup(accessKeyId);
  if (found === undefined) throw unknownKey(accessKeyId);
  const canonical = canonicalRequest({
    method: request.method,
    path: request.path,
    query: query.filter(({ name }) => !isPresigned || name !== "X-Amz-Signature"),
    headers,
    signedHeaders,
    payload: hash,
  });
  const text = [ALGORITHM, date.text, scopeText(scope), sha256Hex(canonical)].join("\n");
  const signingKey = keys.derive(found.secret, scope);
  if (!isSameSecret(sign(signingKey, text), signature)) {
    throw new S3Error(
      "SignatureDoesNotMatch",
      "The signature is not that of this request with this access key: check the secret access key and how the request is signed",
      {
        AWSAccessKeyId: accessKeyId,
        StringToSign: text,
        SignatureProvided: signature,
        ...(signedHeaders.every((name) => OF_CLIENTS.test(name))
          ? { CanonicalRequest: canonical }
          : {}),
      },
    );
  }
  const verified = { key: found.key, accessKeyId, isPresigned, payload };
  if (payload.kind !== "chunked" || !payload.signed) return verified;
  const signing = { key: signingKey, date: date.text, scope: scopeText(scope), seed: signature };
  return { ...verified, signing };
}

export function unknownKey(accessKeyId: string): S3Error {
  return new S3Error(
    "InvalidAccessKeyId",
    "There is no such access key: it is wrong, has expired or was revoked",
    { AWSAccessKeyId: accessKeyId },
  );
}

function refuseSessionToken(headers: RequestHeaders, query: readonly QueryParameter[]): void {
  const inQuery = query.some(({ name }) => name === "X-Amz-Security-Token");
  if (headers.get("x-amz-security-token") === undefined && !inQuery) return;
  throw new S3Error(
    "InvalidToken",
    "Session tokens are not supported: use an access key of this server without one",
  );
}

/** "The CanonicalHeaders list must include the Host header and any x-amz-* headers that you include in the request." */
function requireSignedHeaders({ signedHeaders }: PresentedSignature, headers: RequestHeaders) {
  const signed = new Set(signedHeaders);
  const missing = [...headers.names()].filter((name) => name.startsWith("x-amz-"));
  const unsigned = ["host", ...missing].filter((name) => !signed.has(name));
  if (unsigned.length === 0) return;
  throw new S3Error(
    "AccessDenied",
    "There were headers present in the request which were not signed",
    {
      HeadersNotSigned: unsigned.join(", "),
    },
  );
}

/** The hash of the body as the canonical request contains it. */
function payloadHash(
  headers: RequestHeaders,
  query: readonly QueryParameter[],
  isPresigned: boolean,
): string {
  const header = headers.get("x-amz-content-sha256");
  if (header !== undefined) return header;
  if (!isPresigned) {
    throw new S3Error(
      "InvalidRequest",
      "Missing required header for this request: x-amz-content-sha256",
    );
  }
  return query.find(({ name }) => name === "X-Amz-Content-Sha256")?.value ?? UNSIGNED_PAYLOAD;
}

/** The value of x-amz-content-sha256 for a body that is not signed. */
export const UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD";

const KINDS: ReadonlyMap<string, PayloadKind> = new Map<string, PayloadKind>([
  [UNSIGNED_PAYLOAD, { kind: "unsigned" }],
  ["STREAMING-AWS4-HMAC-SHA256-PAYLOAD", { kind: "chunked", signed: true, trailer: false }],
  ["STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", { kind: "chunked", signed: true, trailer: true }],
  ["STREAMING-UNSIGNED-PAYLOAD-TRAILER", { kind: "chunked", signed: false, trailer: true }],
]);

/** Parses `x-amz-content-sha256`. @throws {S3Error} */
function parsePayloadKind(value: string): PayloadKind {
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

function assertTime({ date, expires }: PresentedSignature, now: number): void {
  if (expires === undefined) return assertSkew(date.text, date.time, now);
  if (date.time > now + MAX_SKEW) {
    throw new S3Error("AccessDenied", "Request is not yet valid", {
      "X-Amz-Date": date.text,
      ServerTime: isoSeconds(now),
    });
  }
  const end = date.time + expires * 1000;
  if (now <= end) return;
  throw new S3Error("AccessDenied", "Request has expired", {
    "X-Amz-Expires": String(expires),
    Expires: isoSeconds(end),
    ServerTime: isoSeconds(now),
  });
}

function assertSkew(text: string, time: number, now: number): void {
  if (Math.abs(now - time) <= MAX_SKEW) return;
  throw new S3Error(
    "RequestTimeTooSkewed",
    "The difference between the request time and the server's time is too large: check the client's clock",
    {
      RequestTime: text,
      ServerTime: amzDate(now),
      MaxAllowedSkewMilliseconds: String(MAX_SKEW),
    },
  );
}
