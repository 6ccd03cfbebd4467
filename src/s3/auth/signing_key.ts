/**
 * Keys and signatures of AWS Signature Version 4 (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { parseHttpDate, utcTime } from "../../rules/dates.ts";

/** The name of the algorithm in headers, queries and forms. */
export const ALGORITHM = "AWS4-HMAC-SHA256";

/** The most keys in the cache. Each belongs to a day, a region and a secret. */
const MAX_KEYS = 1024;

/** What a signing key is made for. */
export interface KeyScope {
  /** `20130524`. */
  day: string;
  region: string;
}

/** The last part of the scope of a credential. */
const SERVICE = "s3";
const TERMINATOR = "aws4_request";

/** The scope of a credential as signatures contain it: `20130524/us-east-1/s3/aws4_request`. */
export function scopeText({ day, region }: KeyScope): string {
  return `${day}/${region}/${SERVICE}/${TERMINATOR}`;
}

/** Parses what follows the access key id in a credential. Returns `undefined` if it is no scope of S3. */
export function parseScope(text: string): KeyScope | undefined {
  const [, day, region] = /^(\d{8})\/([A-Za-z0-9_-]{1,64})\/s3\/aws4_request$/.exec(text) ?? [];
  return day === undefined || region === undefined ? undefined : { day, region };
}

/** Signing keys. A key takes four computations and serves a day, so the ones used last are kept. */
export class SigningKeys {
  readonly #keys = new Map<string, Uint8Array>();

  /** Returns the signing key of a secret for a day and a region. */
  derive(secret: string, scope: KeyScope): Uint8Array {
    const name = `${scope.day}/${scope.region}/${secret}`;
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const key = [scope.day, scope.region, SERVICE, TERMINATOR].reduce<string | Uint8Array>(
      (key, part) => createHmac("sha256", key).update(part).digest(),
      `AWS4${secret}`,
    ) as Uint8Array;
    // A map is in the order of insertion: the first key is the oldest.
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size < MAX_KEYS) break;
      this.#keys.delete(oldest);
    }
    this.#keys.set(name, key);
    return key;
  }
}

/** Signs a text of characters up to U+00FF, each a byte. Returns 64 hexadecimal digits. */
export function sign(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(bytesOf(text)).digest("hex");
}

/** The SHA-256 of bytes, or of a text of characters up to U+00FF, in hexadecimal. */
export function sha256Hex(data: string | Uint8Array): string {
  const bytes = typeof data === "string" ? bytesOf(data) : data;
  return createHash("sha256").update(bytes).digest("hex");
}

const ONLY_ASCII = /^[\0-\x7f]*$/;

/** The runtime hashes a text in UTF-8 at once, but copies one in Latin-1 character by character. */
function bytesOf(text: string): string | Uint8Array {
  return ONLY_ASCII.test(text) ? text : Buffer.from(text, "latin1");
}

/** What the signatures of chunks depend on besides their bytes. */
export interface ChunkSigning {
  key: Uint8Array;
  /** The time of the request, `20130524T000000Z`. */
  date: string;
  /** See `scopeText`. */
  scope: string;
  /** The signature of the request, which the first chunk's signature covers. */
  seed: string;
}

/** The signatures of the chunks of a body, each of which covers the one before. */
export class ChunkSignatures {
  #previous: string;

  constructor(private readonly signing: ChunkSigning) {
    this.#previous = signing.seed;
  }

  /** Returns the signature of the next chunk. @param sha256 Of its bytes, in hexadecimal. */
  ofChunk(sha256: string): string {
    return this.#sign("AWS4-HMAC-SHA256-PAYLOAD", EMPTY_SHA256, sha256);
  }

  /** Returns the signature of the trailers. @param canonical Lines `name:value`, each ended by a line feed. */
  ofTrailers(canonical: string): string {
    return this.#sign("AWS4-HMAC-SHA256-TRAILER", sha256Hex(canonical));
  }

  #sign(kind: string, ...hashes: string[]): string {
    const { key, date, scope } = this.signing;
    this.#previous = sign(key, [kind, date, scope, this.#previous, ...hashes].join("\n"));
    return this.#previous;
  }
}

/** The SHA-256 of no bytes, which the signatures of chunks contain instead of headers. */
const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** A time as signatures contain it. */
export interface AmzDate {
  /** `20130524T000000Z`. */
  text: string;
  /** Milliseconds since 1970. */
  time: number;
}

const BASIC_FORM = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Parses a time in the basic form of ISO 8601, `20130524T000000Z`; `undefined` for any other text. */
export function parseAmzDate(text: string): AmzDate | undefined {
  if (!BASIC_FORM.test(text)) return undefined;
  const normal = text.replace(BASIC_FORM, "$1-$2-$3T$4:$5:$6.000Z");
  const time = Date.parse(normal);
  // `Date.parse` turns 31 February into 3 March.
  return utcTime(time) === normal ? { text, time } : undefined;
}

/** Parses the header `Date`, in the form of HTTP or in the one above; `undefined` if it has neither. */
export function parseDateHeader(value: string): AmzDate | undefined {
  const seconds = parseHttpDate(value);
  if (seconds === undefined) return parseAmzDate(value);
  return { text: amzDate(seconds * 1000), time: seconds * 1000 };
}

/** Formats a time in milliseconds since 1970. */
export function amzDate(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, "");
}
