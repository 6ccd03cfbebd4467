import { Buffer } from "node:buffer";
import { toHttpError } from "../http/error_response.ts";
import { errors, type HttpError } from "../http/http_error.ts";
import { gateErrors } from "./gate_errors.ts";
import type { RequestContext } from "../http/request_context.ts";
import { type BodyReader, bodyReader, isFullyReceived } from "../http1/body.ts";
import type { ClientConnection } from "../http1/client_connection.ts";
import { ConnectionLost } from "../http1/connection.ts";
import { MalformedMessage } from "../http1/headers.ts";
import { parseRequestHead, readHead, type RequestHead } from "../http1/message_head.ts";
import { authorizeRequest } from "./authorization.ts";
import type { GateContext } from "./context.ts";
import { type Peer, peerOf } from "./forwarded_headers.ts";
import {
  errorResponse,
  gateRequestId,
  type GateResponse,
  serializeResponse,
} from "./gate_response.ts";
import { closesAfter, type GateRequest, ProxiedRequest } from "./proxied_request.ts";
import { UpstreamForbidden } from "./upstreams.ts";

/** Time for the body of a sign-in to arrive, in milliseconds. It fits into one packet. */
const SIGN_IN_TIMEOUT = 10_000;

/** A client's connection to the gate, which serves its requests one by one. */
export class GateConnection {
  readonly #peer: Peer;
  #proxied: ProxiedRequest | undefined;
  #isBusy = false;

  constructor(
    private readonly gate: GateContext,
    private readonly client: ClientConnection,
    isSecure: boolean,
  ) {
    this.#peer = peerOf(client.address, isSecure);
  }

  /** Whether a request is being processed. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** The current request, if it is being forwarded to an application. */
  get proxied(): ProxiedRequest | undefined {
    return this.#proxied;
  }

  /** Serves requests until the connection ends. Never throws. */
  async serve(): Promise<void> {
    const { connection } = this.client;
    try {
      while (!this.gate.isDraining && await this.#serveOne());
      if (!connection.isClosed) await this.client.closeWrite();
    } catch (error) {
      if (!(error instanceof ConnectionLost)) this.gate.onError(error);
    } finally {
      connection.close();
    }
  }

  /** Rejects the client because all connections are in use. @throws {ConnectionLost} */
  async rejectFull(): Promise<void> {
    await this.#reject(errors.serverFull());
  }

  close(): void {
    this.client.connection.close();
  }

  /** Returns whether another request may follow. */
  async #serveOne(): Promise<boolean> {
    let head: RequestHead | undefined;
    try {
      head = await this.#readHead();
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      await this.#reject(gateErrors.badMessage(error.status, error.message));
      return false;
    }
    if (head === undefined) return false;
    this.client.beginRequest();
    this.#isBusy = true;
    const isReusable = await this.#observe(head);
    this.#isBusy = false;
    this.client.awaitRequest();
    return isReusable;
  }

  async #readHead(): Promise<RequestHead | undefined> {
    const { reader } = this.client.connection;
    if (reader.length === 0 && !await reader.fill()) return undefined;
    this.client.awaitHead();
    const text = await readHead(reader);
    return text === undefined ? undefined : parseRequestHead(text);
  }

  async #observe(head: RequestHead): Promise<boolean> {
    const context = this.#begin(gateRequestId(head.headers), head.method);
    try {
      const body = bodyReader(this.client.connection.reader, head.framing);
      return await this.#respond({ head, body, context });
    } catch (error) {
      context.isAborted = true;
      throw error;
    } finally {
      this.gate.observer.end(context);
    }
  }

  #begin(id: string, method: string): RequestContext {
    const context = this.gate.observer.begin(id, method);
    this.gate.observer.route(context, "gate", "gate");
    return context;
  }

  async #respond(request: GateRequest): Promise<boolean> {
    const { head, body, context } = request;
    try {
      const readBody = (limit: number) => this.#readBody(body, limit, context);
      const options = { readBody, context };
      const authorized = await authorizeRequest(this.gate, head, this.#peer, options);
      if ("status" in authorized) return await this.#send(authorized, request);
      this.#proxied = new ProxiedRequest(this.gate, this.client, { ...request, authorized });
      const isReusable = await this.#proxied.run();
      if (!body.isDone) await this.client.linger();
      return isReusable;
    } catch (error) {
      return await this.#fail(error, request);
    } finally {
      this.#proxied = undefined;
    }
  }

  /** Sends an error response if the client can still receive one. */
  async #fail(error: unknown, request: GateRequest): Promise<boolean> {
    const { head, context } = request;
    const proxied = this.#proxied;
    const isClientLost = proxied === undefined && error instanceof ConnectionLost;
    if (isClientLost || this.client.connection.isClosed || proxied?.hasResponded) {
      context.isAborted = true;
      if (!(error instanceof ConnectionLost || error instanceof MalformedMessage)) throw error;
      return false;
    }
    const httpError = toGateError(error, proxied);
    if (httpError.status >= 500 && httpError.cause !== undefined) {
      this.gate.onError(httpError.cause, context.id);
    }
    return await this.#send(errorResponse(httpError, head), request);
  }

  /** Sends a response of the gate itself. Returns whether another request may follow. */
  async #send(
    response: GateResponse,
    { head, body, context }: GateRequest,
  ): Promise<boolean> {
    const isReceived = isFullyReceived(body);
    const closes = !isReceived || response.status === 408 || closesAfter(head, this.gate);
    context.status = response.status;
    context.isForwarded = false;
    const { hsts } = this.gate;
    const options = { method: head.method, id: context.id, closes, hsts };
    await this.client.write(serializeResponse(response, options));
    if (head.method !== "HEAD") context.sent = Buffer.byteLength(response.body);
    if (!isReceived) await this.client.linger();
    return !closes;
  }

  /** Responds to a connection without a valid request, and closes it. */
  async #reject(error: HttpError): Promise<void> {
    const response = errorResponse(error);
    const context = this.#begin(crypto.randomUUID(), "");
    context.status = response.status;
    try {
      const { hsts } = this.gate;
      const options = { method: "", id: context.id, closes: true, hsts };
      await this.client.write(serializeResponse(response, options));
      context.sent = Buffer.byteLength(response.body);
    } finally {
      context.isAborted = context.sent === 0;
      this.gate.observer.end(context);
    }
    await this.client.linger();
  }

  /** Reads a body as text within `SIGN_IN_TIMEOUT`. @throws {HttpError} if it is late or too long. */
  async #readBody(body: BodyReader, limit: number, context: RequestContext): Promise<string> {
    const late = Promise.withResolvers<never>();
    late.promise.catch(() => {});
    this.client.onLate = () => late.reject(errors.requestTimeout());
    this.client.expectBytes(SIGN_IN_TIMEOUT);
    try {
      return await this.#readText(body, limit, context, late.promise);
    } finally {
      this.client.expectNothing();
      this.client.onLate = undefined;
    }
  }

  async #readText(
    body: BodyReader,
    limit: number,
    context: RequestContext,
    late: Promise<never>,
  ): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    let size = 0;
    for (;;) {
      const piece = body.take();
      context.received = size += piece.length;
      if (size > limit) throw errors.fieldsTooLarge(limit);
      text += decoder.decode(piece, { stream: true });
      if (body.isDone) return text;
      const hasMore = await Promise.race([this.client.connection.reader.fill(), late]);
      if (!hasMore) throw new ConnectionLost("The body is incomplete");
    }
  }
}

/**
 * Returns the error that the client sees. Details of an application's failure are not revealed.
 *
 * @param proxied The request at the time of the error, if it was being forwarded.
 */
function toGateError(error: unknown, proxied: ProxiedRequest | undefined): HttpError {
  if (proxied === undefined) return toRequestError(error);
  if (proxied.bodyError !== undefined) return toRequestError(proxied.bodyError);
  if (proxied.aborted === "client stalled") return errors.requestTimeout();
  if (proxied.aborted === "upstream timeout") return gateErrors.upstreamTimeout();
  if (error instanceof UpstreamForbidden) return gateErrors.upstreamForbidden();
  if (error instanceof MalformedMessage) return gateErrors.upstreamInvalidResponse();
  if (error instanceof ConnectionLost) return gateErrors.upstreamUnreachable();
  return toHttpError(error);
}

function toRequestError(error: unknown): HttpError {
  if (error instanceof MalformedMessage) return gateErrors.badMessage(error.status, error.message);
  return toHttpError(error);
}
