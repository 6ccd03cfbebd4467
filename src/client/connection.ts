import { parseProjectKey } from "../rules/secrets.ts";
import { failureReason } from "../rules/system_error.ts";
import { MINUTE } from "../rules/units.ts";
import { ClientError, Refused, TemporaryFailure, Unreachable } from "./errors.ts";
import type { Retrier } from "./retrier.ts";

/** How long a client waits for an answer, for the next bytes of one, and for the answer to a part that it sends. */
export const ANSWER_TIME = MINUTE;

export const SENT_ANSWER_TIME = 10 * MINUTE;

/** Where a server is, and how it is asked. */
export interface ConnectionOptions {
  /** Its address, such as `https://files.example.com`. */
  url: string;
  /** The project key. */
  key: string;
  retrier: Retrier;
  /** Certificates of authorities that are believed beside the usual ones, in PEM. */
  authorities?: string;
}

/** A request to the server. */
export interface ApiRequest {
  method: string;
  /** Behind `/v1/{project}`, with its query. */
  path: string;
  headers?: Record<string, string>;
  body?: Uint8Array | string;
  /** How long the answer may take to begin, in milliseconds. */
  time?: number;
}

/** Statuses of a server that may do it soon. 501 and 507 are none: it will not. */
const SOON = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Requests to one server with one project's key. The key is sent nowhere else: redirects are not followed. */
export class Connection implements Disposable {
  readonly project: string;
  readonly origin: string;
  readonly retrier: Retrier;
  readonly #base: string;
  readonly #key: string;
  readonly #client: Deno.HttpClient | undefined;

  /** @throws {ClientError} where the address or the key can be none. Neither is repeated. */
  constructor({ url, key, retrier, authorities }: ConnectionOptions) {
    const parsed = parseProjectKey(key);
    if (parsed === undefined) {
      throw new ClientError(
        "The project key is not like <project id>_<secret>, as the server printed it: see KVDRIVE_KEY or the file of --key-file",
      );
    }
    const address = parseAddress(url);
    this.project = parsed.project;
    this.origin = address.origin;
    this.retrier = retrier;
    this.#key = key;
    this.#base = `${address.origin}${address.pathname.replace(/\/+$/, "")}/v1/${parsed.project}`;
    this.#client = authorities === undefined ? undefined : clientTrusting(authorities);
  }

  /** Tells the server's project from all others. */
  get identity(): string {
    return this.#base;
  }

  /** Whether others on the way can read the key. */
  get isExposed(): boolean {
    const { protocol, hostname } = new URL(this.origin);
    return protocol === "http:" && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  }

  /** Asks until there is an answer that is not an error for a while. */
  async request(call: ApiRequest): Promise<Response> {
    return await this.retrier.run(() => this.send(call));
  }

  /** The same, with the answer's JSON. */
  async requestJson<T>(call: ApiRequest): Promise<T> {
    return await this.retrier.run(async () => {
      const answer = await this.send(call);
      if (!/^application\/json/i.test(answer.headers.get("content-type") ?? "")) {
        await answer.body?.cancel();
        throw new ClientError(
          `${this.origin} does not answer as kvdrive does: is that its address? KVDRIVE_URL or --url names it`,
        );
      }
      try {
        return await answer.json() as T;
      } catch (error) {
        throw new TemporaryFailure(`The answer of ${this.origin} broke off`, 0, { cause: error });
      }
    });
  }

  /** The same, where nothing but success counts. */
  async requestEmpty(call: ApiRequest): Promise<void> {
    await this.retrier.run(async () => {
      const answer = await this.send(call);
      await answer.body?.cancel();
    });
  }

  /**
   * Asks once.
   *
   * @throws {TemporaryFailure} where it may be done soon.
   * @throws {Refused} where the server says no.
   */
  async send({ method, path, headers, body, time = ANSWER_TIME }: ApiRequest): Promise<Response> {
    // Bytes come as they are stored: ranges count in those.
    const all = headersOf({ ...headers, "Accept-Encoding": "identity", "X-Api-Key": this.#key });
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), time);
    let answer: Response;
    try {
      answer = await fetch(this.#base + path, {
        method,
        headers: all,
        redirect: "manual",
        signal: abort.signal,
        ...(body === undefined ? {} : { body: body as BodyInit }),
        ...(this.#client === undefined ? {} : { client: this.#client }),
      });
    } catch (error) {
      throw this.#unreached(error, abort.signal.aborted);
    } finally {
      clearTimeout(timer);
    }
    if (answer.ok) return answer;
    throw await this.#refusal(answer);
  }

  [Symbol.dispose](): void {
    this.#client?.close();
  }

  #unreached(error: unknown, isLate: boolean): ClientError {
    if (isLate) return new TemporaryFailure(`No answer came from ${this.origin} in time`);
    const reason = reasonOf(error);
    const problem = certificateProblem(reason, this.#client !== undefined);
    if (problem !== undefined) {
      return new ClientError(`The certificate of ${this.origin} ${problem}`, { cause: error });
    }
    // A server that answers without TLS will not begin to use it.
    if (/corrupt message of type/.test(reason)) {
      const advice = "does it have an address with http:// in place of https://?";
      return new ClientError(`${this.origin} does not speak TLS: ${advice}`, { cause: error });
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
        `${origin} sends callers elsewhere, and the key goes to nobody else: name the right address with KVDRIVE_URL`,
      );
    }
    if (sentence === "") return foreignRefusal(origin, status, waitIn(headers));
    // A wrong key stays wrong: trying it again would only make the wait of others longer.
    if (status === 401 || (status === 429 && /wrong keys/.test(sentence))) {
      return new Refused(
        status,
        `${origin} does not know the project key, or it was revoked: check KVDRIVE_KEY or the file of --key-file (${sentence})`,
      );
    }
    if (SOON.has(status)) {
      return new TemporaryFailure(`${origin} answered ${status} (${sentence})`, waitIn(headers));
    }
    return new Refused(status, sentence);
  }
}

/** @throws {ClientError} where the certificates cannot be read. */
function clientTrusting(authorities: string): Deno.HttpClient {
  try {
    return Deno.createHttpClient({ caCerts: [authorities] });
  } catch (error) {
    throw new ClientError(
      "The file of --cacert has a certificate that cannot be read: it must be one in PEM",
      { cause: error },
    );
  }
}

/** How long an answer asks to wait, in milliseconds. */
function waitIn(headers: Headers): number {
  const wait = Number(headers.get("retry-after") ?? "0") * 1000;
  return Number.isFinite(wait) ? wait : 0;
}

/** What is wrong with a certificate, as the end of a sentence; `undefined` where the reason is another one. */
function certificateProblem(reason: string, hasAuthorities: boolean): string | undefined {
  if (!/certificate|UnknownIssuer|CaUsedAsEndEntity/i.test(reason)) return undefined;
  if (/expired/i.test(reason)) {
    return `has expired, or the clock of this machine, ${clock()}, is wrong: renew the certificate on the server`;
  }
  if (/not valid yet/i.test(reason)) {
    return `is not valid yet: is the clock of this machine, ${clock()}, right?`;
  }
  if (/not valid for name/i.test(reason)) {
    const [, names] = /only valid for (.*)$/.exec(reason) ?? [];
    const told = names === undefined ? "" : `, only for ${names}`;
    return `is not for that name${told}: name the server by one of its names with KVDRIVE_URL or --url`;
  }
  if (/CaUsedAsEndEntity/.test(reason)) {
    return "is that of an authority (CA:TRUE), which a server cannot use: make one for the server with CA:FALSE, signed by the authority";
  }
  // An authority of the same name with another key makes the signature a bad one.
  if (/UnknownIssuer|BadSignature/.test(reason)) {
    return hasAuthorities
      ? "is not trusted: no authority in the file of --cacert signed it; put the certificate of the one that did there"
      : "is not trusted: no authority that this machine knows signed it; name the certificate of the one that did with --cacert or DENO_CERT";
  }
  return `cannot be trusted: ${reason}`;
}

function clock(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}

/**
 * What is told of an error that is not kvdrive's: its own are JSON. Between it and this program is a proxy, or another
 * program is there.
 */
function foreignRefusal(origin: string, status: number, wait: number): ClientError {
  if (status === 413) {
    return new Refused(
      status,
      `A proxy in front of ${origin} refused the size of the request (413): let it pass 11 MB, in nginx with client_max_body_size, in Caddy with request_body max_size, in Traefik with maxRequestBodyBytes of the buffering middleware`,
    );
  }
  const said = `${origin} answered ${status}, and not as kvdrive does`;
  if (SOON.has(status)) {
    return new TemporaryFailure(`${said}: is kvdrive running behind the proxy there?`, wait);
  }
  return new Refused(
    status,
    `${said}: is that its address, and does the proxy in front pass every path? KVDRIVE_URL or --url names it`,
  );
}

/** @throws {ClientError} for what no header can hold, such as a line feed: trying again does not help. */
function headersOf(headers: Record<string, string>): Headers {
  try {
    return new Headers(headers);
  } catch (error) {
    // The runtime's message has the value, which may be the key.
    throw new ClientError(
      "The request cannot be sent: a header has a character that none can hold",
      {
        cause: error,
      },
    );
  }
}

function parseAddress(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const isUsable = address !== undefined && /^https?:$/.test(address.protocol) &&
    address.username === "" && address.password === "" && address.search === "" &&
    address.hash === "";
  if (isUsable) return address;
  // A user may come with a password, and a query with a key.
  const told = /[@?#]/.test(url) ? "" : ` ${JSON.stringify(url)}`;
  throw new ClientError(
    `The server's address${told} must be like https://files.example.com:8000, with http:// or https:// in front and without a user`,
  );
}

/** What went wrong, without the request's address, which the runtime repeats. */
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
  return reason;
}

/** What the server says of an error, in one line. */
async function sentenceOf(answer: Response): Promise<string> {
  try {
    const { errors } = await answer.json() as { errors?: unknown };
    return Array.isArray(errors) ? errors.filter((one) => typeof one === "string").join("; ") : "";
  } catch {
    // It is no answer of kvdrive, but of something before it.
    return "";
  }
}
