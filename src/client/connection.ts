import type { RateLimiter } from "../rules/transfer/rate_limiter.ts";
import { failureReason } from "../rules/system_error.ts";
import { credentialHeaders, type Credentials } from "./credentials.ts";
import { ClientError, Refused, TemporaryFailure, Unreachable } from "./errors.ts";
import type { Retrier } from "./retrier.ts";

/** Milliseconds until an answer, or its next bytes, must arrive; and the same for requests that carry many bytes. */
export const ANSWER_TIME = 60_000;
export const SENT_ANSWER_TIME = 10 * 60_000;

export interface ConnectionOptions {
  /** The server's address, such as `https://files.example.com`. */
  url: string;
  credentials: Credentials;
  /** The project of the administrator; a project key has its own. */
  project?: string | undefined;
  retrier: Retrier;
  /** Receives each request after its answer began, or failed. */
  onRequest?: ((request: RequestReport) => void) | undefined;
  /** Certificates of further authorities to trust, in PEM. */
  authorities?: string | undefined;
  /** Limits the bytes of files that are sent and received. */
  limiter?: RateLimiter | undefined;
}

/** A request that was sent, without its secrets. */
export interface RequestReport {
  method: string;
  /** With the query. */
  path: string;
  /** `undefined` if there was no answer. */
  status: number | undefined;
  /** Milliseconds until the answer began. */
  time: number;
}

/** A request to the server's API. */
export interface ApiRequest {
  method: string;
  /** After `/v1/{project}`, with the query. */
  path: string;
  /** Whether the path is rather that after the server's address. */
  isOfServer?: true;
  headers?: Record<string, string>;
  body?: Uint8Array | string;
  /** Milliseconds until the answer must begin. */
  timeout?: number;
}

/** Statuses that may pass. Not 501 and 507: a repeated request would fail as well. */
const TEMPORARY_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Sends requests to one server with the same credentials. Redirects are not followed, as they would leak the key. */
export class Connection implements Disposable {
  readonly origin: string;
  readonly retrier: Retrier;
  readonly limiter: RateLimiter | undefined;
  readonly #address: string;
  readonly #credentials: Credentials;
  readonly #project: string | undefined;
  readonly #client: Deno.HttpClient | undefined;
  readonly #onRequest: (request: RequestReport) => void;

  /** @throws {ClientError} if the address is malformed. The message does not repeat what may be secret. */
  constructor(
    { url, credentials, project, retrier, authorities, limiter, onRequest }: ConnectionOptions,
  ) {
    const address = parseAddress(url);
    this.origin = address.origin;
    this.retrier = retrier;
    this.limiter = limiter;
    this.#credentials = credentials;
    this.#project = credentials.kind === "key" ? credentials.project : project;
    this.#address = `${address.origin}${address.pathname.replace(/\/+$/, "")}`;
    this.#client = authorities === undefined ? undefined : clientTrusting(authorities);
    this.#onRequest = onRequest ?? (() => {});
  }

  /** The project that paths are in. @throws {ClientError} if the administrator did not choose one. */
  get project(): string {
    if (this.#project !== undefined) return this.#project;
    throw new ClientError(
      "The administrator's token opens all projects: choose one with --project, or use a project key",
    );
  }

  get credentials(): Credentials {
    return this.#credentials;
  }

  /** Differs between any two servers or projects. */
  get identity(): string {
    return `${this.#address}/v1/${this.project}`;
  }

  /** Whether the key crosses a network unencrypted. */
  get isExposed(): boolean {
    const { protocol, hostname } = new URL(this.origin);
    return protocol === "http:" && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  }

  /** Sends a request, repeating it after temporary failures, and returns the successful answer. */
  async request(request: ApiRequest): Promise<Response> {
    return await this.retrier.run(() => this.send(request));
  }

  /** Sends a request as `request` does, and returns the JSON of the answer. */
  async requestJson<T>(request: ApiRequest): Promise<T> {
    return await this.retrier.run(async () => {
      const answer = await this.send(request);
      if (!/^application\/json/i.test(answer.headers.get("content-type") ?? "")) {
        await answer.body?.cancel();
        throw new ClientError(
          `${this.origin} did not answer like kvdrive. Is the address right? Set it with --url or KVDRIVE_URL`,
        );
      }
      try {
        return await answer.json() as T;
      } catch (error) {
        throw new TemporaryFailure(`The answer of ${this.origin} was cut off`, 0, { cause: error });
      }
    });
  }

  /**
   * The items of a list that the server answers page by page.
   *
   * @param field The field of the answer that has them.
   */
  async *items<T>(
    { path, ...list }: Omit<ApiRequest, "method">,
    field: string,
    query: Record<string, string> = {},
  ): AsyncIterable<T> {
    let last: string | undefined;
    do {
      const asked = new URLSearchParams(last === undefined ? query : { ...query, last });
      const page: Record<string, unknown> & { paging?: { last: string } } = await this.requestJson({
        ...list,
        method: "GET",
        path: `${path}?${asked}`,
      });
      const items = page[field];
      if (!Array.isArray(items)) {
        throw new ClientError(
          `${this.origin} answered no list of ${field}. Is it kvdrive? Set its address with --url or KVDRIVE_URL`,
        );
      }
      yield* items as T[];
      last = page.paging?.last;
    } while (last !== undefined);
  }

  /** Sends a request as `request` does, and ignores the body of the answer. */
  async requestEmpty(request: ApiRequest): Promise<void> {
    await this.retrier.run(async () => {
      const answer = await this.send(request);
      await answer.body?.cancel();
    });
  }

  /**
   * Sends a request once, and returns the successful answer.
   *
   * @throws {TemporaryFailure} if the failure may pass.
   * @throws {Refused} if the server refuses the request.
   */
  async send(
    { method, path, isOfServer, headers, body, timeout = ANSWER_TIME }: ApiRequest,
  ): Promise<Response> {
    // Byte ranges refer to the stored bytes, not to compressed ones.
    const all = headersOf({
      ...headers,
      "Accept-Encoding": "identity",
      ...credentialHeaders(this.#credentials),
    });
    const abort = new AbortController();
    let timer = setTimeout(() => abort.abort(), timeout);
    const onPiece = () => {
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), timeout);
    };
    const url = (isOfServer ? this.#address : this.identity) + path;
    const began = performance.now();
    const report = (status?: number): void =>
      this.#onRequest({
        method,
        path: url.slice(this.origin.length),
        status,
        time: performance.now() - began,
      });
    let answer: Response;
    try {
      answer = await fetch(url, {
        method,
        headers: all,
        redirect: "manual",
        signal: abort.signal,
        ...(body === undefined ? {} : { body: this.#paced(body, onPiece) }),
        ...(this.#client === undefined ? {} : { client: this.#client }),
      });
    } catch (error) {
      report();
      throw abort.signal.aborted
        ? new TemporaryFailure(`${this.origin} did not answer within ${timeout / 1000} s`)
        : this.#connectionError(error);
    } finally {
      clearTimeout(timer);
    }
    report(answer.status);
    if (answer.ok) return answer;
    throw await this.#refusal(answer);
  }

  [Symbol.dispose](): void {
    this.#client?.close();
  }

  /** Returns the body of a request; bytes are sent in pieces if their rate is limited. */
  #paced(body: Uint8Array | string, onPiece: () => void): BodyInit {
    const { limiter } = this;
    if (limiter === undefined || typeof body === "string" || body.byteLength === 0) {
      return body as BodyInit;
    }
    return ReadableStream.from(async function* () {
      for await (const piece of limiter.pace(body)) {
        onPiece();
        yield piece;
      }
    }());
  }

  #connectionError(error: unknown): ClientError {
    const reason = reasonOf(error);
    const problem = certificateProblem(reason, this.#client !== undefined);
    if (problem !== undefined) {
      return new ClientError(`The certificate of ${this.origin} ${problem}`, { cause: error });
    }
    // Retrying is useless: a server that speaks plain HTTP will not switch to TLS.
    if (/corrupt message of type/.test(reason)) {
      const advice = "Use http:// in place of https://";
      return new ClientError(`${this.origin} does not speak TLS. ${advice}`, { cause: error });
    }
    return new Unreachable(`Cannot reach ${this.origin}: ${reason}`, 0, { cause: error });
  }

  async #refusal(answer: Response): Promise<ClientError> {
    const { status, headers } = answer;
    const sentence = await sentenceOf(answer);
    const { origin } = this;
    if (status >= 300 && status < 400) {
      return new Refused(
        status,
        `${origin} redirects to another address, and the key is not sent there. Set the right address with --url or KVDRIVE_URL`,
      );
    }
    if (sentence === "") return foreignRefusal(origin, status, waitIn(headers));
    // Retrying a wrong key is useless, and prolongs the wait of other clients of this network.
    if (status === 401 || (status === 429 && /wrong keys/.test(sentence))) {
      const what = this.#credentials.kind === "key" ? "project key" : "administrator's token";
      return new Refused(
        status,
        `${origin} does not accept the ${what} (${sentence}). Check KVDRIVE_KEY or the file of --key-file, or log in again with kvdrive login`,
      );
    }
    if (TEMPORARY_STATUSES.has(status)) {
      return new TemporaryFailure(`${origin} answered ${status} (${sentence})`, waitIn(headers));
    }
    return new Refused(status, sentence);
  }
}

/** Returns an HTTP client that trusts further authorities. @throws {ClientError} if the certificates cannot be read. */
function clientTrusting(authorities: string): Deno.HttpClient {
  try {
    return Deno.createHttpClient({ caCerts: [authorities] });
  } catch (error) {
    throw new ClientError(
      "Cannot read a certificate in the file of --cacert: it must be valid PEM",
      { cause: error },
    );
  }
}

/** Returns the `Retry-After` of an answer in milliseconds; 0 without one. */
function waitIn(headers: Headers): number {
  const wait = Number(headers.get("retry-after") ?? "0") * 1000;
  return Number.isFinite(wait) ? wait : 0;
}

/** Describes a certificate error as the end of a sentence; `undefined` if the reason is another one. */
function certificateProblem(reason: string, hasAuthorities: boolean): string | undefined {
  if (!/certificate|UnknownIssuer|CaUsedAsEndEntity/i.test(reason)) return undefined;
  if (/expired/i.test(reason)) {
    return `has expired, or the clock of this machine (${clock()}) is wrong. Renew the certificate on the server`;
  }
  if (/not valid yet/i.test(reason)) {
    return `is not valid yet. Is the clock of this machine (${clock()}) right?`;
  }
  if (/not valid for name/i.test(reason)) {
    const [, names] = /only valid for (.*)$/.exec(reason) ?? [];
    const only = names === undefined ? "" : `, only for ${names}`;
    return `is not for that name${only}. Use one of the server's names with --url or KVDRIVE_URL`;
  }
  if (/CaUsedAsEndEntity/.test(reason)) {
    return "is that of an authority (CA:TRUE), which a server cannot use. Create one for the server with CA:FALSE, signed by the authority";
  }
  // An authority with the right name and another key leads to a bad signature.
  if (/UnknownIssuer|BadSignature/.test(reason)) {
    return hasAuthorities
      ? "is not trusted: no authority in the file of --cacert signed it. Add the certificate of the authority to that file"
      : "is not trusted: no authority known to this machine signed it. Give the authority's certificate with --cacert or DENO_CERT";
  }
  return `cannot be trusted: ${reason}`;
}

function clock(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}

/** Describes an error that is not from kvdrive, whose errors are JSON, but from a proxy or another server. */
function foreignRefusal(origin: string, status: number, wait: number): ClientError {
  if (status === 413) {
    return new Refused(
      status,
      `A proxy in front of ${origin} refused the size of the request (413). Allow 11 MB: in nginx with client_max_body_size, in Caddy with request_body max_size, in Traefik with maxRequestBodyBytes of the buffering middleware`,
    );
  }
  const problem = `${origin} answered ${status}, and the answer is not from kvdrive`;
  if (TEMPORARY_STATUSES.has(status)) {
    return new TemporaryFailure(`${problem}. Is kvdrive running behind the proxy?`, wait);
  }
  return new Refused(
    status,
    `${problem}. Is the address right (--url or KVDRIVE_URL), and does the proxy pass every path?`,
  );
}

/** @throws {ClientError} for characters that no header can hold, such as a line feed. */
function headersOf(headers: Record<string, string>): Headers {
  try {
    return new Headers(headers);
  } catch (error) {
    // The runtime's message repeats the value, which may be the key.
    const message = "Cannot send the request: a header has a character that is not allowed";
    throw new ClientError(message, { cause: error });
  }
}

function parseAddress(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const isUsable = address !== undefined && /^https?:$/.test(address.protocol) &&
    address.username === "" && address.password === "" && address.search === "" &&
    address.hash === "";
  if (isUsable) return address;
  // User information or a query may hold a secret.
  const shown = /[@?#]/.test(url) ? "" : ` ${JSON.stringify(url)}`;
  throw new ClientError(
    `Bad server address${shown}: it must look like https://files.example.com:8000, with http:// or https://, without a user or query`,
  );
}

/** Returns why a request failed, as the end of a sentence, without the URL that the runtime repeats. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause ?? error : error;
  const reason = failureReason(cause)
    .replace(/^error sending request (from .* )?for url \(.*?\): /, "")
    .replace(/^client error \([A-Za-z]+\): /, "")
    .replace(/^tcp connect error: /, "")
    .replace(/^tcp open error: /, "")
    .replace(/^Fetch failed: /, "");
  if (/dns error/.test(reason)) return "there is no host of that name";
  if (/connection closed before message completed/.test(reason)) {
    return "it closed the connection without an answer";
  }
  // "Connection refused", within a sentence.
  return reason.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** Returns the server's error messages in one line; "" if the answer is not from kvdrive. */
async function sentenceOf(answer: Response): Promise<string> {
  try {
    const { errors } = await answer.json() as { errors?: unknown };
    return Array.isArray(errors) ? errors.filter((one) => typeof one === "string").join("; ") : "";
  } catch {
    return "";
  }
}
