import { basicPassword, dashboardTokens, SESSION_HEADER } from "./network/request_secrets.ts";
import type { Store } from "../store/store.ts";

/** The connection of a request that waits. The runtime's own server does not have it. */
export interface RequestConnection {
  /** Resolves when the client has left. */
  left(): Promise<void>;
  /** Lets other connections take its place, until `setBusy`. */
  setIdle(): void;
  setBusy(): void;
}

/** What a server knows of a request besides what was sent. */
export interface RequestInfo extends Deno.ServeHandlerInfo {
  connection?: RequestConnection;
}

/** How a request is counted while it runs. */
export type RequestKind = "upload" | "download" | "gate" | "other";

/** What a request for a link got: bytes of a file, a ZIP, a page, or why it got nothing. */
export type LinkOutcome =
  | "file"
  | "archive"
  | "page"
  | "not found"
  | "password missing"
  | "wrong password"
  | "refused";

/** The methods that logs and metrics name. Any other, which may be a secret, is `other`. */
const METHODS = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "CONNECT",
  "PROPFIND",
  "PROPPATCH",
  "MKCOL",
  "COPY",
  "MOVE",
  "LOCK",
  "UNLOCK",
]);

/** The route of a request whose path fits none. */
export const NO_ROUTE = "-";

/** What the log and the metrics need to know of one request, from its start to its end. */
export class RequestContext {
  readonly method: string;
  /** The pattern that the path fits, such as `/v1/{project}`: it contains no name and no secret. */
  route = NO_ROUTE;
  kind: RequestKind = "other";
  /** Whether it is counted as running. */
  isRunning = false;
  /** The project that it counts for: its sender may use the project. */
  project: string | undefined;
  /** At the gate, the application: `project/app`. */
  app: string | undefined;
  /** For a link: what was answered. */
  link: LinkOutcome | undefined;
  /** Whether the application answered it. */
  isForwarded = false;
  /** 0 if there was no response. */
  status = 0;
  /** Bytes of the request body that were read. */
  received = 0;
  /** Bytes of the response body that were handed to the connection. */
  sent = 0;
  /** The prefix of the accepted key, `admin`, `metrics` or `session`. Unset for a key that was refused. */
  key: string | undefined;
  /** Whether the sender is a browser that is signed in to the dashboard. */
  usesSession = false;
  /** Whether the bytes of the response are counted piece by piece. */
  isStreaming = false;
  /** Whether the transfer of a body was aborted by either side. */
  isAborted = false;

  /** @param began The start, as `performance.now()`. */
  constructor(readonly id: string, method: string, readonly began: number) {
    this.method = METHODS.has(method) ? method : "other";
  }
}

export interface RequestMeter {
  /** A request of this kind is running. */
  begin(kind: RequestKind): void;
  /** A request has ended after so many milliseconds. */
  end(context: RequestContext, milliseconds: number): void;
}

/** Writes a line for each request that has ended. */
export interface RequestRecorder {
  record(context: RequestContext, milliseconds: number): void;
}

/** Reports the start and the end of every request to the metrics and the log. */
export class RequestObserver {
  constructor(private readonly meter: RequestMeter, private readonly log?: RequestRecorder) {}

  /** To be called when a request has arrived. */
  begin(id: string, method: string): RequestContext {
    return new RequestContext(id, method, performance.now());
  }

  /** To be called when its route is known. */
  route(context: RequestContext, route: string, kind: RequestKind): void {
    context.route = route;
    context.kind = kind;
    context.isRunning = true;
    this.meter.begin(kind);
  }

  /** To be called when the request has ended. */
  end(context: RequestContext): void {
    const milliseconds = performance.now() - context.began;
    this.meter.end(context, milliseconds);
    this.log?.record(context, milliseconds);
  }
}

/** A valid request id of a caller: printable, without blanks and quotes, and short enough for a log. */
const REQUEST_ID = /^[A-Za-z0-9._~:@/+=-]{1,128}$/;

/**
 * The caller's `X-Request-Id` if it is valid, otherwise a new one. An id that contains the caller's secret is not valid.
 *
 * @param others Further secrets of the caller.
 */
export function requestIdOf(headers: Headers, others: readonly string[] = []): string {
  const id = headers.get("x-request-id");
  const isValid = id !== null && REQUEST_ID.test(id) && !hasSecret(id, headers) &&
    !others.some((secret) => id.includes(secret));
  return isValid ? id : crypto.randomUUID();
}

function hasSecret(id: string, headers: Headers): boolean {
  const secrets = [
    headers.get("x-api-key"),
    headers.get("authorization")?.replace(/^\w+ +/, ""),
    basicPassword(headers),
    headers.get(SESSION_HEADER),
    ...dashboardTokens(headers),
  ];
  return secrets.some((secret) => secret && id.includes(secret));
}

/** What is known of a request while it is answered. */
interface AnsweredRequest {
  context: RequestContext;
  info: Deno.ServeHandlerInfo;
}

/** Receives the end of a request. */
interface Observers {
  observer: RequestObserver;
  store: Pick<Store, "usageHistory">;
}

/**
 * Completes the context when the response has been sent. A body in memory is sent at once; the bytes of a stream are counted
 * as they leave. Reading `response.body` here would turn a body in memory into a stream, which costs more than the request.
 */
export function observeEnd(
  { context, info }: AnsweredRequest,
  response: Response,
  { observer, store }: Observers,
): void {
  context.status = response.status;
  if (!context.isStreaming && context.method !== "HEAD" && response.status !== 304) {
    context.sent = Number(response.headers.get("content-length") ?? 0);
  }
  const end = () => {
    observer.end(context);
    if (context.project !== undefined) store.usageHistory.traffic.count(context.project, context);
  };
  info.completed.then(end, end);
}
