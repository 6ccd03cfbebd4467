import { bodyReader, NO_BODY } from "./body.ts";
import type { ClientConnection } from "./client_connection.ts";
import { ConnectionLost, CONTINUE } from "./connection.ts";
import { MalformedMessage } from "./headers.ts";
import { IncomingBody, IncomingRequest } from "./incoming_request.ts";
import { IoTurns } from "./io_turns.ts";
import { type ListenAddress, Listener, type ListenerOptions } from "./listener.ts";
import { expectsContinue, parseRequestHead, readHead, type RequestHead } from "./message_head.ts";
import { BrokenBody, writeResponse } from "./response_writer.ts";

/** The connection of a request, for one that waits for something before it is answered. */
export interface RequestConnection {
  /** See `ClientConnection.left`. */
  left(): Promise<void>;
  /** Counts as idle, until `setBusy`. */
  setIdle(): void;
  setBusy(): void;
}

export type Handler = (
  request: Request,
  info: Deno.ServeHandlerInfo & { connection?: RequestConnection },
) => Promise<Response>;

export interface ServerOptions extends Omit<ListenerOptions, "group" | "serve" | "reject"> {
  /** Responds to requests. It must not throw. */
  handler: Handler;
  respondMalformed: (error: MalformedMessage) => Response;
  /** Returns the response to a client that is rejected because all connections are in use. */
  respondFull: () => Response;
}

/** An HTTP/1.1 and HTTP/1.0 server with the interface of `Deno.serve`, and with deadlines on every connection. */
export class HttpServer {
  readonly #listener: Listener;
  /** The connections, and whether a request is being processed. */
  readonly #clients = new Map<ClientConnection, boolean>();
  readonly #turns = new IoTurns();
  #isDraining = false;
  #onDrained: (() => void) | undefined;

  /** Starts to listen. @throws if the port is not available. */
  constructor(address: ListenAddress, private readonly options: ServerOptions) {
    this.#listener = new Listener(address, {
      ...options,
      group: "server",
      serve: (client) => this.#serve(client),
      reject: (client) => this.#reject(client, options.respondFull()),
    });
  }

  get address(): Deno.NetAddr {
    return this.#listener.address;
  }

  /**
   * Closes idle connections, and waits for running requests. New connections are accepted until then, so that the
   * handler can reject their requests; each of them closes after its response.
   */
  async drain(): Promise<void> {
    this.#isDraining = true;
    for (const [client, isBusy] of [...this.#clients]) {
      if (!isBusy) client.close();
    }
    if (this.#isBusy()) await new Promise<void>((resolve) => this.#onDrained = resolve);
    this.stop();
    await this.#listener.flushed();
  }

  /** Stops accepting connections, and closes all open ones. */
  stop(): void {
    this.#listener.close();
    this.#turns.close();
    for (const client of [...this.#clients.keys()]) client.close();
  }

  #isBusy(): boolean {
    return [...this.#clients.values()].includes(true);
  }

  async #serve(client: ClientConnection): Promise<void> {
    this.#clients.set(client, false);
    try {
      while (await this.#serveOne(client));
    } finally {
      this.#clients.delete(client);
    }
  }

  /** Returns whether another request may follow. */
  async #serveOne(client: ClientConnection): Promise<boolean> {
    const { reader } = client.connection;
    if (reader.length === 0 && !await reader.fill()) return false;
    client.awaitHead();
    const head = await this.#readHead(client);
    if (head === undefined) return false;
    client.beginRequest();
    this.#clients.set(client, true);
    let isReusable: boolean;
    try {
      isReusable = await this.#respond(client, head);
      // Flush before the connection counts as idle, as a shutdown closes idle connections.
      if (!isReusable) await client.closeWrite();
    } finally {
      this.#clients.set(client, false);
      if (this.#isDraining && !this.#isBusy()) this.#onDrained?.();
    }
    if (!isReusable) {
      await client.linger();
      return false;
    }
    client.awaitRequest();
    return true;
  }

  /** Returns `undefined` if there is no request, or a malformed one that was rejected. */
  async #readHead(client: ClientConnection): Promise<RequestHead | undefined> {
    try {
      const text = await readHead(client.connection.reader);
      return text === undefined ? undefined : parseRequestHead(text, "server");
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      await this.#reject(client, this.options.respondMalformed(error));
      return undefined;
    }
  }

  async #reject(client: ClientConnection, response: Response): Promise<void> {
    await writeResponse(client, response, { method: "", minor: 1, closes: true });
    await client.linger();
  }

  /** Handles a request. Returns whether another one may follow. */
  async #respond(client: ClientConnection, head: RequestHead): Promise<boolean> {
    const body = head.framing === NO_BODY ? undefined : new IncomingBody({
      client,
      body: bodyReader(client.connection.reader, head.framing),
      turns: this.#turns,
      expectsContinue: expectsContinue(head),
    });
    const request = new IncomingRequest({ head, url: this.#urlOf(head), body });
    const { promise: completed, resolve, reject } = Promise.withResolvers<void>();
    completed.catch(() => {});
    try {
      if (body === undefined && expectsEmptyContinue(head)) await client.write(CONTINUE);
      const response = await this.options.handler(request, {
        remoteAddr: client.address,
        completed,
        connection: {
          left: () => client.left(),
          setIdle: () => client.setIdle(),
          setBusy: () => client.beginRequest(),
        },
      });
      const isReceived = body?.finish() ?? true;
      const closes = !isReceived || this.#closesAfter(head, response);
      const { method, minor } = head;
      await writeResponse(client, response, { method, minor, closes });
      resolve();
      return !closes;
    } catch (error) {
      reject(error);
      client.close();
      if (!(error instanceof ConnectionLost || error instanceof BrokenBody)) throw error;
      return false;
    }
  }

  #closesAfter({ minor, connection }: RequestHead, { headers }: Response): boolean {
    if (minor === 0 || connection.has("close") || this.#isDraining) return true;
    return headers.get("connection")?.toLowerCase() === "close";
  }

  /** Returns the absolute URL of a request, with path and query unchanged. */
  #urlOf({ target, host }: RequestHead): string {
    if (!target.startsWith("/") && target !== "*") return target;
    const { hostname, port } = this.address;
    const own = hostname.includes(":") ? `[${hostname}]` : hostname;
    const scheme = this.#listener.isSecure ? "https" : "http";
    const path = target === "*" ? "" : target;
    return `${scheme}://${host ?? `${own}:${port}`}${path}`;
  }
}

/**
 * Whether "100 Continue" is sent although no body follows. Without it, AWS clients (botocore) take the
 * status of this response for that of the next one on the connection, and wait a minute for its headers.
 */
function expectsEmptyContinue(head: RequestHead): boolean {
  return head.method !== "GET" && head.method !== "HEAD" && expectsContinue(head);
}
