import type { RequestContext } from "../http/request_context.ts";
import { type BodyReader, bodyReader, NO_BODY, responseFraming } from "../http1/body.ts";
import type { ClientConnection } from "../http1/client_connection.ts";
import { type Connection, ConnectionLost, CONTINUE, NO_BYTES } from "../http1/connection.ts";
import { MalformedMessage } from "../http1/headers.ts";
import {
  expectsContinue,
  parseResponseHead,
  readHead,
  type RequestHead,
  type ResponseHead,
} from "../http1/message_head.ts";
import {
  type AuthorizedRequest,
  isStillAuthorized,
  REAUTHORIZE_INTERVAL,
} from "./authorization.ts";
import type { GateContext } from "./context.ts";
import {
  isWebSocketRequest,
  serializeRequestHead,
  serializeResponseHead,
  upgradesToWebSocket,
} from "./forwarded_headers.ts";

/** Time to connect to an application, in milliseconds. */
const CONNECT_TIMEOUT = 10_000;

/** Interim responses (1xx) of an application to one request. */
const MAX_INTERIM_RESPONSES = 16;

/** Idle time up to which a connection is reused for a request that cannot be repeated, in milliseconds. */
const FRESH_TIME = 1000;

/**
 * How long the second direction of an upgraded connection may stay open after the first was closed, in milliseconds.
 */
const HALF_CLOSE_TIME = 10_000;

/** Idempotent methods, which can be repeated "if the underlying connection is closed" (RFC 9110, 9.2.2). */
const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

/** Why a request was aborted. "cut off" stands for a revoked key or a shutdown. */
export type AbortReason =
  | "client left"
  | "client stalled"
  | "body malformed"
  | "upstream timeout"
  | "cut off";

/** A request to the gate, while it is answered. */
export interface GateRequest {
  head: RequestHead;
  body: BodyReader;
  context: RequestContext;
}

/** A request that is forwarded to an application, and the response to it. */
export class ProxiedRequest {
  /** Why it was aborted, if it was. */
  aborted: AbortReason | undefined;
  /** The error in the client's body, if it has one. */
  bodyError: MalformedMessage | undefined;
  /** Whether part of the response was sent to the client. */
  hasResponded = false;
  readonly #startedAt: number;
  readonly #connecting = new AbortController();
  #upstream: Connection | undefined;
  /** Whether the head of the response has arrived. */
  #hasResponse = false;
  /** Deadline for the application's next step. */
  #deadline = Infinity;
  #isUpgraded = false;
  #isFinished = false;
  /** Whether the whole request was sent. */
  #isSent = false;
  #sending: Promise<void> = Promise.resolve();
  #isReauthorizing = false;

  constructor(
    private readonly gate: GateContext,
    private readonly client: ClientConnection,
    private readonly request: GateRequest & { authorized: AuthorizedRequest },
  ) {
    this.#startedAt = gate.clock.now;
  }

  get isUpgraded(): boolean {
    return this.#isUpgraded;
  }

  /**
   * Forwards the request and its response. Returns whether the client's connection can be reused.
   *
   * @throws the error that prevented a complete response. If `hasResponded`, the connection must be closed.
   */
  async run(): Promise<boolean> {
    const upgrades = isWebSocketRequest(this.request.head);
    this.client.onClose = () => this.abort("client left");
    try {
      const response = await this.#request(upgrades);
      this.request.context.status = response.status;
      this.request.context.isForwarded = true;
      this.client.limitSilence(this.gate.appsIdleTimeout);
      if (response.status !== 101) return await this.#forwardResponse(response);
      if (!upgrades) throw new MalformedMessage("it changes the protocol without a request");
      if (!upgradesToWebSocket(response.headers)) {
        throw new MalformedMessage("it changes to another protocol than WebSocket");
      }
      await this.#upgrade(response);
      return false;
    } finally {
      this.#isFinished = true;
      this.client.onClose = undefined;
      if (this.aborted === "client left" || this.aborted === "cut off") {
        this.request.context.isAborted = true;
      }
      this.#upstream?.close();
    }
  }

  abort(reason: AbortReason): void {
    this.aborted ??= reason;
    const closesClient = reason === "client left" || reason === "cut off";
    if (closesClient || this.#isFinished || this.#isUpgraded) this.client.connection.close();
    this.#connecting.abort();
    this.#upstream?.close();
  }

  /** Aborts the request if the application missed its deadline. */
  checkDeadline(now: number): void {
    if (this.#deadline < now) this.abort("upstream timeout");
  }

  /** Authorizes the request again if it has been running for `REAUTHORIZE_INTERVAL`. */
  reauthorizeIfDue(now: number): void {
    if (this.#startedAt + REAUTHORIZE_INTERVAL <= now) this.reauthorize();
  }

  /** Aborts the request if it is no longer authorized. */
  reauthorize(): void {
    if (this.#isReauthorizing || this.#isFinished) return;
    this.#isReauthorizing = true;
    isStillAuthorized(this.gate.store, this.request.authorized)
      // The earlier decision holds while the store is unavailable.
      .catch(() => true)
      .then((isAuthorized) => {
        this.#isReauthorizing = false;
        if (!isAuthorized && !this.#isFinished) this.abort("cut off");
      });
  }

  /** Sends the request and returns the head of the response. Repeats it once if a reused connection was just closed. */
  async #request(upgrades: boolean): Promise<ResponseHead> {
    const { upstream } = this.request.authorized;
    const text = this.#serializeHead(upgrades);
    const isRepeatable = this.request.body.isDone && REPEATABLE.has(this.request.head.method);
    const { clock, upstreams } = this.gate;
    const reused = upstreams.take(upstream, isRepeatable ? 0 : clock.now - FRESH_TIME);
    if (reused !== undefined) {
      try {
        return await this.#requestOver(reused, text);
      } catch (error) {
        const isUnanswered = error instanceof ConnectionLost && reused.reader.length === 0;
        if (!isRepeatable || !isUnanswered || this.aborted !== undefined) throw error;
        reused.close();
      }
    }
    this.#deadline = clock.in(CONNECT_TIMEOUT);
    const connection = await upstreams.connect(upstream, this.#connecting.signal);
    if (this.aborted !== undefined) connection.close();
    return await this.#requestOver(connection, text);
  }

  #serializeHead(upgrades: boolean): string {
    const { target, route: { prefix }, upstream: { authority }, client, access } =
      this.request.authorized;
    return serializeRequestHead({
      head: this.request.head,
      target,
      prefix,
      authority,
      client,
      id: this.request.context.id,
      keyName: access.caller === "key" ? access.keyName : undefined,
      isPreflight: access.caller === "preflight",
      upgrades,
    });
  }

  async #requestOver(connection: Connection, text: string): Promise<ResponseHead> {
    this.#upstream = connection;
    this.#sending = this.#send(connection, text);
    for (let count = 0; count <= MAX_INTERIM_RESPONSES; count++) {
      const head = await readHead(connection.reader);
      if (head === undefined) throw new ConnectionLost("The connection ended before a response");
      const response = parseResponseHead(head);
      if (response.status >= 200 || response.status === 101) {
        this.#hasResponse = true;
        this.#deadline = Infinity;
        return response;
      }
    }
    throw new MalformedMessage("it has too many interim responses");
  }

  /** Sends the request. Never throws: `#requestOver` sees the effect of a failure. */
  async #send(connection: Connection, text: string): Promise<void> {
    const body = this.request.body;
    const chunked = this.request.head.framing.kind === "chunked";
    try {
      this.#deadline = this.#responseDeadline();
      const piece = body.take();
      this.request.context.received += piece.length;
      await connection.send({ head: text, piece, chunked, isLast: body.isDone });
      if (!body.isDone) await this.#sendBody(connection, chunked);
      if (!body.isDone) return;
      this.#isSent = true;
      this.#detectClientLoss();
    } catch (error) {
      // The application may respond without reading the whole request. If it failed, reading its response shows that.
      if (error instanceof ConnectionLost) return;
      if (error instanceof MalformedMessage) this.bodyError = error;
      else this.gate.onError(error, this.request.context.id);
      this.abort(error instanceof MalformedMessage ? "body malformed" : "cut off");
    }
  }

  async #sendBody(connection: Connection, chunked: boolean): Promise<void> {
    const { reader } = this.client.connection;
    if (expectsContinue(this.request.head) && reader.length === 0 && !this.hasResponded) {
      await this.client.write(CONTINUE).catch(() => this.abort("client left"));
    }
    while (!this.request.body.isDone) {
      // The application may wait as long as the client does.
      this.#deadline = Infinity;
      this.#expectBytes();
      const hasMore = await reader.fill();
      if (this.#isFinished) return;
      this.#expectNothing();
      if (!hasMore) return this.abort("client left");
      this.#deadline = this.#responseDeadline();
      const piece = this.request.body.take();
      this.request.context.received += piece.length;
      await connection.send({ piece, chunked, isLast: this.request.body.isDone });
    }
  }

  #expectBytes(): void {
    this.client.onLate = () => this.abort("client stalled");
    this.client.expectBytes(this.gate.idleTimeout);
  }

  #expectNothing(): void {
    this.client.expectNothing();
    this.client.onLate = undefined;
  }

  #responseDeadline(): number {
    return this.#hasResponse ? Infinity : this.gate.clock.in(this.gate.appsTimeout);
  }

  /** Keeps reading from the client during the response, as only a read detects that it left. */
  #detectClientLoss(): void {
    const { reader } = this.client.connection;
    if (reader.isFull) return;
    reader.fill().then((hasMore) => {
      if (this.#isFinished || this.#isUpgraded) return;
      if (hasMore) this.#detectClientLoss();
      else this.abort("client left");
    });
  }

  async #forwardResponse(response: ResponseHead): Promise<boolean> {
    const { minor, method, framing: requestFraming } = this.request.head;
    const framing = responseFraming(method, response);
    const upstream = this.#connectedUpstream();
    const body = bodyReader(upstream.reader, framing);
    const chunked = minor === 1 && framing.kind !== "length";
    const closes = closesAfter(this.request.head, this.gate) || !this.request.body.isDone;
    const { hsts } = this.gate;
    const { id } = this.request.context;
    const head = serializeResponseHead(response, { id, chunked, closes, hsts });
    await this.#forwardBody(upstream, body, head, chunked);
    // The response can arrive before `#send` has recorded that the request was sent.
    if (requestFraming === NO_BODY) await this.#sending;
    const isClean = this.#isSent && this.aborted === undefined;
    const isDrained = framing.kind !== "close" && upstream.reader.length === 0;
    if (isClean && isDrained && isReusable(method, response)) {
      this.#upstream = undefined;
      this.gate.upstreams.release(this.request.authorized.upstream, upstream, this.gate.clock.now);
    }
    return isClean && !closes;
  }

  async #forwardBody(
    upstream: Connection,
    body: BodyReader,
    text: string,
    chunked: boolean,
  ): Promise<void> {
    let head = text;
    for (;;) {
      const piece = body.take();
      if (head !== "" || piece.length > 0 || body.isDone && chunked) {
        this.hasResponded = true;
        await this.client.send({ head, piece, chunked, isLast: body.isDone });
        this.request.context.sent += piece.length;
        head = "";
      }
      if (body.isDone) return;
      if (await upstream.reader.fill()) continue;
      // The client's connection breaks as well, so that it cannot mistake the response for a complete one.
      if (!body.end()) throw new ConnectionLost("The response is incomplete");
    }
  }

  /** Forwards bytes in both directions until both are closed, or `HALF_CLOSE_TIME` after the first was. */
  async #upgrade(response: ResponseHead): Promise<void> {
    const upstream = this.#connectedUpstream();
    this.hasResponded = this.#isUpgraded = true;
    if (this.gate.isDraining) return this.abort("cut off");
    const client = this.client;
    const context = this.request.context;
    const head = serializeResponseHead(response, { id: context.id, chunked: false, closes: false });
    await client.send({ head, piece: NO_BYTES, chunked: false, isLast: false });
    const directions = [
      pump(client.connection, async (piece) => {
        await upstream.write(piece);
        context.received += piece.length;
      }).then(() => upstream.closeWrite()),
      pump(upstream, async (piece) => {
        await client.write(piece);
        context.sent += piece.length;
      }).then(() => client.connection.closeWrite()),
    ];
    await Promise.race(directions).finally(() =>
      this.#deadline = this.gate.clock.in(HALF_CLOSE_TIME)
    );
    await Promise.all(directions);
  }

  #connectedUpstream(): Connection {
    if (this.#upstream === undefined) throw new ConnectionLost("There is no connection");
    return this.#upstream;
  }
}

/** Whether the client's connection closes after the response to a request. */
export function closesAfter(
  { minor, connection }: RequestHead,
  { isDraining }: Pick<GateContext, "isDraining">,
): boolean {
  return minor === 0 || connection.has("close") || isDraining;
}

/**
 * Whether the connection to an application can be used again. An application may send the body that it announces with a
 * response to HEAD, 204 or 304, although there must be none. It would be the beginning of the next response.
 */
function isReusable(method: string, { status, minor, headers }: ResponseHead): boolean {
  if (minor === 0 || method === "HEAD") return false;
  const isBodiless = status === 204 || status === 304;
  return !headers.some(({ lower, value }) =>
    lower === "connection"
      ? /\bclose\b/i.test(value)
      : isBodiless && (lower === "content-length" || lower === "transfer-encoding")
  );
}

/**
 * Reads a connection to its end, and forwards every piece before the next read. @throws {ConnectionLost} if it breaks.
 */
async function pump(
  from: Connection,
  forward: (piece: Uint8Array) => Promise<void>,
): Promise<void> {
  const { reader } = from;
  do {
    const piece = reader.take(Infinity);
    if (piece.length > 0) await forward(piece);
  } while (await reader.fill());
  if (reader.isBroken) throw new ConnectionLost("The connection broke");
}
