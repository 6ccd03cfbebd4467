import { READER_PATIENCE } from "../http/responses/response_stream.ts";
import type { ClientConnection } from "../http1/client_connection.ts";
import type { ConnectionTable } from "../http1/connection_table.ts";
import { type ListenAddress, Listener } from "../http1/listener.ts";
import { REAUTHORIZE_INTERVAL } from "./authorization.ts";
import { GateConnection } from "./gate_connection.ts";
import { Upstreams } from "./upstreams.ts";
import type { GateContext, GateDeps } from "./context.ts";

/**
 * A reverse proxy that authorizes requests and forwards them to the applications behind it.
 *
 * It speaks HTTP/1.1 itself on both sides. `fetch` would fold `..` in paths, decompress bodies, merge headers and know no
 * upgrades, so an application could see another request than the one that was authorized.
 */
export class Gate {
  readonly #listener: Listener;
  readonly #context: GateContext;
  readonly #connections = new Set<GateConnection>();
  readonly #unsubscribe: () => void;
  #reauthorizedAt = 0;
  #onDrained: (() => void) | undefined;

  /** Starts to listen. @throws if the port is not available. */
  constructor(
    deps: GateDeps & { onExhausted: () => void },
    connections: ConnectionTable,
    address: ListenAddress,
  ) {
    const { clock } = connections;
    this.#context = {
      ...deps,
      clock,
      upstreams: new Upstreams(deps.upstreamRules, connections),
      isDraining: false,
    };
    this.#listener = new Listener(address, {
      connections,
      group: "gate",
      writeTimeout: deps.idleTimeout * READER_PATIENCE,
      serve: (client) => this.#serve(client),
      reject: (client) => this.#connectionOf(client).rejectFull(),
      onError: deps.onError,
      onExhausted: deps.onExhausted,
    });
    clock.onTick((now) => this.#tick(now));
    this.#unsubscribe = deps.store.revocations.onChange(() => this.#reauthorizeAll());
  }

  get address(): Deno.NetAddr {
    return this.#listener.address;
  }

  /** Accepts no new requests, closes upgraded connections, and waits for running requests. */
  async drain(): Promise<void> {
    this.#context.isDraining = true;
    this.#listener.close();
    for (const connection of [...this.#connections]) {
      if (connection.proxied?.isUpgraded) connection.proxied.abort("cut off");
      else if (!connection.isBusy) connection.close();
    }
    if (this.#connections.size > 0) {
      await new Promise<void>((resolve) => this.#onDrained = resolve);
    }
    await this.#listener.flushed();
  }

  /** Aborts all running requests. Must be called after `drain`. */
  stop(): void {
    for (const connection of [...this.#connections]) {
      connection.proxied?.abort("cut off");
      connection.close();
    }
    this.#unsubscribe();
    this.#context.upstreams.close();
  }

  async #serve(client: ClientConnection): Promise<void> {
    const connection = this.#connectionOf(client);
    this.#connections.add(connection);
    try {
      await connection.serve();
    } finally {
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#onDrained?.();
    }
  }

  #connectionOf(client: ClientConnection): GateConnection {
    return new GateConnection(this.#context, client, this.#listener.isSecure);
  }

  #tick(now: number): void {
    for (const { proxied } of this.#connections) proxied?.checkDeadline(now);
    this.#context.upstreams.tick(now);
    if (now < this.#reauthorizedAt + REAUTHORIZE_INTERVAL) return;
    this.#reauthorizedAt = now;
    for (const { proxied } of this.#connections) proxied?.reauthorizeIfDue(now);
  }

  #reauthorizeAll(): void {
    for (const { proxied } of this.#connections) proxied?.reauthorize();
  }
}
