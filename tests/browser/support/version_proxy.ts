import type { TestServer } from "../../support/server.ts";

/** Records the requests that a browser sends to a server, and can pretend that the server was updated. */
export class VersionProxy implements AsyncDisposable {
  readonly #server: TestServer;
  readonly #listener: Deno.HttpServer<Deno.NetAddr>;
  #requests: string[] = [];
  /** The version of the dashboard that the server seems to have; its own if absent. */
  pretended: string | undefined;

  constructor(server: TestServer) {
    this.#server = server;
    const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    this.#listener = Deno.serve(options, (request) => this.#answer(request));
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  /** The paths requested since the last call. */
  takeRequests(): string[] {
    const taken = this.#requests;
    this.#requests = [];
    return taken;
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    this.#requests.push(pathname);
    const current = await this.#server.dashboardVersion();
    const shown = this.pretended ?? current;
    if (shown !== current && pathname.includes(current)) return new Response(null, { status: 404 });
    const headers = new Headers(request.headers);
    for (const name of ["host", "if-none-match", "accept-encoding"]) headers.delete(name);
    const url = this.#server.origin + pathname.replace(shown, current) + search;
    const response = await fetch(url, { method: request.method, headers });
    const kept = new Headers(response.headers);
    for (const name of ["content-encoding", "content-length"]) kept.delete(name);
    const text = (await response.text()).replaceAll(current, shown);
    return new Response(text, { status: response.status, headers: kept });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener.shutdown();
  }
}
