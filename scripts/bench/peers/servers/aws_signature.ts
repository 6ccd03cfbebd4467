import { encodeHex } from "@std/encoding/hex";

/** A request of the S3 protocol. */
export interface S3Request {
  method: string;
  /** The address, with an encoded and sorted query. */
  url: string;
  body: string;
  region: string;
  accessKey: string;
  secretKey: string;
  time: Date;
}

/** The headers that sign a request: version 4 of the signatures of Amazon Web Services. */
export async function signedHeaders(
  request: S3Request,
): Promise<Record<"Authorization" | "x-amz-content-sha256" | "x-amz-date", string>> {
  const { method, url, body, region, accessKey, secretKey, time } = request;
  const { host, pathname, search } = new URL(url);
  const date = time.toISOString().replace(/[-:]|\.\d+/g, "");
  const hash = await sha256(body);
  const signed = "host;x-amz-content-sha256;x-amz-date";
  const query = search.slice(1).split("&").filter((part) => part !== "")
    .map((part) => part.includes("=") ? part : `${part}=`).join("&");
  const canonical = [
    method,
    pathname,
    query,
    `host:${host}`,
    `x-amz-content-sha256:${hash}`,
    `x-amz-date:${date}`,
    "",
    signed,
    hash,
  ].join("\n");
  const day = date.slice(0, 8);
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${await sha256(canonical)}`;
  let key: Uint8Array<ArrayBuffer> = encoder.encode(`AWS4${secretKey}`);
  for (const part of [day, region, "s3", "aws4_request", text]) key = await hmac(key, part);
  const signature = encodeHex(key);
  return {
    Authorization:
      `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
    "x-amz-content-sha256": hash,
    "x-amz-date": date,
  };
}

const encoder = new TextEncoder();

async function sha256(text: string): Promise<string> {
  return encodeHex(await crypto.subtle.digest("SHA-256", encoder.encode(text)));
}

async function hmac(key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array<ArrayBuffer>> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, encoder.encode(text)));
}
