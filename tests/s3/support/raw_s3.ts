import { encodeHex } from "@std/encoding/hex";
import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { Answer } from "../../support/answer.ts";
import { plainFetch, REGION, type S3Keys, type S3Site } from "./site.ts";

/** A request of the S3 protocol whose signature a test makes, and changes. */
export interface RawS3 {
  method: string;
  /** The encoded path. */
  path: string;
  query?: string;
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
  /** The value of `x-amz-content-sha256`; the hash of the body unless given. */
  payload?: string;
  time?: Date;
  keys?: S3Keys;
  region?: string;
  service?: string;
}

export interface Signed {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
  signature: string;
  /** What signatures of chunks continue. */
  chunks: { date: string; scope: string; key: Uint8Array };
}

function sha256(data: Uint8Array | string): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: Uint8Array | string, text: string): Uint8Array {
  return createHmac("sha256", key).update(text).digest();
}

/** Signs a request with its headers, independently of the program under test. */
export function sign(site: S3Site, request: RawS3): Signed {
  const { method, path, query = "", body = new Uint8Array(), time = new Date() } = request;
  const { keys = site.keys, region = REGION, service = "s3", payload = sha256(body) } = request;
  const date = time.toISOString().replace(/[-:]|\.\d+/g, "");
  const scope = `${date.slice(0, 8)}/${region}/${service}/aws4_request`;
  const headers: Record<string, string> = {
    host: new URL(site.endpoint).host,
    "x-amz-content-sha256": payload,
    "x-amz-date": date,
    ...request.headers,
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    method,
    path,
    query.split("&").filter(Boolean).sort().join("&"),
    ...names.map((name) => `${name}:${headers[name]?.trim().replaceAll(/ +/g, " ")}`),
    "",
    names.join(";"),
    payload,
  ].join("\n");
  // Values of headers are bytes, which a text of the runtime has as one character each.
  const hash = sha256(Buffer.from(canonical, "latin1"));
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash}`;
  let key: Uint8Array = new TextEncoder().encode(`AWS4${keys.secretAccessKey}`);
  for (const part of [date.slice(0, 8), region, service, "aws4_request"]) key = hmac(key, part);
  const signature = encodeHex(hmac(key, text));
  const credential = `Credential=${keys.accessKeyId}/${scope}`;
  const { host: _, ...sent } = headers;
  return {
    url: `${site.endpoint}${path}${query === "" ? "" : `?${query}`}`,
    method,
    headers: {
      ...sent,
      Authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${
        names.join(";")
      }, Signature=${signature}`,
    },
    ...request.body && { body: request.body },
    signature,
    chunks: { date, scope, key },
  };
}

/** Sends a request as it is. */
export async function sendSigned(site: S3Site, signed: Signed): Promise<Answer> {
  const { url, method, headers, body } = signed;
  return await Answer.of(
    await plainFetch(url, {
      method,
      headers,
      ...body && { body },
      ...site.client && { client: site.client },
    }),
  );
}

/** Signs and sends a request. */
export async function sendRaw(site: S3Site, request: RawS3): Promise<Answer> {
  return await sendSigned(site, sign(site, request));
}

const EMPTY = sha256("");

/** A body in signed chunks: `STREAMING-AWS4-HMAC-SHA256-PAYLOAD`, with a trailer if one is given. */
export function signedChunks(
  { chunks, signature }: Signed,
  pieces: readonly Uint8Array[],
  trailer?: string,
): Uint8Array<ArrayBuffer> {
  const { date, scope, key } = chunks;
  const parts: Uint8Array[] = [];
  let previous = signature;
  const encoder = new TextEncoder();
  for (const piece of [...pieces, new Uint8Array()]) {
    const text = `AWS4-HMAC-SHA256-PAYLOAD\n${date}\n${scope}\n${previous}\n${EMPTY}\n${
      sha256(piece)
    }`;
    previous = encodeHex(hmac(key, text));
    parts.push(
      encoder.encode(`${piece.length.toString(16)};chunk-signature=${previous}\r\n`),
      piece,
      encoder.encode(piece.length === 0 && trailer !== undefined ? "" : "\r\n"),
    );
  }
  if (trailer !== undefined) {
    const text = `AWS4-HMAC-SHA256-TRAILER\n${date}\n${scope}\n${previous}\n${
      sha256(`${trailer}\n`)
    }`;
    const last = `${trailer}\r\nx-amz-trailer-signature:${encodeHex(hmac(key, text))}\r\n\r\n`;
    parts.push(encoder.encode(last));
  }
  return new Uint8Array(Buffer.concat(parts));
}
