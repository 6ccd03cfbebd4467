/** Handles a request in place of the proxy; `pass` forwards it to the server. */
export type Intercept = (
  request: Request,
  pass: () => Promise<Response>,
) => Promise<Response> | Response;

/** A server between a client and the server under test, which can hold, break or refuse what passes. */
export class Proxy implements AsyncDisposable {
  /** Method, path and query of every request, in the order in which they came. */
  readonly seen: { method: string; path: string; headers: Headers }[] = [];
  intercept: Intercept = (_request, pass) => pass();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #end = new AbortController();

  private constructor(readonly target: string) {
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", signal: this.#end.signal, onListen: () => {} },
      (request) => this.#handle(request),
    );
  }

  static start(target: string): Proxy {
    return new Proxy(target);
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Requests of a method whose path matches. */
  count(method: string, path: RegExp): number {
    return this.seen.filter((one) => one.method === method && path.test(one.path)).length;
  }

  async #handle(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const path = pathname + search;
    this.seen.push({ method: request.method, path, headers: request.headers });
    const body = request.body === null ? null : await request.arrayBuffer().catch(() => null);
    const pass = async () => {
      const headers = new Headers(request.headers);
      headers.delete("host");
      try {
        const answer = await fetch(this.target + path, {
          method: request.method,
          headers,
          body,
          redirect: "manual",
        });
        return new Response(answer.body, { status: answer.status, headers: answer.headers });
      } catch {
        return broken();
      }
    };
    const ended = Promise.withResolvers<Response>();
    // What a test holds for good is let go at its end.
    const end = () => ended.resolve(broken());
    this.#end.signal.addEventListener("abort", end);
    try {
      return await Promise.race([this.intercept(request, pass), ended.promise]);
    } finally {
      this.#end.signal.removeEventListener("abort", end);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#server.finished;
  }
}

/** The answer of a proxy whose server is gone, cut off in the middle. */
export function broken(): Response {
  const body = new ReadableStream({ pull: (controller) => controller.close() });
  return new Response(body, { status: 502, headers: { "Content-Length": "10" } });
}

/** The same answer with so many bytes of its body, behind which the connection breaks when `until` is over. */
export function cutAfter(answer: Response, bytes: number, until: Promise<void>): Response {
  const reader = answer.body?.getReader();
  let left = bytes;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const read = left === 0 ? undefined : await reader?.read().catch(() => undefined);
      const piece = read?.value;
      if (piece === undefined) {
        await until;
        await reader?.cancel().catch(() => {});
        // Short of what the headers promise: the connection is closed.
        return controller.close();
      }
      const taken = piece.subarray(0, left);
      left -= taken.byteLength;
      controller.enqueue(taken);
    },
    cancel: () => reader?.cancel().catch(() => {}),
  });
  return new Response(body, { status: answer.status, headers: answer.headers });
}
