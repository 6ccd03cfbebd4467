import type { RateLimiter } from "../rules/transfer/rate_limiter.ts";
import { retryAfterOf, TEMPORARY_STATUSES, UNDONE_STATUSES } from "./api/error.ts";
import { credentialHeaders, type Credentials } from "./credentials.ts";
import {
  certificateProblem,
  ClientError,
  foreignRefusal,
  reasonOf,
  Refused,
  serverError,
  TemporaryFailure,
  Unreachable,
} from "./errors.ts";
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
  /** Answers in place of a server, for a store that this process opened. */
  local?: LocalServer | undefined;
}

/** A server within this process. */
export interface LocalServer {
  /** The folder or the URL of its store. */
  place: string;
  /** Takes the URL as it is: the platform's `fetch` would resolve the segments `.` and `..`. */
  fetch(url: string, init: RequestInit): Promise<Response>;
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

export interface ApiRequest {
  method: string;
  /** The segments of the path after `/v1/{project}`. */
  path: readonly string[];
  /** Whether they are rather those after `/admin/v1`. */
  isAdmin?: true;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  bytes?: Uint8Array;
  json?: unknown;
  /** Milliseconds until the answer must begin. */
  timeout?: number;
}

/** Sends requests to one server with the same credentials. Redirects are not followed, as they would leak the key. */
export class Connection implements Disposable {
  readonly origin: string;
  readonly retrier: Retrier;
  readonly limiter: RateLimiter | undefined;
  readonly #address: string;
  readonly #project: string | undefined;
  readonly #client: Deno.HttpClient | undefined;
  readonly #onRequest: (request: RequestReport) => void;

  /** @throws {ClientError} if the address is malformed. The message does not repeat what may be secret. */
  constructor(
    private readonly deps: ConnectionOptions,
  ) {
    const { url, credentials, project, retrier, authorities, limiter, onRequest } = deps;
    const address = parseAddress(url);
    this.origin = address.origin;
    this.retrier = retrier;
    this.limiter = limiter;
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
    return this.deps.credentials;
  }

  /** Differs between any two servers or projects. */
  get identity(): string {
    return this.deps.local === undefined ? this.#root : `${this.deps.local.place}\0${this.project}`;
  }

  get #root(): string {
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
  async *items<T>(list: Omit<ApiRequest, "method">, field: string): AsyncIterable<T> {
    let last: string | undefined;
    do {
      const query = { ...list.query, ...(last === undefined ? {} : { last }) };
      const page: Record<string, unknown> & { paging?: { last: string } } = await this.requestJson({
        ...list,
        method: "GET",
        query,
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
    const answer = await this.request(request);
    await answer.body?.cancel();
  }

  /**
   * Sends a request once, and returns the successful answer.
   *
   * @throws {TemporaryFailure} if the failure may pass.
   * @throws {Refused} if the server refuses the request.
   */
  async send(request: ApiRequest): Promise<Response> {
    const { method, headers, bytes, json, timeout = ANSWER_TIME } = request;
    const url = this.#urlOf(request);
    const all = headersOf({
      ...headers,
      ...(json === undefined ? {} : { "Content-Type": "application/json" }),
      // Byte ranges refer to the stored bytes, not to compressed ones.
      "Accept-Encoding": "identity",
      ...credentialHeaders(this.deps.credentials),
    });
    const abort = new AbortController();
    let timer = setTimeout(() => abort.abort(), timeout);
    const onPiece = () => {
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), timeout);
    };
    const body = json === undefined ? this.#paced(bytes, onPiece) : JSON.stringify(json);
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
      answer = await (this.deps.local?.fetch ?? fetch)(url, {
        method,
        headers: all,
        redirect: "manual",
        signal: abort.signal,
        ...(body === undefined ? {} : { body }),
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

  /** @throws {ClientError} for the segments "." and "..", which URLs cannot have. */
  #urlOf({ path, isAdmin, query = {} }: ApiRequest): string {
    const below = path.map((segment) => {
      if (this.deps.local !== undefined || (segment !== "." && segment !== "..")) {
        return `/${encodeURIComponent(segment)}`;
      }
      throw new ClientError(
        `The name "${segment}" has no URL: use --data on the machine of the server`,
      );
    });
    const search = new URLSearchParams(query).toString();
    const root = isAdmin ? `${this.#address}/admin/v1` : this.#root;
    return root + below.join("") + (search === "" ? "" : `?${search}`);
  }

  /** Returns the body of a request; bytes are sent in pieces if their rate is limited. */
  #paced(bytes: Uint8Array | undefined, onPiece: () => void): BodyInit | undefined {
    const { limiter } = this;
    if (limiter === undefined || bytes === undefined || bytes.byteLength === 0) {
      return bytes as BodyInit | undefined;
    }
    return ReadableStream.from(async function* () {
      for await (const piece of limiter.pace(bytes)) {
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
    const isUndone = /connection refused/.test(reason);
    return new Unreachable(`Cannot reach ${this.origin}: ${reason}`, 0, { cause: error, isUndone });
  }

  async #refusal(answer: Response): Promise<ClientError> {
    const { status, headers } = answer;
    const { sentence, code } = await serverError(answer);
    const wait = retryAfterOf(headers) ?? 0;
    const { origin } = this;
    if (status >= 300 && status < 400) {
      return new Refused(
        status,
        `${origin} redirects to another address, and the key is not sent there. Set the right address with --url or KVDRIVE_URL`,
      );
    }
    if (sentence === "") return foreignRefusal(origin, status, wait);
    // Retrying a wrong key is useless, and prolongs the wait of other clients of this network.
    // Earlier versions of the server have no codes, and answer 429 only to wrong keys.
    const isTooOften = status === 429 && (code === undefined || code === "too_many_wrong_keys");
    if (status === 401 || isTooOften) {
      const what = this.deps.credentials.kind === "key" ? "project key" : "administrator's token";
      return new Refused(
        status,
        `${origin} does not accept the ${what} (${sentence}). Check KVDRIVE_KEY or the file of --key-file, or log in again with kvdrive login`,
        code,
      );
    }
    if (TEMPORARY_STATUSES.includes(status)) {
      const isUndone = UNDONE_STATUSES.includes(status);
      const problem = `${origin} answered ${status} (${sentence})`;
      return new TemporaryFailure(problem, wait, { isUndone, code });
    }
    return new Refused(status, sentence, code);
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
