import { Buffer } from "node:buffer";
import { errors, type HttpError, toHttpError } from "../http/http_error.ts";
import type { RequestContext } from "../http/request_context.ts";
import { type BodyReader, bodyReader } from "../http1/body.ts";
import type { ClientConnection } from "../http1/client_connection.ts";
import { type Connection, ConnectionLost, type MessagePart } from "../http1/connection.ts";
import { MalformedMessage } from "../http1/headers.ts";
import { parseRequestHead, readHead, type RequestHead } from "../http1/message_head.ts";
import { authorizeRequest } from "./authorization.ts";
import type { GateContext } from "./context.ts";
import type { Peer } from "./forwarded_headers.ts";
import {
  errorResponse,
  gateRequestId,
  type GateResponse,
  serializeResponse,
} from "./gate_response.ts";
import { ProxiedRequest } from "./proxied_request.ts";
import { RefusedUpstream } from "./upstreams.ts";

/** What a caller is told of whatever was thrown, before an application was asked or while it was. */
function renderFailure(error: unknown, exchange: ProxiedRequest | undefined): HttpError {
  return exchange === undefined ? renderRefusal(error) : renderExchange(error, exchange);
}

function renderRefusal(error: unknown): HttpError {
  if (error instanceof MalformedMessage) return errors.badMessage(error.status, error.message);
  return toHttpError(error);
}

/** What was wrong with an application, of which nothing inner is told, or with the rest of the request. */
function renderExchange(error: unknown, { aborted, malformed }: ProxiedRequest): HttpError {
  if (malformed !== undefined) return renderRefusal(malformed);
  if (aborted === "caller silent") return errors.requestTimeout();
  if (aborted === "upstream slow") return errors.upstreamTimeout();
  if (error instanceof RefusedUpstream) return errors.upstreamForbidden();
  if (error instanceof MalformedMessage) return errors.upstreamInvalidResponse();
  if (error instanceof ConnectionLost) return errors.upstreamUnreachable();
  return toHttpError(error);
}

/** How long the form of a sign-in may take from its head to its end, in milliseconds: it fits into one packet. */
const SIGN_IN_TIME = 10_000;

/** A connection of a caller, whose requests are answered one after the other. */
export class GateConnection {
  readonly #ctx: GateContext;
  readonly #client: ClientConnection;
  readonly #peer: Peer;
  #exchange: ProxiedRequest | undefined;
  #isBusy = false;

  constructor(ctx: GateContext, client: ClientConnection, isSecure: boolean) {
    this.#ctx = ctx;
    this.#client = client;
    this.#peer = { address: client.address, isSecure };
  }

  get wire(): Connection {
    return this.#client.connection;
  }

  /** Whether a request is being answered. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** What goes on with the application, if anything. */
  get exchange(): ProxiedRequest | undefined {
    return this.#exchange;
  }

  /** Answers requests until the connection ends. It never throws. */
  async serve(): Promise<void> {
    try {
      while (!this.#ctx.isDraining && await this.#serveOne());
      if (!this.wire.isClosed) await this.#client.end();
    } catch (error) {
      if (!(error instanceof ConnectionLost)) this.#ctx.onError(error);
    } finally {
      this.wire.close();
    }
  }

  /** Sends away a caller for whom there is no room. @throws {ConnectionLost} */
  async turnAway(): Promise<void> {
    await this.#refuse(errors.gateFull());
  }

  /** Sends a part of an answer, which the caller has to take in time. @throws {ConnectionLost} */
  async send(sending: MessagePart): Promise<void> {
    await this.#client.send(sending);
  }

  /** The same for bytes. @throws {ConnectionLost} */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#client.write(bytes);
  }

  /** Bytes have to come before a body's silence is over. */
  expectBytes(): void {
    this.#client.onLate = () => this.#exchange?.abort("caller silent");
    this.#client.expectBytes(this.#ctx.idleTimeout);
  }

  expectNothing(): void {
    this.#client.expectNothing();
    this.#client.onLate = undefined;
  }

  /** Whether the connection ends with the answer to a request. */
  closesAfter({ minor, connection }: RequestHead): boolean {
    return minor === 0 || connection.includes("close") || this.#ctx.isDraining;
  }

  /** Gives whether another request may follow. */
  async #serveOne(): Promise<boolean> {
    let head: RequestHead | undefined;
    try {
      head = await this.#readHead();
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      await this.#refuse(errors.badMessage(error.status, error.message));
      return false;
    }
    if (head === undefined) return false;
    this.#client.beginRequest();
    this.#isBusy = true;
    const mayGoOn = await this.#answerWatched(head);
    this.#isBusy = false;
    this.#client.awaitRequest();
    return mayGoOn;
  }

  async #readHead(): Promise<RequestHead | undefined> {
    const { reader } = this.wire;
    if (reader.length === 0 && !await reader.fill()) return undefined;
    this.#client.awaitHead();
    const text = await readHead(reader);
    return text === undefined ? undefined : parseRequestHead(text);
  }

  async #answerWatched(head: RequestHead): Promise<boolean> {
    const visit = this.#begin(gateRequestId(head.fields), head.method);
    try {
      return await this.#answer(head, visit);
    } catch (error) {
      visit.isAborted = true;
      throw error;
    } finally {
      this.#ctx.watch.end(visit);
    }
  }

  #begin(id: string, method: string): RequestContext {
    const visit = this.#ctx.watch.begin(id, method);
    this.#ctx.watch.route(visit, "gate", "gate");
    return visit;
  }

  async #answer(head: RequestHead, visit: RequestContext): Promise<boolean> {
    const body = bodyReader(this.wire.reader, head.framing);
    try {
      const readBody = (limit: number) => this.#readBody(body, limit, visit);
      const admitted = await authorizeRequest(this.#ctx, head, this.#peer, { readBody, visit });
      if ("status" in admitted) return await this.#say(admitted, head, body, visit);
      const exchange = new ProxiedRequest(this.#ctx, this, { head, body, admitted, visit });
      this.#exchange = exchange;
      const mayGoOn = await exchange.run();
      if (!body.isDone) await this.#client.linger();
      return mayGoOn;
    } catch (error) {
      return await this.#fail(error, head, body, visit);
    } finally {
      this.#exchange = undefined;
    }
  }

  /** Says what went wrong, if it can still be said. */
  async #fail(
    error: unknown,
    head: RequestHead,
    body: BodyReader,
    visit: RequestContext,
  ): Promise<boolean> {
    const exchange = this.#exchange;
    const isCaller = exchange === undefined && error instanceof ConnectionLost;
    if (isCaller || this.wire.isClosed || exchange?.isAnswered) {
      visit.isAborted = true;
      if (!(error instanceof ConnectionLost || error instanceof MalformedMessage)) throw error;
      return false;
    }
    const rendered = renderFailure(error, exchange);
    if (rendered.status >= 500 && rendered.cause !== undefined) {
      this.#ctx.onError(rendered.cause, visit.id);
    }
    return await this.#say(errorResponse(rendered, head), head, body, visit);
  }

  /** Sends an answer of the gate itself; gives whether another request may follow. */
  async #say(
    answer: GateResponse,
    head: RequestHead,
    body: BodyReader,
    visit: RequestContext,
  ): Promise<boolean> {
    const isRead = isReadable(body);
    const closes = !isRead || answer.status === 408 || this.closesAfter(head);
    visit.status = answer.status;
    visit.isForwarded = false;
    await this.write(serializeResponse(answer, { method: head.method, id: visit.id, closes }));
    if (head.method !== "HEAD") visit.sent = Buffer.byteLength(answer.body);
    if (!isRead) await this.#client.linger();
    return !closes;
  }

  /** Refuses what is no request, and hears no more. */
  async #refuse(error: HttpError): Promise<void> {
    const answer = errorResponse(error);
    const visit = this.#begin(crypto.randomUUID(), "");
    visit.status = answer.status;
    try {
      await this.write(serializeResponse(answer, { method: "", id: visit.id, closes: true }));
      visit.sent = Buffer.byteLength(answer.body);
    } finally {
      visit.isAborted = visit.sent === 0;
      this.#ctx.watch.end(visit);
    }
    await this.#client.linger();
  }

  /** The text of a body, for which there is little time in all. @throws {HttpError} where it is late, or too long. */
  async #readBody(body: BodyReader, limit: number, visit: RequestContext): Promise<string> {
    const late = Promise.withResolvers<never>();
    late.promise.catch(() => {});
    this.#client.onLate = () => late.reject(errors.requestTimeout());
    this.#client.expectBytes(SIGN_IN_TIME);
    try {
      return await this.#readText(body, limit, visit, late.promise);
    } finally {
      this.expectNothing();
    }
  }

  async #readText(
    body: BodyReader,
    limit: number,
    visit: RequestContext,
    late: Promise<never>,
  ): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    let size = 0;
    for (;;) {
      const piece = body.take();
      visit.received = size += piece.length;
      if (size > limit) throw errors.signInTooLarge(limit);
      text += decoder.decode(piece, { stream: true });
      if (body.isDone) return text;
      const more = await Promise.race([this.wire.reader.fill(), late]);
      if (!more) throw new ConnectionLost("The body is not complete");
    }
  }
}

/** Whether nothing of the body is left to be read, so that the next request can follow. */
function isReadable(body: BodyReader): boolean {
  try {
    body.take();
    return body.isDone;
  } catch {
    return false;
  }
}
