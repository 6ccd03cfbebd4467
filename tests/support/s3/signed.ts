import { createHash, createHmac } from "node:crypto";

/** The credentials of an S3 client, as the server names them when it creates them. */
export interface S3Key {
  access_key_id: string;
  secret_access_key: string;
}

export interface S3Request {
  method: string;
  /** The path as it is sent, percent-encoded. */
  path: string;
  /** The parameters, percent-encoded, in the order of their names. */
  query?: string;
  host?: string;
  headers?: Record<string, string>;
  /** The body, which is signed. */
  body?: string;
}

const REGION = "us-east-1";
const ALGORITHM = "AWS4-HMAC-SHA256";
const UNSIGNED = "UNSIGNED-PAYLOAD";

/** Seconds for which presigned targets are valid. */
const VALID_FOR = 300;

/** The headers of a request with its signature (Signature Version 4), without `Host`. */
export function signedHeaders(
  key: S3Key,
  request: Omit<S3Request, "body"> & { body?: string | Uint8Array },
): Record<string, string> {
  const { query = "", host = "localhost", headers = {}, body = "" } = request;
  const time = timeNow();
  const sha256 = hash(body);
  // Headers `x-amz-…` must be signed as well.
  const own = Object.entries(headers).filter(([name]) => name.startsWith("x-amz-"));
  const signed = Object.fromEntries([
    ["host", host] as const,
    ["x-amz-content-sha256", sha256] as const,
    ["x-amz-date", time] as const,
    ...own,
  ].sort(([a], [b]) => a < b ? -1 : 1));
  const signature = sign(key, time, canonical(request, query, signed, sha256));
  const authorization = `${ALGORITHM} Credential=${key.access_key_id}/${scopeOf(time)}, ` +
    `SignedHeaders=${namesOf(signed)}, Signature=${signature}`;
  return {
    "X-Amz-Content-Sha256": sha256,
    "X-Amz-Date": time,
    Authorization: authorization,
    ...headers,
  };
}

/** The head of such a request, up to the empty line. */
export function signedHead(key: S3Key, request: S3Request): string {
  const { method, path, query = "", host = "localhost" } = request;
  const all = { Host: host, ...signedHeaders(key, request) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path}${query === "" ? "" : `?${query}`} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** A whole request with its body. */
export function signedRequest(key: S3Key, request: S3Request): string {
  const { headers = {}, body } = request;
  if (body === undefined) return signedHead(key, request);
  const sized = { ...headers, "Content-Length": String(new TextEncoder().encode(body).length) };
  return signedHead(key, { ...request, headers: sized }) + body;
}

/** The target of a presigned request: the path, and the query with the signature. */
export function presignedTarget(key: S3Key, request: S3Request): string {
  const time = timeNow();
  const query = [
    `X-Amz-Algorithm=${ALGORITHM}`,
    `X-Amz-Credential=${encodeURIComponent(`${key.access_key_id}/${scopeOf(time)}`)}`,
    `X-Amz-Date=${time}`,
    `X-Amz-Expires=${VALID_FOR}`,
    "X-Amz-SignedHeaders=host",
  ].join("&");
  const { path, host = "localhost" } = request;
  const signature = sign(key, time, canonical(request, query, { host }, UNSIGNED));
  return `${path}?${query}&X-Amz-Signature=${signature}`;
}

function canonical(
  { method, path }: Pick<S3Request, "method" | "path">,
  query: string,
  signed: Record<string, string>,
  sha256: string,
): string {
  const pairs = query.split("&").map((pair) =>
    pair.includes("=") || pair === "" ? pair : `${pair}=`
  );
  const headers = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`).join("");
  return [method, canonicalPath(path), pairs.join("&"), headers, namesOf(signed), sha256].join(
    "\n",
  );
}

/** The path as it is signed: every byte but unreserved ones and slashes is encoded, however it was sent. */
function canonicalPath(path: string): string {
  const segments = decodeURIComponent(path).split("/").map(encodeURIComponent);
  return segments.join("/").replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
}

function sign({ secret_access_key }: S3Key, time: string, request: string): string {
  const scope = scopeOf(time);
  const text = [ALGORITHM, time, scope, hash(request)].join("\n");
  const key = scope.split("/").reduce<string | Uint8Array>(
    (previous, part) => createHmac("sha256", previous).update(part).digest(),
    `AWS4${secret_access_key}`,
  );
  return createHmac("sha256", key).update(text).digest("hex");
}

function namesOf(headers: Record<string, string>): string {
  return Object.keys(headers).join(";");
}

function scopeOf(time: string): string {
  return `${time.slice(0, 8)}/${REGION}/s3/aws4_request`;
}

/** The time as `20261122T101500Z`. */
function timeNow(): string {
  return new Date().toISOString().replace(/[-:]|\.\d+/g, "");
}

function hash(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
