/**
 * A repository in a bucket of S3. Requests are signed with version 4 and the SHA-256 of their bodies, which the service
 * checks. Entity tags are not used: they say different things at different services.
 *
 * @module
 */
import { delay } from "@std/async/delay";
import { childrenNamed, childText, readXml, type XmlNode } from "../../xml/xml_reader.ts";
import {
  ALGORITHM,
  amzDate,
  scopeText,
  sha256Hex,
  sign,
  SigningKeys,
} from "../../s3/auth/signing_key.ts";
import { canonicalRequest, parseQuery, RequestHeaders } from "../../s3/auth/canonical_request.ts";
import { failureReason } from "../../rules/system_error.ts";
import { SECOND } from "../../rules/units.ts";
import { RepositoryError } from "../errors.ts";
import { type HttpAnswer, HttpClient } from "./http_exchange.ts";
import type { Bytes } from "../bytes.ts";
import type { ListedObject, Target } from "./target.ts";

export interface S3Settings {
  /** The address of the service, such as `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
  /** Certificates of further authorities to trust, in PEM. */
  authorities?: string | undefined;
}

/** How long a request may make no progress, in milliseconds. */
const PATIENCE = 30 * SECOND;

/** How long a request is repeated that the service cannot answer now, in milliseconds. */
const RETRY_TIME = 45 * SECOND;

/** The pauses between attempts, in milliseconds: from the first to the longest, each up to twice the one before. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 8 * SECOND;

/** How often a page of a listing is asked for that cannot be read. */
const LIST_ATTEMPTS = 3;

/** By how much times may differ: no service refuses a request for so little. */
const CLOCK_TOLERANCE = 5 * SECOND;

/** Objects of one page of a listing, and elements that such a page may have. */
const PAGE = 1000;
const MAX_ELEMENTS = 100_000;

/** Statuses that may pass: 409 is that of two conditional requests at the same time. */
const RETRIED = new Set([408, 409, 425, 429, 500, 502, 503, 504]);

interface S3Request {
  method: "GET" | "PUT" | "DELETE";
  /** The object; empty for the bucket. */
  name: string;
  query?: string;
  headers?: Record<string, string>;
  body?: Bytes;
}

/** A failure that may pass: without an answer, or with one that says so. */
class Passing extends Error {}

export class S3Target implements Target {
  readonly place: string;
  readonly #keys = new SigningKeys();
  readonly #client: HttpClient;
  readonly #endpoint: string;
  /** By how much the service's clock is ahead of ours, in milliseconds. */
  #clockOffset = 0;

  constructor(
    private readonly bucket: string,
    private readonly prefix: string,
    private readonly settings: S3Settings,
  ) {
    this.place = `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}`;
    this.#client = new HttpClient(PATIENCE, settings.authorities);
    this.#endpoint = settings.endpoint.replace(/\/+$/, "");
  }

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  async topNames(): Promise<string[]> {
    const { names } = await this.#page("", undefined, "/");
    return names.map((name) => name.split("/")[0] ?? "");
  }

  async get(name: string, limit?: number): Promise<Bytes | undefined> {
    const headers: Record<string, string> = limit === undefined ? {} : { range: `bytes=-${limit}` };
    const { status, body } = await this.#send({ method: "GET", name, headers }, [200, 206, 404]);
    return status === 404 ? undefined : limit === undefined ? body : body.subarray(-limit);
  }

  async put(name: string, bytes: Bytes, isNew = false): Promise<boolean> {
    const request: S3Request = { method: "PUT", name, body: bytes };
    const stored = [200, 201, 204];
    if (isNew) {
      const headers = { "if-none-match": "*" };
      const { status } = await this.#send({ ...request, headers }, [...stored, 412, 501]);
      // Some services do not know the condition. Two first snapshots at one moment are found out later then.
      if (status !== 501) return status !== 412;
    }
    await this.#send(request, stored);
    return true;
  }

  async *list(folder: string): AsyncGenerator<ListedObject> {
    let token: string | undefined;
    do {
      const page = await this.#page(`${folder}/`, token);
      yield* page.objects;
      token = page.next;
    } while (token !== undefined);
  }

  async remove(name: string): Promise<void> {
    await this.#send({ method: "DELETE", name }, [200, 202, 204, 404]);
  }

  /** Returns a page of the objects whose names begin with a text. */
  async #page(
    start: string,
    token: string | undefined,
    delimiter?: string,
  ): Promise<{ objects: ListedObject[]; names: string[]; next: string | undefined }> {
    const root = this.prefix === "" ? "" : `${this.prefix}/`;
    const query = new URLSearchParams({ "list-type": "2", "max-keys": String(PAGE) });
    if (token !== undefined) query.set("continuation-token", token);
    if (delimiter !== undefined) query.set("delimiter", delimiter);
    query.set("prefix", root + start);
    const document = await this.#list(query);
    const nameIn = (node: XmlNode, field: string) =>
      (childText(node, field) ?? "").slice(root.length);
    const objects = childrenNamed(document, "Contents").map((node) => ({
      name: nameIn(node, "Key"),
      size: Number(childText(node, "Size")),
    }));
    const folders = childrenNamed(document, "CommonPrefixes").map((node) => nameIn(node, "Prefix"));
    const isLast = childText(document, "IsTruncated") !== "true";
    const next = isLast ? undefined : childText(document, "NextContinuationToken");
    if (!isLast && (next === undefined || next === token)) throw this.#badListing();
    return { objects, names: [...folders, ...objects.map(({ name }) => name)], next };
  }

  /** Returns a page of a listing, which is asked for again if it changed on its way. */
  async #list(query: URLSearchParams): Promise<XmlNode> {
    for (let attempt = 1;; attempt++) {
      const { body } = await this.#send({ method: "GET", name: "", query: query.toString() }, [
        200,
      ]);
      try {
        return readXml(new TextDecoder().decode(body), "ListBucketResult", MAX_ELEMENTS);
      } catch (error) {
        if (attempt === LIST_ATTEMPTS) throw this.#badListing(error);
      }
    }
  }

  #badListing(cause?: unknown): RepositoryError {
    const message = `${this.#service} answered with a list of objects that cannot be read`;
    return new RepositoryError(message, { cause });
  }

  get #service(): string {
    return `The S3 service at ${this.#endpoint}`;
  }

  /** Sends a request, again if that may help. @throws {RepositoryError} unless the answer has one of these statuses. */
  async #send(request: S3Request, expected: readonly number[]): Promise<HttpAnswer> {
    const began = performance.now();
    let pause = FIRST_PAUSE;
    while (true) {
      try {
        return await this.#attempt(request, expected);
      } catch (error) {
        if (!(error instanceof Passing)) throw error;
        if (performance.now() - began + pause > RETRY_TIME) {
          throw new RepositoryError(error.message, { cause: error });
        }
      }
      // Clients that failed at the same moment must not return at the same moment.
      await delay(pause * (0.5 + Math.random() / 2));
      pause = Math.min(LONGEST_PAUSE, 2 * pause);
    }
  }

  async #attempt(request: S3Request, expected: readonly number[]): Promise<HttpAnswer> {
    const { method, name, body } = request;
    const key = [this.prefix, name].filter((part) => part !== "").join("/");
    const path = `/${this.bucket}${name === "" ? "" : `/${key.split("/").map(encode).join("/")}`}`;
    const url = new URL(`${this.#endpoint}${path}${request.query ? `?${request.query}` : ""}`);
    let answer: HttpAnswer;
    const offset = this.#clockOffset;
    try {
      const headers = this.#sign(request, url);
      answer = await this.#client.exchange({ method, url, headers, body });
    } catch (error) {
      const { reason, isLasting } = connectionProblem(error);
      const message = `Cannot reach the S3 service at ${this.#endpoint}: ${reason}`;
      throw isLasting ? new RepositoryError(message, { cause: error }) : new Passing(message);
    }
    if (expected.includes(answer.status) && !this.#isBucketMissing(answer)) return answer;
    if (this.#correctClock(answer, offset)) {
      throw new Passing(`${this.#service} has another time`);
    }
    throw this.#refusal(request, key, answer);
  }

  /** A missing object is an answer, a missing bucket is an error. */
  #isBucketMissing({ status, body }: HttpAnswer): boolean {
    return status === 404 && codeIn(body) === "NoSuchBucket";
  }

  /** Takes the service's time over if the request was refused for its own. @returns Whether that may help. */
  #correctClock({ body, date }: HttpAnswer, offset: number): boolean {
    if (codeIn(body) !== "RequestTimeTooSkewed" || date === undefined) return false;
    this.#clockOffset = Date.parse(date) - Date.now() || 0;
    return Math.abs(this.#clockOffset - offset) > CLOCK_TOLERANCE;
  }

  #refusal({ method }: S3Request, key: string, { status, body }: HttpAnswer): Error {
    const code = codeIn(body);
    const answer = code === undefined ? `${status}` : `${status} ${code}`;
    const what = `${this.#service} answers ${answer} to ${method} ${this.bucket}/${key}`;
    if (RETRIED.has(status) || code === "RequestTimeout") {
      return new Passing(`${what}: try again later`);
    }
    if (status === 404) {
      return new RepositoryError(
        `${what}: check the address and the bucket ${this.bucket}, which kvdrive does not create`,
      );
    }
    const advice = status === 403
      ? "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what this key may do"
      : status >= 300 && status < 400
      ? "check the address and AWS_REGION"
      : status === 507
      ? "it has no space left"
      : "check the address and the credentials";
    return new RepositoryError(`${what}: ${advice}`);
  }

  /** Returns the headers of a request with its signature. */
  #sign({ method, query = "", headers = {}, body }: S3Request, url: URL): Record<string, string> {
    const { region, accessKeyId, secretAccessKey, sessionToken } = this.settings;
    const date = amzDate(Date.now() + this.#clockOffset);
    const payload = sha256Hex(body ?? "");
    const signed: Record<string, string> = {
      ...headers,
      host: url.host,
      "x-amz-content-sha256": payload,
      "x-amz-date": date,
      ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken }),
    };
    const signedHeaders = Object.keys(signed).sort();
    const canonical = canonicalRequest({
      method,
      path: url.pathname,
      query: parseQuery(query),
      headers: new RequestHeaders(Object.entries(signed)),
      signedHeaders,
      payload,
    });
    const scope = { day: date.slice(0, 8), region };
    const text = [ALGORITHM, date, scopeText(scope), sha256Hex(canonical)].join("\n");
    const signature = sign(this.#keys.derive(secretAccessKey, scope), text);
    const { host: _, ...sent } = signed;
    return {
      ...sent,
      authorization: `${ALGORITHM} Credential=${accessKeyId}/${scopeText(scope)}, ` +
        `SignedHeaders=${signedHeaders.join(";")}, Signature=${signature}`,
    };
  }
}

/** Encodes a part of a path as signatures require. */
function encode(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns the code of an error's document; `undefined` if it has none. */
function codeIn(body: Bytes): string | undefined {
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(new TextDecoder().decode(body))?.[1];
}

/** Characters of a reason that the runtime gives. */
const MAX_REASON = 200;

const CONNECTION_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "it closed the connection",
  EPIPE: "it closed the connection",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "its name cannot be resolved",
  ETIMEDOUT: "it does not answer",
  EHOSTUNREACH: "there is no way to its network",
  ENETUNREACH: "there is no way to its network",
};

/** Codes of certificates that no authority signed that is known to the runtime. */
const UNTRUSTED = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Returns why a request had no answer, as the end of a sentence, and whether another attempt would have none. */
function connectionProblem(error: unknown): { reason: string; isLasting: boolean } {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (UNTRUSTED.has(code)) {
    const reason =
      "its certificate is not trusted: name a file with that of its authority in DENO_CERT";
    return { reason, isLasting: true };
  }
  const reason = CONNECTION_PROBLEMS[code] ?? failureReason(error).slice(0, MAX_REASON);
  return { reason, isLasting: false };
}
