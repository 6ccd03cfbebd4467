import { encodeHex } from "@std/encoding/hex";
import { createHash } from "node:crypto";
import { type S3Key, signedHeaders } from "../../support/s3/signed.ts";

/** What a request has besides its method and its key. */
export interface ObjectRequest {
  query?: string;
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
}

/** The answer to a request. */
export interface ObjectAnswer {
  status: number;
  bytes: Uint8Array;
  headers: Headers;
}

/** Sends requests about the objects of a bucket. */
export class S3Client {
  readonly #origin: string;
  readonly #key: S3Key;
  readonly #bucket: string;

  constructor(origin: string, key: S3Key, bucket: string) {
    this.#origin = origin;
    this.#key = key;
    this.#bucket = bucket;
  }

  /** Sends a request. @param key Of the object; empty for the bucket. It must need no encoding. */
  async send(method: string, key: string, request: ObjectRequest = {}): Promise<ObjectAnswer> {
    const { query = "", body } = request;
    const path = key === "" ? `/${this.#bucket}` : `/${this.#bucket}/${key}`;
    const { host } = new URL(this.#origin);
    const headers = signedHeaders(this.#key, { ...request, method, path, host });
    const url = `${this.#origin}${path}${query === "" ? "" : `?${query}`}`;
    const response = await fetch(url, { method, headers, body: body ?? null });
    return {
      status: response.status,
      bytes: new Uint8Array(await response.arrayBuffer()),
      headers: response.headers,
    };
  }

  /** Sends a request that must succeed. */
  async ask(method: string, key: string, request: ObjectRequest = {}): Promise<ObjectAnswer> {
    const answer = await this.send(method, key, request);
    if (answer.status < 300) return answer;
    throw new Error(`${method} ${key}: ${answer.status} ${textOf(answer)}`);
  }

  /** Starts an upload and returns its id. */
  async start(key: string): Promise<string> {
    const answer = await this.ask("POST", key, { query: "uploads=" });
    return /<UploadId>([^<]+)/.exec(textOf(answer))?.[1] ?? "";
  }

  /** Sends a part. Returns its entity tag. */
  async sendPart(
    key: string,
    id: string,
    part: number,
    request: ObjectRequest,
  ): Promise<string> {
    const query = `partNumber=${part}&uploadId=${id}`;
    const answer = await this.ask("PUT", key, { ...request, query });
    return answer.headers.get("etag") ?? /<ETag>&quot;([^&]+)/.exec(textOf(answer))?.[1] ?? "";
  }

  /** Completes an upload with these parts. Returns the answer with any status. */
  async complete(
    key: string,
    id: string,
    parts: readonly (readonly [part: number, tag: string])[],
  ): Promise<ObjectAnswer> {
    const named = parts.map(([part, tag]) =>
      `<Part><PartNumber>${part}</PartNumber><ETag>${tag}</ETag></Part>`
    );
    const text = `<CompleteMultipartUpload>${named.join("")}</CompleteMultipartUpload>`;
    const body = new TextEncoder().encode(text);
    return await this.send("POST", key, { query: `uploadId=${id}`, body });
  }
}

/** The body of an answer as text. */
export function textOf({ bytes }: ObjectAnswer): string {
  return new TextDecoder().decode(bytes);
}

/** Returns the entity tag, without quotes, of an object of these parts, or of an object that is sent at once. */
export function tagOf(parts: readonly Uint8Array[], isInParts: boolean): string {
  const digests = parts.map((part) => createHash("md5").update(part).digest());
  const [only] = digests;
  if (!isInParts && only !== undefined) return encodeHex(only);
  const whole = createHash("md5");
  for (const digest of digests) whole.update(digest);
  return `${whole.digest("hex")}-${parts.length}`;
}
