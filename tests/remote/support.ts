import { assert } from "@std/assert";
import { delay } from "@std/async/delay";
import type { Drive } from "../support/drive.ts";
import { ADMIN_TOKEN } from "../support/admin.ts";
import { Folder } from "../support/command.ts";
import { TestServer } from "../support/server.ts";
import { Denokv, DENOKV_TOKEN } from "../support/store/denokv.ts";

/** How long a server waits until it asks a silent store again, and what a slow machine needs, in milliseconds. */
const ASKED_AGAIN = 40_000;
export const SLOWNESS = 10_000;

/** Waits until the server of a drive has found its store again. */
export async function untilThere(drive: Drive): Promise<void> {
  const end = Date.now() + ASKED_AGAIN + SLOWNESS;
  while ((await drive.send("GET", "/files")).status !== 200) {
    assert(Date.now() < end, "The server does not find its store again");
    await delay(50);
  }
}

/** What happens to what passes. */
export type LinkState =
  | "whole"
  /** Drops everything sent, without an error. */
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

/** A shared store, and the network between it and its servers. `await using` ends all of it. */
export class SharedStore implements AsyncDisposable {
  private constructor(
    readonly folder: Folder,
    public denokv: Denokv,
    readonly link: StoreLink,
  ) {}

  static async start(): Promise<SharedStore> {
    const folder = await Folder.make();
    const denokv = await Denokv.start(folder.at("kvdrive.db"));
    return new SharedStore(folder, denokv, new StoreLink(denokv.port));
  }

  /** A server that reaches the store over the link, or at another address. */
  async serve(url = this.link.url): Promise<TestServer> {
    return await TestServer.start({
      args: ["--kv", url],
      env: { DENO_KV_ACCESS_TOKEN: DENOKV_TOKEN, KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN },
      data: this.folder.at("unused"),
    });
  }

  /** The store goes away, as in a crash, and comes back at the same address. */
  async restart(whileStopped: () => Promise<void>): Promise<void> {
    const { port } = this.denokv;
    await this.denokv.stop();
    await whileStopped();
    this.denokv = await Denokv.start(this.folder.at("kvdrive.db"), port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.link[Symbol.asyncDispose]();
    await this.denokv.stop();
    await this.folder[Symbol.asyncDispose]();
  }
}

/**
 * A gateway in front of a shared store that loses answers: of every three commits, or more, it answers one with a gateway
 * error, cuts off the answer to the next, and passes on the others.
 */
export class StoreGateway implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #store: string;
  readonly #period: number;
  #commits = 0;
  /** How many answers were lost. */
  lost = 0;

  /**
   * @param store Its address.
   * @param period Of so many commits the answers to two are lost.
   */
  constructor(store: string, period = 3) {
    this.#store = store;
    this.#period = period;
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
    const turn = pathname.endsWith("/atomic_write") ? this.#commits++ % this.#period : 2;
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
