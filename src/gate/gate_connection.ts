import { toHttpError } from "../http/error_response.ts";
import { errors, type HttpError } from "../http/http_error.ts";
import { errorResponse, gateErrors, gateRequestId } from "./gate_response.ts";
import type { RequestContext } from "../http/request_context.ts";
import type { HttpResponse } from "../http/responses/http_response.ts";
import { type BodyReader, bodyReader, isFullyReceived } from "../http1/body.ts";
import type { ClientConnection } from "../http1/client_connection.ts";
import { ConnectionLost } from "../http1/connection.ts";
import { MalformedMessage } from "../http1/headers.ts";
import { parseRequestHead, readHead, type RequestHead } from "../http1/message_head.ts";
import { writeResponse } from "../http1/response_writer.ts";
import type { AuthorizedRequest } from "./authorization.ts";
import type { GateContext } from "./context.ts";
import { type Peer, peerOf } from "./forwarded_headers.ts";
import { completed, respond } from "./respond.ts";
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
    const readBody = (limit: number) => this.#readBody(body, limit, context);
    const received = { head, peer: this.#peer, context, readBody };
    const answer = await respond(
      this.gate,
      received,
      (authorized) => this.#forward({ ...request, authorized }),
    );
    return typeof answer === "boolean" ? answer : await this.#send(answer, request);
  }

  /** Returns whether another request may follow. @throws {HttpError} if the client has got nothing yet. */
  async #forward(request: GateRequest & { authorized: AuthorizedRequest }): Promise<boolean> {
    const { body, context } = request;
    const proxied = this.#proxied = new ProxiedRequest(this.gate, this.client, request);
    try {
      const isReusable = await proxied.run();
      if (!body.isDone) await this.client.linger();
      return isReusable;
    } catch (error) {
      if (!proxied.hasResponded && !this.client.connection.isClosed) {
        throw toGateError(error, proxied);
      }
      context.isAborted = true;
      if (!(error instanceof ConnectionLost || error instanceof MalformedMessage)) {
        this.gate.onError(error, context.id);
      }
      return false;
    } finally {
      this.#proxied = undefined;
    }
  }

  /** Sends a response of the gate itself. Returns whether another request may follow. */
  async #send(response: HttpResponse, { head, body, context }: GateRequest): Promise<boolean> {
    const isReceived = isFullyReceived(body);
    const closes = !isReceived || response.status === 408 || closesAfter(head, this.gate);
    await writeResponse(this.client, response, { ...head, closes });
    if (head.method !== "HEAD") context.sent = response.content?.length ?? 0;
    if (!isReceived) await this.client.linger();
    return !closes;
  }

  /** Responds to a connection without a valid request, and closes it. */
  async #reject(error: HttpError): Promise<void> {
    const context = this.#begin(crypto.randomUUID(), "");
    const response = completed(errorResponse(error), context, this.gate);
    try {
      await writeResponse(this.client, response, { method: "", minor: 1, closes: true });
      context.sent = response.content?.length ?? 0;
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

/** Returns the error that the client sees. Details of an application's failure are not revealed. */
function toGateError(error: unknown, { bodyError, aborted }: ProxiedRequest): Error {
  if (bodyError !== undefined) return bodyError;
  if (aborted === "client stalled") return errors.requestTimeout();
  if (aborted === "upstream timeout") return gateErrors.upstreamTimeout();
  if (error instanceof UpstreamForbidden) return gateErrors.upstreamForbidden();
  if (error instanceof MalformedMessage) return gateErrors.upstreamInvalidResponse();
  if (error instanceof ConnectionLost) return gateErrors.upstreamUnreachable();
  return toHttpError(error);
}
