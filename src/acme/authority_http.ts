import { failureReason } from "../rules/system_error.ts";
import { MIB, SECOND } from "../rules/units.ts";
import { AcmeError, kindOf, parseRetryAfter, type Problem, problemText } from "./acme_error.ts";

/** Time for an answer of the authority, in milliseconds. */
const ANSWER_TIMEOUT = 20 * SECOND;

/** The longest answer that is read, in bytes. Chains of certificates have about 5000. */
const MAX_ANSWER = MIB;

/** An answer, in the form that the library for the protocol expects. */
export interface AuthorityAnswer {
  status: number;
  headers: Record<string, string>;
  /** A value if the body is JSON, else its text. */
  data: unknown;
}

/** Sends requests to an authority, and turns its refusals into errors. */
export class AuthorityHttp implements Disposable {
  readonly #client: Deno.HttpClient | undefined;
  readonly #userAgent: string;
  readonly #closed = new AbortController();
  /** The `Retry-After` of the last answer, in milliseconds. */
  retryAfter: number | undefined;

  /** @param authorities Certificates in PEM to trust besides those of the system. */
  constructor({ authorities, userAgent }: { authorities: string | undefined; userAgent: string }) {
    this.#userAgent = userAgent;
    this.#client = authorities === undefined
      ? undefined
      : Deno.createHttpClient({ caCerts: [authorities] });
  }

  /** @throws {AcmeError} if the authority cannot be reached, or refuses. A refused nonce is an answer. */
  async request(url: string, method: string, body?: unknown): Promise<AuthorityAnswer> {
    const response = await this.#send(url, method, body);
    const retryAfter = this.retryAfter = retryAfterOf(response.headers);
    const headers = Object.fromEntries(response.headers);
    const data = parse(await this.#text(url, response));
    const { status } = response;
    const problem = (typeof data === "object" && data !== null ? data : {}) as Problem;
    if (status < 400 || kindOf(problem) === "badNonce") return { status, headers, data };
    const text = status >= 500 && kindOf(problem) === undefined
      ? `${new URL(url).host} answered ${status}`
      : `the authority refuses: ${problemText(problem)}`;
    throw new AcmeError(text, { kind: kindOf(problem), retryAfter });
  }

  /** Is aborted when this is closed. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** Ends requests that are being made. */
  [Symbol.dispose](): void {
    this.#closed.abort();
    this.#client?.close();
  }

  async #send(url: string, method: string, body: unknown): Promise<Response> {
    const headers = new Headers({ "User-Agent": this.#userAgent });
    if (body !== undefined) headers.set("Content-Type", "application/jose+json");
    try {
      return await fetch(url, {
        method: method.toUpperCase(),
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.any([this.signal, AbortSignal.timeout(ANSWER_TIMEOUT)]),
        ...(this.#client && { client: this.#client }),
      });
    } catch (error) {
      throw cannotReach(url, error);
    }
  }

  async #text(url: string, response: Response): Promise<string> {
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    try {
      for await (const piece of response.body ?? []) {
        length += piece.length;
        if (length > MAX_ANSWER) throw new Error(`its answer has more than ${MAX_ANSWER} bytes`);
        pieces.push(piece);
      }
    } catch (error) {
      throw cannotReach(url, error);
    }
    return await new Blob(pieces).text();
  }
}

function retryAfterOf(headers: Headers): number | undefined {
  return parseRetryAfter(headers.get("retry-after"), headers.get("date"));
}

function cannotReach(url: string, error: unknown): AcmeError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const isLate = error instanceof DOMException && error.name === "TimeoutError";
  const reason = isLate ? "it did not answer in time" : failureReason(cause);
  return new AcmeError(`cannot reach ${new URL(url).host}: ${reason}`, { cause: error });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A chain of certificates, or the page of a proxy.
    return text;
  }
}
