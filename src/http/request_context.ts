/** What a request is counted as while it runs. */
export type RequestKind = "upload" | "download" | "gate" | "other";

/** The methods that are called by their name. Whatever else somebody sends, a secret perhaps, is `other`. */
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
]);

/** The route of a request that found none. */
export const NO_ROUTE = "-";

/** A request from its beginning to its end, as the log and the metrics tell of it. */
export class RequestContext {
  readonly method: string;
  /** The pattern that its path fits, such as `/v1/{project}`: no name and no secret is in it. */
  route = NO_ROUTE;
  kind: RequestKind = "other";
  /** Whether it is counted as one that runs. */
  isRunning = false;
  /** The application that it is for, at the gate: `project/app`. */
  app: string | undefined;
  /** Whether the application answered it. */
  isForwarded = false;
  /** 0 where nothing was answered. */
  status = 0;
  /** Bytes of its body that were read, and of the answer's that were handed to the connection. */
  received = 0;
  sent = 0;
  /** The prefix of the key that let it in, `admin` or `session`. Nothing of one that did not. */
  key: string | undefined;
  /** Whether the bytes of the answer are counted one piece after the other. */
  isStreaming = false;
  /** Whether its sender left, or had to be left, before all was received or sent. */
  isAborted = false;

  /** @param began As `performance.now` gives it. */
  constructor(readonly id: string, method: string, readonly began: number) {
    this.method = METHODS.has(method) ? method : "other";
  }
}

/** What a caller may name its request: printable, without blanks or quotes, and short enough for a log. */
const SANE = /^[A-Za-z0-9._~:@/+=-]{1,128}$/;

/** The caller's `X-Request-Id` if it is a sane one, else a new one. One with the caller's secret in it is none for a log. */
export function requestIdOf(headers: Headers): string {
  const id = headers.get("x-request-id");
  return id !== null && SANE.test(id) && !hasSecret(id, headers) ? id : crypto.randomUUID();
}

function hasSecret(id: string, headers: Headers): boolean {
  const secrets = [headers.get("x-api-key"), headers.get("authorization")?.replace(/^\w+ +/, "")];
  return secrets.some((secret) => secret && id.includes(secret));
}
