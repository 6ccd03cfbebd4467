/**
 * The handler for servers of the runtime, such as `Deno.serve`, and for programs that call it themselves. It knows the
 * running requests, so that a server can be closed without waiting for slow peers.
 *
 * @module
 */
import { renderError } from "../http/error_response.ts";
import { errors } from "../http/http_error.ts";
import { requestIdOf } from "../http/request_context.ts";
import { HttpResponse, toRuntimeResponse } from "../http/responses/http_response.ts";
import { streamError } from "../http/responses/response_stream.ts";
import type { Handler, RequestConnection } from "../http1/server.ts";

/** What a caller knows about a request, as `Deno.serve` passes it. */
export interface RequestInfo {
  /** The address of the client. */
  remoteAddr?: Deno.Addr;
  /** Settles once the response has been sent, or the client has left. */
  completed?: Promise<void>;
}

/** The client of a request without an address. All of them share the limits of one. */
const UNKNOWN_CLIENT: Deno.NetAddr = { transport: "tcp", hostname: "unknown", port: 0 };

/** This program itself, whose address the audit logs leave empty. */
export const LOCAL_CLIENT: RequestInfo = {
  remoteAddr: { transport: "tcp", hostname: "", port: 0 },
};

type Piece = Uint8Array<ArrayBuffer>;

/** Passes requests of the runtime to a handler, until it is closed. */
export class RuntimeHandler {
  readonly #running = new Set<RunningRequest>();
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly handler: Handler) {}

  /** Responds to a request. Rejects only if `request` is none. */
  async respond(request: Request, info?: RequestInfo): Promise<Response> {
    const running = new RunningRequest(request, (ended) => this.#forget(ended));
    this.#running.add(running);
    try {
      const response = await this.handler(running.request, {
        remoteAddr: addressIn(info),
        completed: info?.completed instanceof Promise ? info.completed : running.ended,
        connection: connectionOf(request),
      });
      return protectFromRuntime(request, running.answerWith(response));
    } catch (error) {
      running.end();
      throw error;
    }
  }

  /** Resolves when no request is running. */
  async whenIdle(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Ends the bodies of all running requests and responses. */
  abort(): void {
    for (const running of [...this.#running]) running.abort();
  }

  #forget(running: RunningRequest): void {
    this.#running.delete(running);
    if (this.#running.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Returns the address of the client. Frameworks may pass any object in place of what `Deno.serve` does. */
function addressIn(info: RequestInfo | undefined): Deno.Addr {
  const address: unknown = info?.remoteAddr;
  const isAddress = typeof address === "object" && address !== null && "transport" in address;
  return isAddress ? address as Deno.Addr : UNKNOWN_CLIENT;
}

/** Returns what a request that waits learns of its connection. The runtime does not count connections. */
function connectionOf(request: Request): RequestConnection {
  return {
    left: () =>
      new Promise((resolve) => {
        const { signal } = request;
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      }),
    setIdle: () => {},
    setBusy: () => {},
  };
}

/** A request that is being handled, or whose response is being sent. */
class RunningRequest {
  readonly request: AbortableRequest;
  /** Resolves when the response has been taken. */
  readonly ended: Promise<void>;
  readonly #aborting = new AbortController();
  readonly #onEnd: (running: RunningRequest) => void;
  readonly #resolveEnded: () => void;

  constructor(request: Request, onEnd: (running: RunningRequest) => void) {
    this.request = new AbortableRequest(request, this.#aborting.signal);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.#onEnd = onEnd;
  }

  /** Returns the response for the runtime. The request ends with its body. */
  answerWith(response: Response): Response {
    const pieces = response instanceof HttpResponse ? response.pieces : undefined;
    if (pieces === undefined) {
      this.end();
      return toRuntimeResponse(response);
    }
    const { signal } = this.#aborting;
    const end = () => this.end();
    const body = new ReadableStream<Piece>({
      start(controller) {
        const abort = () => {
          controller.error(streamError("The server was closed before the end of the body"));
          // Its reader already gets an error.
          pieces.cancel().catch(() => {}).finally(end);
        };
        if (signal.aborted) abort();
        else signal.addEventListener("abort", abort, { once: true });
      },
      async pull(controller) {
        try {
          const piece = await pieces.next();
          if (signal.aborted) return;
          if (piece !== undefined) return controller.enqueue(piece);
          end();
          controller.close();
        } catch (error) {
          end();
          throw error;
        }
      },
      async cancel() {
        await pieces.cancel().finally(end);
      },
    }, { highWaterMark: 0 });
    return new Response(body, { status: response.status, headers: [...response.headers] });
  }

  abort(): void {
    this.#aborting.abort(errors.shuttingDown());
  }

  end(): void {
    this.#resolveEnded();
    this.#onEnd(this);
  }
}

/**
 * A request whose body can be ended. It keeps what the request says of its URL: that of a request from this program may
 * have segments `.` and `..`, which a copy made by the runtime would not.
 */
class AbortableRequest extends Request {
  readonly #request: Request;
  readonly #headers: Headers;
  readonly pieces: AbortableBody | undefined;

  constructor(request: Request, signal: AbortSignal) {
    super("http://localhost/");
    this.#request = request;
    this.#headers = withHost(request);
    this.pieces = request.body === null ? undefined : new AbortableBody(request, signal);
  }

  override get method(): string {
    return this.#request.method;
  }

  override get url(): string {
    return this.#request.url;
  }

  override get headers(): Headers {
    return this.#headers;
  }

  override get body(): ReadableStream<Piece> | null {
    return this.#request.body;
  }

  override get signal(): AbortSignal {
    return this.#request.signal;
  }
}

/** Returns the headers of a request. One that no server has received names its host only in the URL. */
function withHost({ headers, url }: Request): Headers {
  if (headers.has("host") || !URL.canParse(url)) return headers;
  const completed = new Headers(headers);
  completed.set("Host", new URL(url).host);
  return completed;
}

/** The body of a request, which ends with an error when the server is closed. */
class AbortableBody {
  #reader: ReadableStreamDefaultReader<Piece> | undefined;

  constructor(private readonly request: Request, private readonly signal: AbortSignal) {}

  /** @throws {HttpError} 500 if another part of the program has read from the body, 503 if the server was closed. */
  async next(): Promise<Piece | undefined> {
    const { signal } = this;
    signal.throwIfAborted();
    const reader = this.#reader ??= this.#open();
    const { promise, reject } = Promise.withResolvers<never>();
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return (await Promise.race([reader.read(), promise])).value;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async cancel(): Promise<void> {
    await this.#reader?.cancel();
  }

  #open(): ReadableStreamDefaultReader<Piece> {
    const { bodyUsed, body } = this.request;
    // A stream that was read to its end would pass for an empty body.
    if (!bodyUsed && body !== null) return body.getReader();
    const problem = "The body of the request was read before the server got it";
    throw errors.internalError(new TypeError(problem));
  }
}

/** Reports whether the runtime is Deno 2.9 or later, the oldest version that ends connections as described below. */
export function isRecentRuntime(version: string = Deno.version.deno): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 9);
}

/**
 * Protects a response from servers of the runtime. They compress answers ("Bytes are never changed on the way (no
 * compression of ours)") unless `Cache-Control` forbids it. And older ones close a connection whose request body was not
 * read to its end without announcing it.
 */
export function protectFromRuntime(
  request: Request,
  response: Response,
  isRecent: boolean = isRecentRuntime(),
): Response {
  const { headers } = response;
  if (!isRecent && request.body !== null && response.status >= 400) {
    headers.set("Connection", "close");
  }
  if (!isCompressible(request, response)) return response;
  // A single header: the runtime reads only the first.
  const current = headers.get("cache-control");
  headers.set("Cache-Control", current === null ? "no-transform" : `${current}, no-transform`);
  return response;
}

/** Reports whether the runtime would compress an answer. HEAD gets the same headers as GET. */
function isCompressible(request: Request, { body, headers }: Response): boolean {
  if (!request.headers.has("accept-encoding") || headers.has("content-encoding")) return false;
  return body !== null || request.method === "HEAD";
}

/** Returns the response of a server that does not serve, or no longer. */
export function refusalOf(request: Request, error: Parameters<typeof renderError>[0]): Response {
  const response = toRuntimeResponse(renderError(error));
  response.headers.set("X-Request-Id", requestIdOf(request.headers));
  if (request.method !== "HEAD") return response;
  return new Response(null, { status: response.status, headers: response.headers });
}
