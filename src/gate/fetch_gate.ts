import { errors, HttpError, toHttpError } from "../http/http_error.ts";
import { type RequestContext, requestIdOf } from "../http/request_context.ts";
import { NO_BODY } from "../http1/body.ts";
import { headerTokens, joinedHeader } from "../http1/headers.ts";
import type { RequestHead } from "../http1/message_head.ts";
import { hostnameOf } from "../rules/hosts.ts";
import {
  type AuthorizedRequest,
  authorizeRequest,
  isStillAuthorized,
  REAUTHORIZE_INTERVAL,
} from "./authorization.ts";
import type { AuthorizationContext, GateDeps } from "./context.ts";
import {
  clientInfoOf,
  forwardedHeaders,
  forwardedValue,
  isForwarded,
  type Peer,
} from "./forwarded_headers.ts";
import { errorResponse, type GateResponse } from "./gate_response.ts";
import { findByHost } from "./routing.ts";
import { Upstreams } from "./upstreams.ts";

/** Methods that `fetch` does not send. */
const NOT_SENT = new Set(["CONNECT", "TRACE", "TRACK"]);

/** "A server MUST NOT send" a body with these (RFC 9110, 15.3.5, 15.4.5); with the third it is left to others. */
const BODILESS = new Set([204, 205, 304]);

/**
 * The gate on a platform that hands over requests and no connections, all on one port: there "host names alone select
 * applications", requests go on by `fetch`, and no connection changes its protocol.
 */
export class FetchGate {
  readonly #deps: GateDeps;
  readonly #doorkeeper: AuthorizationContext;

  constructor(deps: GateDeps) {
    this.#deps = deps;
    this.#doorkeeper = { ...deps, upstreams: new Upstreams(deps.upstreamRules) };
  }

  /** The answer to a request for the host name of an application; `undefined` where no application has it. */
  async answer(request: Request, info: Deno.ServeHandlerInfo): Promise<Response | undefined> {
    const peer = peerOf(info);
    if (!await this.#isForApplication(headOf(request), peer)) return undefined;
    const { watch } = this.#deps;
    const visit = watch.begin(requestIdOf(request.headers), request.method);
    watch.route(visit, "gate", "gate");
    visit.received = Number(request.headers.get("content-length") ?? 0);
    const response = await this.#answerVisit(request, peer, visit);
    visit.status = response.status;
    const end = () => watch.end(visit);
    info.completed.then(end, () => {
      visit.isAborted = true;
      end();
    });
    return response;
  }

  /** The server's own names come first: no application can have one of them. */
  async #isForApplication(head: RequestHead, peer: Peer): Promise<boolean> {
    const { store: { apps }, hosts, trustedProxies } = this.#deps;
    const name = hostnameOf(hostOf(head, peer, trustedProxies) ?? "");
    if (hosts.isOwn(name) || hosts.isGate(name)) return false;
    return await findByHost({ apps, hosts }, name) !== undefined;
  }

  async #answerVisit(request: Request, peer: Peer, visit: RequestContext): Promise<Response> {
    try {
      return await this.#admitAndPass(request, peer, visit);
    } catch (error) {
      const rendered = toHttpError(error);
      if (rendered.status >= 500 && rendered.cause !== undefined) {
        this.#deps.onError(rendered.cause);
      }
      return ownResponse(errorResponse(rendered, headOf(request)), request);
    }
  }

  async #admitAndPass(
    request: Request,
    peer: Peer,
    visit: RequestContext,
  ): Promise<Response> {
    const head = headOf(request);
    const readBody = (limit: number) => readText(request, limit);
    const admitted = await authorizeRequest(this.#doorkeeper, head, peer, { readBody, visit });
    if ("status" in admitted) return ownResponse(admitted, request);
    if (NOT_SENT.has(head.method)) throw errors.badMessage(501, "its method is not known here");
    if (head.connection.includes("upgrade")) {
      throw errors.badMessage(501, "connections do not change their protocol here");
    }
    return await this.#pass(request, head, admitted, visit);
  }

  async #pass(
    request: Request,
    head: RequestHead,
    admitted: AuthorizedRequest,
    visit: RequestContext,
  ): Promise<Response> {
    const { upstream: { address, authority, isSecure, hostname }, target } = admitted;
    const { hosts, upstreamRules } = this.#deps;
    if (upstreamRules.problemOf(address) !== undefined || hosts.isOwn(hostnameOf(hostname))) {
      throw errors.upstreamForbidden();
    }
    const ending = new AbortController();
    const leave = () => ending.abort();
    request.signal.addEventListener("abort", leave, { once: true });
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      ending.abort();
    }, this.#deps.appsTimeout);
    try {
      const answer = await fetch(`${isSecure ? "https" : "http"}://${authority}${target}`, {
        method: head.method,
        headers: requestHeaders(head, admitted),
        body: request.body,
        redirect: "manual",
        signal: ending.signal,
      });
      const stop = this.#watch(admitted, ending);
      visit.isForwarded = true;
      return passedResponse(answer, visit, stop);
    } catch {
      throw isSlow ? errors.upstreamTimeout() : errors.upstreamUnreachable();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends an answer that runs when its caller would not be let in any more; gives what ends the watch. */
  #watch(admitted: AuthorizedRequest, ending: AbortController): () => void {
    const judgeAnew = () => {
      isStillAuthorized(this.#deps.store, admitted)
        // While the store cannot be asked, its last word holds.
        .catch(() => true)
        .then((isAllowed) => isAllowed || ending.abort());
    };
    const timer = setInterval(judgeAnew, REAUTHORIZE_INTERVAL);
    const stopListening = this.#deps.store.revocations.onChange(judgeAnew);
    const stop = () => {
      clearInterval(timer);
      stopListening();
    };
    ending.signal.addEventListener("abort", stop, { once: true });
    return stop;
  }
}

function peerOf({ remoteAddr }: Deno.ServeHandlerInfo): Peer {
  // The platform has taken TLS off.
  return { address: remoteAddr as Deno.NetAddr, isSecure: true };
}

/** The host that selects the application; `undefined` where it is malformed, which the server answers like any other. */
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

/** A request as the gate judges it. */
function headOf({ method, url, headers, body }: Request): RequestHead {
  const fields = [...headers].map(([name, value]) => ({ name, lower: name, value }));
  const slash = url.indexOf("/", url.indexOf("://") + "://".length);
  return {
    method,
    target: slash === -1 ? "/" : url.slice(slash),
    minor: 1,
    fields,
    host: joinedHeader(fields, "host"),
    framing: body === null ? NO_BODY : { kind: "chunked" },
    connection: headerTokens(fields, "connection"),
  };
}

function requestHeaders(head: RequestHead, admitted: AuthorizedRequest): Headers {
  const headers = new Headers();
  for (const field of head.fields) {
    const value = forwardedValue(field, head.connection, admitted.judgement);
    if (value !== undefined) headers.append(field.name, value);
  }
  const { origin, judgement, place: { prefix } } = admitted;
  for (const [name, value] of forwardedHeaders({ origin, judgement, prefix })) {
    headers.set(name, value);
  }
  // `fetch` would unpack what is packed.
  headers.set("Accept-Encoding", "identity");
  return headers;
}

function passedResponse(answer: Response, visit: RequestContext, stop: () => void): Response {
  const connection = answer.headers.get("connection") ?? "";
  const named = connection.toLowerCase().split(",").map((one) => one.trim());
  const headers = new Headers();
  // Each Set-Cookie comes by itself.
  for (const [lower, value] of answer.headers) {
    if (isForwarded({ lower, value }, named)) headers.append(lower, value);
  }
  const { status, statusText } = answer;
  if (answer.body === null || BODILESS.has(status)) {
    stop();
    return new Response(null, { status, statusText, headers });
  }
  const onPiece = (size: number) => void (visit.sent += size);
  return new Response(untilEnd(answer.body, onPiece, stop), { status, statusText, headers });
}

/** The same stream, with a call for each piece, and one when it is over in whatever way. */
function untilEnd(
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

function ownResponse({ status, headers, body }: GateResponse, request: Request): Response {
  const isShown = body !== "" && request.method !== "HEAD";
  return new Response(isShown ? body : null, {
    status,
    headers: {
      ...headers,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestIdOf(request.headers),
    },
  });
}

/** @throws {HttpError} 413 where there is more. */
async function readText(request: Request, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const piece of request.body ?? []) {
    size += piece.byteLength;
    if (size > limit) throw errors.signInTooLarge(limit);
    text += decoder.decode(piece, { stream: true });
  }
  return text;
}
