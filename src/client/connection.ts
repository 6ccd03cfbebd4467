import { parseProjectKey } from "../drive/secrets.ts";
import { ANSWER_TIME } from "../drive/limits.ts";
import { ClientError, Refused, Transient, Unreached } from "./errors.ts";
import type { Retrier } from "./retrier.ts";

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
export interface Call {
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
      throw new ClientError("The project key is not <project id>_<secret>: see KVDRIVE_KEY");
    }
    const address = parseAddress(url);
    this.project = parsed.project;
    this.origin = address.origin;
    this.retrier = retrier;
    this.#key = key;
    this.#base = `${address.origin}${address.pathname.replace(/\/+$/, "")}/v1/${parsed.project}`;
    this.#client = authorities === undefined
      ? undefined
      : Deno.createHttpClient({ caCerts: [authorities] });
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
  async ask(call: Call): Promise<Response> {
    return await this.retrier.run(() => this.send(call));
  }

  /** The same, with the answer's JSON. */
  async askJson<T>(call: Call): Promise<T> {
    return await this.retrier.run(async () => {
      const answer = await this.send(call);
      try {
        return await answer.json() as T;
      } catch (error) {
        throw new Transient(`The answer of ${this.origin} broke off`, 0, { cause: error });
      }
    });
  }

  /** The same, where nothing but success counts. */
  async tell(call: Call): Promise<void> {
    await this.retrier.run(async () => {
      const answer = await this.send(call);
      await answer.body?.cancel();
    });
  }

  /**
   * Asks once.
   *
   * @throws {Transient} where it may be done soon.
   * @throws {Refused} where the server says no.
   */
  async send({ method, path, headers, body, time = ANSWER_TIME }: Call): Promise<Response> {
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
    if (isLate) return new Transient(`No answer came from ${this.origin} in time`);
    const reason = reasonOf(error);
    if (/certificate|UnknownIssuer|CaUsedAsEndEntity/i.test(reason)) {
      const advice = "name the authority's certificate with --cacert or DENO_CERT";
      return new ClientError(`The certificate of ${this.origin} is not trusted: ${advice}`, {
        cause: error,
      });
    }
    return new Unreached(`Cannot reach ${this.origin}: ${reason}`, 0, { cause: error });
  }

  async #refusal(answer: Response): Promise<ClientError> {
    const { status, headers } = answer;
    const sentence = await sentenceOf(answer);
    if (SOON.has(status)) {
      const wait = Number(headers.get("retry-after") ?? "0") * 1000;
      const said = `${this.origin} answered ${status}${sentence && ` (${sentence})`}`;
      return new Transient(said, Number.isFinite(wait) ? wait : 0);
    }
    if (status >= 300 && status < 400) {
      return new Refused(
        status,
        `${this.origin} sends callers elsewhere, and the key goes to nobody else: name the right address with KVDRIVE_URL`,
      );
    }
    return new Refused(status, sentence || `${this.origin} answered ${status}`);
  }
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
  throw new ClientError("The server's address must be like https://files.example.com:8000");
}

/** What went wrong, without the request's address, which the runtime repeats. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause ?? error : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.replace(/^error sending request (from .* )?for url \(.*?\): /, "")
    .replace(/^client error \([A-Za-z]+\): /, "");
}

/** What the server says of an error, in one line. */
async function sentenceOf(answer: Response): Promise<string> {
  try {
    const { errors } = await answer.json() as { errors?: unknown };
    return Array.isArray(errors) ? errors.filter((one) => typeof one === "string").join("; ") : "";
  } catch {
    // It is no answer of kvdrive, but of something before it; its status says enough.
    return "";
  }
}
