import { createHash, createHmac } from "node:crypto";

/** Credentials for S3 requests. */
export interface S3Credentials {
  region: string;
  accessKey: string;
  secretKey: string;
}

/** A request of the S3 protocol. */
export interface S3Request {
  method: string;
  /** The path with its query, both encoded, and the query sorted. */
  target: string;
  body?: Uint8Array<ArrayBuffer>;
  time: Date;
}

/** The headers that sign a request. */
export type S3Signature = Record<"Authorization" | "x-amz-content-sha256" | "x-amz-date", string>;

const NO_BODY = new Uint8Array();

/** Signs requests to one address with AWS Signature Version 4, including the hash of the body. */
export class S3Signer {
  readonly #host: string;
  readonly #credentials: S3Credentials;
  #day = "";
  #key: Uint8Array = NO_BODY;
  /** Hashes of bodies: the same bytes are hashed once. */
  readonly #hashes = new WeakMap<Uint8Array, string>();

  /** @param host The value of the header `Host`. */
  constructor(host: string, credentials: S3Credentials) {
    this.#host = host;
    this.#credentials = credentials;
  }

  /** The headers that sign a request. */
  sign({ method, target, body = NO_BODY, time }: S3Request): S3Signature {
    const { region, accessKey } = this.#credentials;
    const [path = "", search = ""] = target.split("?");
    const date = time.toISOString().replace(/[-:]|\.\d+/g, "");
    const hash = this.#hashOf(body);
    const signed = "host;x-amz-content-sha256;x-amz-date";
    const query = search.split("&").filter((part) => part !== "")
      .map((part) => part.includes("=") ? part : `${part}=`).join("&");
    const canonical = [
      method,
      path,
      query,
      `host:${this.#host}`,
      `x-amz-content-sha256:${hash}`,
      `x-amz-date:${date}`,
      "",
      signed,
      hash,
    ].join("\n");
    const day = date.slice(0, 8);
    const scope = `${day}/${region}/s3/aws4_request`;
    const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha256(canonical)}`;
    const signature = createHmac("sha256", this.#keyOf(day)).update(text).digest("hex");
    return {
      Authorization:
        `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
      "x-amz-content-sha256": hash,
      "x-amz-date": date,
    };
  }

  #hashOf(body: Uint8Array): string {
    const known = this.#hashes.get(body) ?? sha256(body);
    this.#hashes.set(body, known);
    return known;
  }

  #keyOf(day: string): Uint8Array {
    if (day === this.#day) return this.#key;
    const { region, secretKey } = this.#credentials;
    let key: Uint8Array = new TextEncoder().encode(`AWS4${secretKey}`);
    for (const part of [day, region, "s3", "aws4_request"]) {
      key = createHmac("sha256", key).update(part).digest();
    }
    this.#day = day;
    this.#key = key;
    return key;
  }
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
