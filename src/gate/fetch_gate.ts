import { errors, HttpError } from "../http/http_error.ts";
import { gateErrors } from "./gate_response.ts";
import { type RequestContext, requestIdOf } from "../http/request_context.ts";
import { HttpResponse, withoutBody } from "../http/responses/http_response.ts";
import { NO_BODY } from "../http1/body.ts";
import { type Header, headerTokens, joinedHeader } from "../http1/headers.ts";
import type { RequestHead } from "../http1/message_head.ts";
import { hostnameOf } from "../rules/hosts.ts";
import {
  type AuthorizedRequest,
  isStillAuthorized,
  REAUTHORIZE_INTERVAL,
} from "./authorization.ts";
import type { GateDeps } from "./context.ts";
import {
  clientInfoOf,
  gateHeaders,
  type Peer,
  peerOf,
  reachesClient,
  upstreamValue,
} from "./forwarded_headers.ts";
import { respond } from "./respond.ts";
import { findByHost } from "./routing.ts";
import { Upstreams } from "./upstreams.ts";

/** Methods that `fetch` does not support. */
const UNSUPPORTED_METHODS = new Set(["CONNECT", "TRACE", "TRACK"]);

/** Statuses whose responses have no body (RFC 9110, 15.3.5, 15.3.6, 15.4.5). */
const BODILESS = new Set([204, 205, 304]);

/** The platform ends streams that are silent, and makes browsers use https. */
type FetchGateDeps = Omit<GateDeps, "hsts" | "appsIdleTimeout">;

/**
 * The gate on Deno Deploy, which provides requests instead of connections, and one port only: "host names alone select
 * applications", requests are forwarded by `fetch`, and connections cannot be upgraded.
 */
export class FetchGate {
  readonly #gate: Parameters<typeof respond>[0];

  constructor(private readonly deps: FetchGateDeps) {
    this.#gate = { ...deps, upstreams: new Upstreams(deps.upstreamRules), hsts: false };
  }

  /** Responds to a request for an application's host name. Returns `undefined` if no application has that name. */
  async respond(request: Request, info: Deno.ServeHandlerInfo): Promise<Response | undefined> {
    // The platform terminates TLS.
    const peer = peerOf(info.remoteAddr as Deno.NetAddr, true);
    if (!await this.#isForApplication(headOf(request), peer)) return undefined;
    const { observer } = this.deps;
    const context = observer.begin(requestIdOf(request.headers), request.method);
    observer.route(context, "gate", "gate");
    context.received = Number(request.headers.get("content-length") ?? 0);
    const response = await this.#respond(request, peer, context);
    context.status = response.status;
    const end = () => observer.end(context);
    info.completed.then(end, () => {
      context.isAborted = true;
      end();
    });
    return response;
  }

  /** No application can have one of the server's own names. */
  async #isForApplication(head: RequestHead, peer: Peer): Promise<boolean> {
    const { store: { apps }, hosts, trustedProxies } = this.deps;
    const hostname = hostnameOf(hostOf(head, peer, trustedProxies) ?? "");
    if (hosts.isOwn(hostname) || hosts.isGate(hostname)) return false;
    return await findByHost({ apps, hosts }, hostname) !== undefined;
  }

  async #respond(request: Request, peer: Peer, context: RequestContext): Promise<Response> {
    const head = headOf(request);
    const readBody = (limit: number) => readText(request, limit);
    const answer = await respond(this.#gate, { head, peer, context, readBody }, (authorized) => {
      if (UNSUPPORTED_METHODS.has(head.method)) {
        throw gateErrors.badMessage(501, "its method is not supported here");
      }
      if (head.connection.has("upgrade")) {
        throw gateErrors.badMessage(501, "connections cannot be upgraded here");
      }
      return this.#forward(request, head, authorized, context);
    });
    return answer instanceof HttpResponse && head.method === "HEAD" ? withoutBody(answer) : answer;
  }

  async #forward(
    request: Request,
    head: RequestHead,
    authorized: AuthorizedRequest,
    context: RequestContext,
  ): Promise<Response> {
    const { upstream: { address, authority, isSecure, hostname }, target } = authorized;
    const { hosts, upstreamRules } = this.deps;
    if (upstreamRules.problemOf(address) !== undefined || hosts.isOwn(hostnameOf(hostname))) {
      throw gateErrors.upstreamForbidden();
    }
    const aborting = new AbortController();
    const abort = () => aborting.abort();
    request.signal.addEventListener("abort", abort, { once: true });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      abort();
    }, this.deps.appsTimeout);
    try {
      const response = await fetch(`${isSecure ? "https" : "http"}://${authority}${target}`, {
        method: head.method,
        headers: upstreamHeaders(head, authorized, context),
        body: request.body,
        redirect: "manual",
        signal: aborting.signal,
      });
      const stop = this.#keepAuthorized(authorized, aborting);
      context.isForwarded = true;
      return forwardedResponse(response, context, stop);
    } catch {
      throw isLate ? gateErrors.upstreamTimeout() : gateErrors.upstreamUnreachable();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Aborts a running response when its request is no longer authorized. Returns a function that stops the checks. */
  #keepAuthorized(authorized: AuthorizedRequest, aborting: AbortController): () => void {
    const reauthorize = () => {
      isStillAuthorized(this.deps.store, authorized)
        // The earlier decision holds while the store is unavailable.
        .catch(() => true)
        .then((isAuthorized) => isAuthorized || aborting.abort());
    };
    const timer = setInterval(reauthorize, REAUTHORIZE_INTERVAL);
    const unsubscribe = this.deps.store.revocations.onChange(reauthorize);
    const stop = () => {
      clearInterval(timer);
      unsubscribe();
    };
    aborting.signal.addEventListener("abort", stop, { once: true });
    return stop;
  }
}

/** Returns the requested host, or `undefined` if it is malformed: then the server responds as to any other request. */
function hostOf(
  head: RequestHead,
  peer: Peer,
  trusted: GateDeps["trustedProxies"],
): string | undefined {
  try {
    return clientInfoOf(head, peer, trusted).host;
  } catch (error) {
    if (error instanceof HttpError) return undefined;
    throw error;
  }
}

/** Returns the platform's headers, with every Set-Cookie separately. */
function headersOf(headers: Headers): Header[] {
  return [...headers].map(([name, value]) => ({ name, lower: name, value }));
}

function headOf({ method, url, headers: platformHeaders, body }: Request): RequestHead {
  const headers = headersOf(platformHeaders);
  const slash = url.indexOf("/", url.indexOf("://") + "://".length);
  return {
    method,
    target: slash === -1 ? "/" : url.slice(slash),
    minor: 1,
    headers,
    host: joinedHeader(headers, "host"),
    framing: body === null ? NO_BODY : { kind: "chunked" },
    connection: headerTokens(headers, "connection"),
  };
}

function upstreamHeaders(
  head: RequestHead,
  { client, access, route: { prefix } }: AuthorizedRequest,
  { id }: RequestContext,
): Headers {
  const headers = new Headers();
  const isPreflight = access.caller === "preflight";
  for (const header of head.headers) {
    const value = upstreamValue(header, head.connection, isPreflight);
    if (value !== undefined) headers.append(header.name, value);
  }
  const keyName = access.caller === "key" ? access.keyName : undefined;
  for (const [name, value] of gateHeaders({ client, id, prefix, keyName })) {
    headers.set(name, value);
  }
  // `fetch` would decompress the response.
  headers.set("Accept-Encoding", "identity");
  return headers;
}

function forwardedResponse(
  response: Response,
  context: RequestContext,
  stop: () => void,
): Response {
  const received = headersOf(response.headers);
  const connection = headerTokens(received, "connection");
  const headers = new Headers();
  for (const header of received) {
    if (reachesClient(header, connection)) headers.append(header.lower, header.value);
  }
  if (!headers.has("x-request-id")) headers.set("X-Request-Id", context.id);
  const { status, statusText } = response;
  if (response.body === null || BODILESS.has(status)) {
    stop();
    return new Response(null, { status, statusText, headers });
  }
  const onPiece = (size: number) => void (context.sent += size);
  return new Response(observed(response.body, onPiece, stop), { status, statusText, headers });
}

/**
 * Returns the same stream. Calls `onPiece` for every piece, and `onEnd` when the stream ends, fails or is cancelled.
 */
function observed(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  onPiece: (size: number) => void,
  onEnd: () => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          onPiece(value.byteLength);
          return controller.enqueue(value);
        }
        onEnd();
        controller.close();
      } catch (error) {
        onEnd();
        controller.error(error);
      }
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}

/** Reads a body as text. @throws {HttpError} 413 if it has more bytes than `limit`. */
async function readText(request: Request, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const piece of request.body ?? []) {
    size += piece.byteLength;
    if (size > limit) throw errors.fieldsTooLarge(limit);
    text += decoder.decode(piece, { stream: true });
  }
  return text;
}
