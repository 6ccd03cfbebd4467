import { createHash } from "node:crypto";

/** What the application saw of a request. */
export interface Echo {
  method: string;
  target: string;
  headers: [string, string][];
  body: string;
}

/** Events that a test sends to the listeners of `/events`. */
class Events {
  private readonly listeners = new Set<ReadableStreamDefaultController<Uint8Array>>();
  private readonly waiting: (() => void)[] = [];

  get size(): number {
    return this.listeners.size;
  }

  open(): Response {
    let own: ReadableStreamDefaultController<Uint8Array>;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        own = controller;
        this.listeners.add(controller);
        this.changed();
      },
      cancel: () => {
        this.listeners.delete(own);
        this.changed();
      },
    });
    return new Response(stream, { headers: { "Content-Type": "text/event-stream" } });
  }

  send(text: string): void {
    const bytes = new TextEncoder().encode(`data: ${text}\n\n`);
    for (const listener of this.listeners) listener.enqueue(bytes);
  }

  /** Waits until so many listen. */
  async reach(count: number): Promise<void> {
    while (this.size !== count) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private changed(): void {
    this.waiting.splice(0).forEach((resolve) => resolve());
  }
}

/** A web application as people write them. */
export class UpstreamApp implements AsyncDisposable {
  readonly events = new Events();
  /** Open WebSockets. */
  readonly sockets = new Set<WebSocket>();
  /** Resolves when a client of `/never` has disconnected. */
  readonly left: Promise<void>;
  /** Resolves when a client requests `/never`. */
  readonly asked: Promise<void>;
  private readonly leaving = Promise.withResolvers<void>();
  private readonly asking = Promise.withResolvers<void>();
  private readonly server: Deno.HttpServer<Deno.NetAddr>;

  constructor(tls: { cert: string; key: string } | Record<string, never> = {}) {
    this.left = this.leaving.promise;
    this.asked = this.asking.promise;
    const quiet = {
      automaticCompression: false,
      onListen: () => {},
      // A caller who leaves breaks the body that is being read: here that is no news.
      onError: () => new Response(null, { status: 500 }),
    };
    this.server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, ...quiet, ...tls },
      (request) => this.answer(request),
    );
  }

  get port(): number {
    return this.server.addr.port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  private async answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    switch (pathname) {
      case "/ws":
        return this.openSocket(request);
      case "/events":
        return this.events.open();
      case "/upload":
        return Response.json(await digestOf(request.body));
      case "/download":
        return new Response(zeros(Number(searchParams.get("size"))), {
          headers: { "Content-Length": searchParams.get("size") ?? "0" },
        });
      case "/endless":
        return new Response(zeros(Infinity));
      case "/never":
        return await this.neverAnswer(request);
      case "/early":
        return new Response("no", { status: 413 });
      default:
        return await echo(request);
    }
  }

  private openSocket(request: Request): Response {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.binaryType = "arraybuffer";
    this.sockets.add(socket);
    socket.onmessage = ({ data }) => socket.send(data);
    socket.onclose = () => this.sockets.delete(socket);
    socket.onerror = () => this.sockets.delete(socket);
    return response;
  }

  private async neverAnswer(request: Request): Promise<Response> {
    request.signal.addEventListener("abort", () => this.leaving.resolve());
    this.asking.resolve();
    await this.left;
    return new Response();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.leaving.resolve();
    for (const socket of this.sockets) socket.close();
    await Promise.race([this.server.shutdown(), this.server.finished]);
  }
}

async function echo(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const seen: Echo = {
    method: request.method,
    target: pathname + search,
    headers: [...request.headers],
    body: await request.text(),
  };
  return Response.json(seen);
}

async function digestOf(
  body: ReadableStream<Uint8Array> | null,
): Promise<{ size: number; sha256: string }> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const piece of body ?? []) {
    hash.update(piece);
    size += piece.byteLength;
  }
  return { size, sha256: hash.digest("hex") };
}

/** So many zero bytes, as they are taken. */
export function zeros(size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  const piece = new Uint8Array(65_536);
  let left = size;
  return new ReadableStream({
    pull(controller) {
      if (left === 0) return controller.close();
      const count = Math.min(left, piece.length);
      left -= count;
      controller.enqueue(piece.slice(0, count));
    },
  }, { highWaterMark: 0 });
}
