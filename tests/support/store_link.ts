/** What happens to what passes. */
export type LinkState =
  | "whole"
  /** What is sent arrives nowhere, and nobody is told. */
  | "silent"
  /** Connections end, and new ones too. */
  | "cut";

/** The network between a server and its shared store, to be broken by a test. */
export class StoreLink implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #port: number;
  readonly #connections = new Set<Deno.TcpConn>();
  readonly #running: Promise<void>;
  #state: LinkState = "whole";

  /** @param port Where the store is. */
  constructor(port: number) {
    this.#port = port;
    this.#running = this.#serve();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  set state(state: LinkState) {
    this.#state = state;
    if (state === "cut") this.#endAll();
  }

  async #serve(): Promise<void> {
    const ends: Promise<void>[] = [];
    for await (const near of this.#listener) {
      if (this.#state === "cut") near.close();
      else ends.push(this.#join(near));
    }
    await Promise.all(ends);
  }

  async #join(near: Deno.TcpConn): Promise<void> {
    let far: Deno.TcpConn;
    try {
      far = await Deno.connect({ hostname: "127.0.0.1", port: this.#port });
    } catch {
      // The store is not there.
      return near.close();
    }
    for (const end of [near, far]) this.#connections.add(end);
    await Promise.all([this.#copy(near, far), this.#copy(far, near)]);
  }

  /** Ends both where one of them ends. */
  async #copy(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(65_536);
    try {
      while (true) {
        const length = await from.read(buffer);
        if (length === null) break;
        if (this.#state !== "silent") await writeAll(to, buffer.subarray(0, length));
      }
    } catch {
      // One of the two is gone, and so will be the other.
    }
    for (const end of [from, to]) this.#end(end);
  }

  #end(connection: Deno.TcpConn): void {
    if (this.#connections.delete(connection)) connection.close();
  }

  #endAll(): void {
    for (const connection of this.#connections) this.#end(connection);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    this.#endAll();
    await this.#running;
  }
}

async function writeAll(to: Deno.TcpConn, piece: Uint8Array<ArrayBuffer>): Promise<void> {
  for (let at = 0; at < piece.byteLength;) at += await to.write(piece.subarray(at));
}
