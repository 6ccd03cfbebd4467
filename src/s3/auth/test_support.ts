import { canonicalRequest, parseQuery } from "./canonical_request.ts";
import { RequestHeaders } from "./canonical_request.ts";
import type { RawRequest } from "./signature.ts";
import { ALGORITHM, parseScope, scopeText, sha256Hex, sign, SigningKeys } from "./signing_key.ts";

/** The credentials of the examples in the documentation of S3. */
export const EXAMPLE_ID = "AKIAIOSFODNN7EXAMPLE";
export const EXAMPLE_SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

/** The time of the examples. */
export const EXAMPLE_TIME = Date.UTC(2013, 4, 24);

/** Finds the secret of the examples. */
export function exampleLookup(
  accessKeyId: string,
): Promise<{ secret: string; key: string } | undefined> {
  const found = { secret: EXAMPLE_SECRET, key: "a key" };
  return Promise.resolve(accessKeyId === EXAMPLE_ID ? found : undefined);
}

/** The SHA-256 of no bytes. */
export const EMPTY_HASH = sha256Hex("");

/** What a test signs; everything else is as in the examples. */
export interface SignedParts {
  method?: string;
  path?: string;
  query?: string;
  headers?: Record<string, string>;
  scope?: string;
  /** The names of the signed headers; all headers unless given. */
  signedHeaders?: string;
}

/** Signs a request in its header `Authorization`. */
export function signedRequest(parts: SignedParts = {}): RawRequest {
  const { method = "GET", path = "/", query = "", scope = "20130524/us-east-1/s3/aws4_request" } =
    parts;
  const headers: Record<string, string> = {
    host: "examplebucket.s3.amazonaws.com",
    "x-amz-date": "20130524T000000Z",
    "x-amz-content-sha256": EMPTY_HASH,
    ...parts.headers,
  };
  const names = parts.signedHeaders ?? Object.keys(headers).sort().join(";");
  const canonical = canonicalRequest({
    method,
    path,
    query: parseQuery(query),
    headers: new RequestHeaders(Object.entries(headers)),
    signedHeaders: names.split(";"),
    payload: headers["x-amz-content-sha256"] ?? "",
  });
  const signature = signText(canonical, headers["x-amz-date"] ?? "", scope);
  headers["authorization"] =
    `${ALGORITHM} Credential=${EXAMPLE_ID}/${scope},SignedHeaders=${names},Signature=${signature}`;
  return { method, path, query, headers: Object.entries(headers) };
}

/** Signs a request in its query. @param parameters Besides the algorithm and the credential. */
export function presignedRequest(
  parameters: Record<string, string> = {},
  headers: Record<string, string> = {},
): RawRequest {
  const scope = "20130524/us-east-1/s3/aws4_request";
  const all: Record<string, string> = {
    "X-Amz-Algorithm": ALGORITHM,
    "X-Amz-Credential": `${EXAMPLE_ID}/${scope}`,
    "X-Amz-Date": "20130524T000000Z",
    "X-Amz-Expires": "86400",
    "X-Amz-SignedHeaders": "host",
    ...parameters,
  };
  const query = Object.entries(all).map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
  const lines = Object.entries({ host: "examplebucket.s3.amazonaws.com", ...headers });
  const canonical = canonicalRequest({
    method: "GET",
    path: "/test.txt",
    query: parseQuery(query),
    headers: new RequestHeaders(lines),
    signedHeaders: (all["X-Amz-SignedHeaders"] ?? "").split(";"),
    payload: headers["x-amz-content-sha256"] ?? "UNSIGNED-PAYLOAD",
  });
  const signature = signText(canonical, all["X-Amz-Date"] ?? "", scope);
  return {
    method: "GET",
    path: "/test.txt",
    query: `${query}&X-Amz-Signature=${signature}`,
    headers: lines,
  };
}

function signText(canonical: string, date: string, scopeOf: string): string {
  const scope = parseScope(scopeOf) ?? { day: "20130524", region: "us-east-1" };
  const text = [ALGORITHM, date, scopeText(scope), sha256Hex(canonical)].join("\n");
  return sign(new SigningKeys().derive(EXAMPLE_SECRET, scope), text);
}
