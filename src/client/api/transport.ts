import { isProjectId } from "../../rules/names.ts";
import { ForeignAnswer, invalidArgument, isUndone, KvdriveError, refusalOf } from "./error.ts";
import { Retrier } from "./retrier.ts";

/** Milliseconds until an answer must be there; and the same for requests that carry many bytes or work on many files. */
const ANSWER_TIME = 60_000;
export const LONG_ANSWER_TIME = 10 * 60_000;

/**
 * Which server the client speaks to, and with which key.
 *
 * @example
 * ```ts
 * const options: ConnectOptions = { url, key, retryFor: 60_000 };
 * const project = connect(options);
 * ```
 */
export interface ConnectOptions {
  /** The server's address, such as `https://files.example.com`; with a path if the server is below one. */
  url: string | URL;
  /** A project key, `<project id>_<secret>`. */
  key: string;
  /**
   * Sends the requests, in place of the platform's `fetch`. It is called with one `Request`, whose body is never a stream,
   * so both another `fetch` and the handler of a server, `(request: Request) => Promise<Response>`, can be given.
   */
  fetch?: ((request: Request) => Response | Promise<Response>) | undefined;
  /**
   * Milliseconds for which a request is repeated after 429, 5xx and broken connections, counted from its last progress
   * (30,000). A server that was never reached is given up after 3 seconds.
   */
  retryFor?: number | undefined;
  /**
   * Whether `fetch` takes paths as they are, as handlers in this process can. The `url` of its requests then keeps the
   * segments `.` and `..`, which the platform's `fetch` would resolve: only so are drives of these names reached.
   */
  keepsDotSegments?: boolean | undefined;
}

export interface ApiRequest {
  method: string;
  /** The segments of the path, not encoded. */
  path: readonly string[];
  query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  headers?: Readonly<Record<string, string | undefined>>;
  bytes?: Uint8Array | undefined;
  /** The body as JSON. */
  json?: unknown;
  signal?: AbortSignal | undefined;
  /** Milliseconds until the answer must be there. */
  timeout?: number;
  /** Milliseconds for which it is repeated. */
  retryFor?: number | undefined;
  /** Whether a repetition would do something else than the first time. It is then repeated only if nothing was done. */
  isUnrepeatable?: boolean;
  /** Is called before each attempt. */
  onAttempt?: () => void;
}

/** How a transport reaches its server. */
export interface TransportOptions {
  /** As `addressOf` returns it. */
  address: string;
  /** The project of paths. */
  readonly project: string;
  /** The headers with the key. */
  credentials: Readonly<Record<string, string>>;
  fetch: (request: Request) => Response | Promise<Response>;
  keepsDotSegments: boolean;
  retrier: Retrier;
  /** Returns an error in the words of the program. */
  explain?: (error: KvdriveError) => KvdriveError;
  /** Returns the body of a request that sends bytes. @param onPiece Restarts the time limit. */
  bodyOf?: ((bytes: Uint8Array, onPiece: () => void) => BodyInit) | undefined;
}

/** Returns the transport to a server for `connect`. @throws {KvdriveError} for a malformed address or key. */
export function transportOf(options: ConnectOptions): Transport {
  const { url, key, retryFor, keepsDotSegments = false } = options;
  return new Transport({
    address: addressOf(url),
    project: projectOf(key),
    credentials: { "X-Api-Key": key },
    // Browsers refuse a `fetch` that is called as a method of another object.
    fetch: options.fetch ?? ((request) => globalThis.fetch(request)),
    keepsDotSegments,
    retrier: new Retrier({ retryFor }),
  });
}

/** Sends requests to one server with one key. */
export class Transport {
  constructor(private readonly options: TransportOptions) {}

  get project(): string {
    return this.options.project;
  }

  get retrier(): Retrier {
    return this.options.retrier;
  }

  /** The path of the file API. */
  get files(): readonly string[] {
    return ["v1", this.project];
  }

  /** The path of the project's administration. */
  get admin(): readonly string[] {
    return ["admin", "v1", "projects", this.project];
  }

  /** Sends a request, repeating it after failures that may pass, and returns the answer, whose body is not read. */
  async send(request: ApiRequest): Promise<Response> {
    return await this.#repeat(request, (response) => Promise.resolve(response));
  }

  /** Sends a request as `send` does, and returns the JSON of the answer. */
  async json<T>(request: ApiRequest): Promise<T> {
    return await this.#repeat(request, jsonOf<T>);
  }

  /** Returns the items of a list that the server answers page by page. @param field The field that has them. */
  async *items<T>(list: Omit<ApiRequest, "method">, field: string): AsyncGenerator<T, void> {
    const pages = this.pages<Record<string, unknown> & { paging?: { last: string } }>((last) => ({
      ...list,
      method: "GET",
      query: last === undefined ? list.query : { ...list.query, last },
    }));
    for await (const page of pages) {
      const items = page[field];
      if (!Array.isArray(items)) {
        throw this.#explain(foreignAnswer(200));
      }
      yield* items as T[];
    }
  }

  /**
   * Repeats a call that works through names page by page, until none remain.
   *
   * @param request Returns the call for what follows after a name.
   */
  async *pages<T extends { paging?: { last: string } }>(
    request: (last: string | undefined) => ApiRequest,
  ): AsyncGenerator<T, void> {
    let last: string | undefined;
    do {
      const page: T = await this.json(request(last));
      yield page;
      last = page.paging?.last;
    } while (last !== undefined);
  }

  /** Sends a request once. @throws {KvdriveError} or the reason of the request's signal. */
  async attempt<T>(request: ApiRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const { signal, timeout = ANSWER_TIME } = request;
    const abort = new AbortController();
    const late = () => abort.abort(new Error(`it did not answer within ${timeout / 1000} s`));
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onPiece = () => {
      // The body may still be read when there is an answer already.
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = setTimeout(late, timeout);
    };
    const sent = this.#requestOf(request, abort.signal, onPiece);
    signal?.throwIfAborted();
    const onAbort = () => abort.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    timer = setTimeout(late, timeout);
    try {
      request.onAttempt?.();
      return await unlessAborted(this.#answer(sent, read), abort.signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof KvdriveError ? error : this.unreachable(error);
    } finally {
      clearTimeout(timer);
      timer = undefined;
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Returns the error for an answer that broke off. */
  broken(cause: unknown): KvdriveError {
    const reason = cause instanceof SyntaxError ? "its answer was cut off" : reasonOf(cause);
    const message = `The connection to ${this.options.address} broke: ${reason}`;
    return new KvdriveError(message, { code: "unreachable", cause });
  }

  /** Returns the error for an answer that did not come. */
  unreachable(cause: unknown): KvdriveError {
    const message = `Cannot reach ${this.options.address}: ${reasonOf(cause)}`;
    return this.#explain(new KvdriveError(message, { code: "unreachable", cause }));
  }

  #explain(error: KvdriveError): KvdriveError {
    return this.options.explain?.(error) ?? error;
  }

  async #repeat<T>(request: ApiRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const { signal, retryFor, isUnrepeatable = false } = request;
    return await this.retrier.run(() => this.attempt(request, read), {
      signal,
      retryFor,
      mayRepeat: (error) => !isUnrepeatable || isUndone(error),
    });
  }

  async #answer<T>(request: Request, read: (response: Response) => Promise<T>): Promise<T> {
    const response = await this.options.fetch(request);
    this.retrier.noteAnswer();
    try {
      if (!response.ok) throw await refusalOf(response, this.options.address);
      return await read(response);
    } catch (error) {
      throw error instanceof KvdriveError ? this.#explain(error) : this.broken(error);
    }
  }

  #requestOf(
    { method, path, query, headers = {}, bytes, json }: ApiRequest,
    signal: AbortSignal,
    onPiece: () => void,
  ): Request {
    const { credentials, keepsDotSegments, bodyOf } = this.options;
    const url = this.#urlOf(path, query);
    const all: Record<string, string> = {
      // Byte ranges refer to the stored bytes, not to compressed ones.
      "Accept-Encoding": "identity",
      ...credentials,
      ...(json === undefined ? {} : { "Content-Type": "application/json" }),
    };
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) all[name] = value;
    }
    const paced = bytes && bodyOf?.(bytes, onPiece);
    const body = json === undefined ? paced ?? bytes as BodyInit | undefined : JSON.stringify(json);
    const init: RequestInit = {
      method,
      headers: headersOf(all),
      signal,
      // The key is for this server alone, and what it answers is for this caller alone.
      redirect: "manual",
      cache: "no-store",
      ...(body === undefined ? {} : { body }),
    };
    return keepsDotSegments ? new ExactRequest(url, init) : new Request(url, init);
  }

  #urlOf(path: readonly string[], query: ApiRequest["query"] = {}): string {
    const segments = path.map((segment) => {
      const isDots = segment === "." || segment === "..";
      if (segment !== "" && (this.options.keepsDotSegments || !isDots)) {
        return `/${encode(segment)}`;
      }
      throw invalidArgument(
        `The name "${segment}" has no URL: use another one, or --data on the machine of the server`,
      );
    });
    const pairs = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : `${name}=${encode(String(value))}`
    );
    const search = pairs.length === 0 ? "" : `?${pairs.join("&")}`;
    return `${this.options.address}${segments.join("")}${search}`;
  }
}

/** A request that keeps its URL. That of a plain `Request` has no path with a segment `.` or `..`. */
class ExactRequest extends Request {
  constructor(private readonly target: string, init: RequestInit) {
    super(new URL("/", target), init);
  }

  override get url(): string {
    return this.target;
  }
}

/** @throws {KvdriveError} for half of a surrogate pair, which is no text. */
function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch (error) {
    throw invalidArgument(`${JSON.stringify(text)} is not valid Unicode: use other text`, error);
  }
}

/** Waits for a result, or throws the reason of the signal: a handler in this process may not look at signals. */
export async function unlessAborted<T>(
  result: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return await result;
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([result, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Waits for a result no longer than some milliseconds. @throws an error with this message. */
export async function withTimeout<T>(
  result: Promise<T>,
  milliseconds: number,
  message: string,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(message)), milliseconds);
  try {
    return await unlessAborted(result, late.signal);
  } finally {
    clearTimeout(timer);
  }
}

async function jsonOf<T>(response: Response): Promise<T> {
  const { status, headers } = response;
  if (/^application\/json/i.test(headers.get("content-type") ?? "")) {
    return await response.json() as T;
  }
  await response.body?.cancel();
  throw foreignAnswer(status, headers.get("x-request-id") ?? undefined);
}

function foreignAnswer(status: number, requestId?: string): KvdriveError {
  const message = "The answer is not from kvdrive: is the address right?";
  return new ForeignAnswer(message, { status, requestId });
}

/** @throws {KvdriveError} for characters that no header can hold, such as a line feed. */
function headersOf(headers: Record<string, string>): Headers {
  try {
    return new Headers(headers);
  } catch (error) {
    // The message of the platform repeats the value.
    throw invalidArgument("A header cannot have this value: leave out control characters", error);
  }
}

/** The end of a sentence. Node.js has the reason in the cause. */
function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const message = inner instanceof Error ? inner.message : String(inner);
  return message === "" ? "the connection failed" : message;
}

/** @throws {KvdriveError} if the address cannot be used. The message does not repeat what may be secret. */
export function addressOf(url: string | URL): string {
  const text = String(url);
  const address = parsed(text);
  if (address !== undefined && /^https?:$/.test(address.protocol)) {
    const { origin, pathname, username, password, search, hash } = address;
    if (`${username}${password}${search}${hash}` === "") {
      return `${origin}${pathname.replace(/\/+$/, "")}`;
    }
  }
  const shown = /[@?#]/.test(text) ? "" : ` ${JSON.stringify(text)}`;
  throw invalidArgument(
    `Bad server address${shown}: it must look like https://files.example.com:8000, with http:// or https://, without a user or query`,
  );
}

function parsed(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** "The key is `<project_id>_<secret>`": the project's id is before the first `_`. */
function projectOf(key: string): string {
  const [, project = ""] = /^([^_]*)_[\x21-\x7e]+$/.exec(key) ?? [];
  if (isProjectId(project)) return project;
  throw invalidArgument("Bad key: a project key looks like <project id>_<secret>");
}
