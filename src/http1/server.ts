import { bodyReader, NO_BODY } from "./body.ts";
import { type ClientConnection, isGone } from "./client_connection.ts";
import { MalformedMessage } from "./headers.ts";
import { IncomingBody, IncomingRequest } from "./incoming_request.ts";
import { type ListenAddress, Listener, type ListenerOptions } from "./listener.ts";
import { parseRequestHead, readHead, type RequestHead } from "./message_head.ts";
import { BrokenBody, writeResponse } from "./response_writer.ts";

export type Handler = (request: Request, info: Deno.ServeHandlerInfo) => Promise<Response>;

export interface ServerOptions extends Omit<ListenerOptions, "serve" | "refuse"> {
  /** Answers requests. It must not throw. */
  handler: Handler;
  /** The answer to a message that is not one of HTTP. */
  answerMalformed: (error: MalformedMessage) => Response;
  /** The answer to a client for which there is no room. */
  answerFull: () => Response;
}

/** Serves HTTP/1.1 and HTTP/1.0 with the platform's `Request` and `Response`, as `Deno.serve` does, with deadlines. */
export class HttpServer {
  readonly #listener: Listener;
  readonly #options: ServerOptions;
  /** The connections, and whether a request is being answered. */
  readonly #clients = new Map<ClientConnection, boolean>();
  #isDraining = false;
  #onQuiet: (() => void) | undefined;

  /** Listens from now on. @throws where the port cannot be listened on. */
  constructor(address: ListenAddress, options: ServerOptions) {
    this.#options = options;
    this.#listener = new Listener(address, {
      ...options,
      serve: (client) => this.#serve(client),
      refuse: (client) => this.#refuse(client, options.answerFull()),
    });
  }

  get address(): Deno.NetAddr {
    return this.#listener.address;
  }

  /**
   * Closes the connections between requests, and waits until no request is being answered. Meanwhile new connections are
   * accepted, so that the handler can turn away requests; each of their connections ends with its answer.
   */
  async drain(): Promise<void> {
    this.#isDraining = true;
    for (const [client, isBusy] of [...this.#clients]) {
      if (!isBusy) client.close();
    }
    if (this.#isBusy()) await new Promise<void>((resolve) => this.#onQuiet = resolve);
    this.stop();
    await this.#listener.flushed();
  }

  /** Accepts no more connections, and closes those that there are. */
  stop(): void {
    this.#listener.close();
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

  /** Gives whether another request may follow. */
  async #serveOne(client: ClientConnection): Promise<boolean> {
    const { reader } = client.connection;
    if (reader.length === 0 && !await reader.fill()) return false;
    client.awaitHead();
    const head = await this.#readHead(client);
    if (head === undefined) return false;
    client.beginRequest();
    this.#clients.set(client, true);
    let mayGoOn: boolean;
    try {
      mayGoOn = await this.#answer(client, head);
      // Before the connection counts as idle, which at a shutdown may be the end of it.
      if (!mayGoOn) await client.end();
    } finally {
      this.#clients.set(client, false);
      if (this.#isDraining && !this.#isBusy()) this.#onQuiet?.();
    }
    if (!mayGoOn) {
      await client.linger();
      return false;
    }
    client.awaitRequest();
    return true;
  }

  /** Gives `undefined` where there is no request, and the connection has to be closed. */
  async #readHead(client: ClientConnection): Promise<RequestHead | undefined> {
    try {
      const text = await readHead(client.connection.reader);
      return text === undefined ? undefined : parseRequestHead(text, "server");
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      await this.#refuse(client, this.#options.answerMalformed(error));
      return undefined;
    }
  }

  async #refuse(client: ClientConnection, response: Response): Promise<void> {
    await writeResponse(client, response, { method: "", minor: 1, closes: true });
    await client.linger();
  }

  /** Answers a request. Gives whether another one may follow. */
  async #answer(client: ClientConnection, head: RequestHead): Promise<boolean> {
    const body = head.framing === NO_BODY ? undefined : new IncomingBody(
      client,
      bodyReader(client.connection.reader, head.framing),
      expectsContinue(head),
    );
    const request = new IncomingRequest({
      head,
      url: this.#urlOf(head),
      body: body?.stream ?? null,
    });
    const { promise: completed, resolve, reject } = Promise.withResolvers<void>();
    completed.catch(() => {});
    try {
      const response = await this.#options.handler(request, {
        remoteAddr: client.address,
        completed,
      });
      const isRead = body?.finish() ?? true;
      const closes = !isRead || this.#closesAfter(head, response);
      const { method, minor } = head;
      await writeResponse(client, response, { method, minor, closes });
      resolve();
      return !closes;
    } catch (error) {
      reject(error);
      request.abort(error);
      client.close();
      if (!isGone(error) && !(error instanceof BrokenBody)) throw error;
      return false;
    }
  }

  #closesAfter({ minor, connection }: RequestHead, { headers }: Response): boolean {
    if (minor === 0 || connection.includes("close") || this.#isDraining) return true;
    return headers.get("connection")?.toLowerCase() === "close";
  }

  /** The whole address of a request, with path and query as they came. */
  #urlOf({ target, host }: RequestHead): string {
    if (!target.startsWith("/") && target !== "*") return target;
    const { hostname, port } = this.address;
    const scheme = this.#listener.isSecure ? "https" : "http";
    const path = target === "*" ? "" : target;
    return `${scheme}://${host ?? `${hostname}:${port}`}${path}`;
  }
}

function expectsContinue({ minor, fields }: RequestHead): boolean {
  if (minor === 0) return false;
  return fields.some(({ lower, value }) =>
    lower === "expect" && value.toLowerCase() === "100-continue"
  );
}
