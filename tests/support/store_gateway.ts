/**
 * A gateway in front of a shared store that loses answers: of three commits that the store has done, it says of one that
 * something is wrong with the gateway, breaks off the answer of another one, and passes on the third.
 */
export class StoreGateway implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #store: string;
  #commits = 0;
  /** How many answers were lost. */
  lost = 0;

  /** @param store Its address. */
  constructor(store: string) {
    this.#store = store;
    const quiet = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    this.#server = Deno.serve(quiet, (request) => this.#pass(request));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async #pass(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const { method, headers } = request;
    const body = await request.bytes();
    const answer = await fetch(this.#store + pathname, { method, headers, body });
    const bytes = await answer.bytes();
    const init = { status: answer.status, headers: answer.headers };
    const turn = pathname.endsWith("/atomic_write") ? this.#commits++ % 3 : 2;
    if (turn < 2) this.lost++;
    if (turn === 0) return new Response("The gateway lost the answer", { status: 502 });
    return new Response(turn === 1 ? broken(bytes) : bytes, init);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** A body that ends before all of it came. */
function broken(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isBegun = false;
  return new ReadableStream({
    pull(controller) {
      if (isBegun) return controller.error(new Error("The gateway lost the rest"));
      isBegun = true;
      controller.enqueue(bytes.slice(0, 1));
    },
  }, { highWaterMark: 0 });
}
