import { READER_PATIENCE } from "../http/response_stream.ts";
import type { ClientConnection } from "../http1/client_connection.ts";
import type { ConnectionTable } from "../http1/connection_table.ts";
import { type ListenAddress, Listener } from "../http1/listener.ts";
import { REAUTHORIZE_INTERVAL } from "./authorization.ts";
import type { GateContext, GateDeps } from "./context.ts";
import { GateConnection } from "./gate_connection.ts";
import { Upstreams } from "./upstreams.ts";

/** "Puts API keys in front of applications": lets callers in, and passes their requests on. */
export class Gate {
  readonly #listener: Listener;
  readonly #ctx: GateContext;
  readonly #callers = new Set<GateConnection>();
  readonly #stopListening: () => void;
  #rejudged = 0;
  #onLast: (() => void) | undefined;

  /** Listens from now on. @throws where the port cannot be listened on. */
  constructor(
    deps: GateDeps & { onExhausted: () => void },
    connections: ConnectionTable,
    address: ListenAddress,
  ) {
    const { clock } = connections;
    this.#ctx = {
      ...deps,
      clock,
      upstreams: new Upstreams(deps.upstreamRules, connections),
      isDraining: false,
    };
    this.#listener = new Listener(address, {
      connections,
      patience: deps.idleTimeout * READER_PATIENCE,
      serve: (client) => this.#serve(client),
      refuse: (client) => this.#callerOf(client).turnAway(),
      onError: deps.onError,
      onExhausted: deps.onExhausted,
    });
    clock.onTick((now) => this.#tick(now));
    this.#stopListening = deps.store.revocations.onChange(() => this.#judgeAnew());
  }

  get address(): Deno.NetAddr {
    return this.#listener.address;
  }

  /** Takes no new requests; ends when those that run have. Upgraded connections are cut. */
  async drain(): Promise<void> {
    this.#ctx.isDraining = true;
    this.#listener.close();
    for (const caller of [...this.#callers]) {
      if (caller.exchange?.isUpgraded) caller.exchange.abort("cut");
      else if (!caller.isBusy) caller.wire.close();
    }
    if (this.#callers.size > 0) await new Promise<void>((resolve) => this.#onLast = resolve);
    await this.#listener.flushed();
  }

  /** Cuts whatever runs still. To be called after `drain`. */
  stop(): void {
    for (const { wire, exchange } of [...this.#callers]) {
      exchange?.abort("cut");
      wire.close();
    }
    this.#stopListening();
    this.#ctx.upstreams.close();
  }

  async #serve(client: ClientConnection): Promise<void> {
    const caller = this.#callerOf(client);
    this.#callers.add(caller);
    try {
      await caller.serve();
    } finally {
      this.#callers.delete(caller);
      if (this.#callers.size === 0) this.#onLast?.();
    }
  }

  #callerOf(client: ClientConnection): GateConnection {
    return new GateConnection(this.#ctx, client, this.#listener.isSecure);
  }

  #tick(now: number): void {
    for (const { exchange } of this.#callers) exchange?.check(now);
    this.#ctx.upstreams.tick(now);
    if (now < this.#rejudged + REAUTHORIZE_INTERVAL) return;
    this.#rejudged = now;
    for (const { exchange } of this.#callers) exchange?.checkAccess(now);
  }

  #judgeAnew(): void {
    for (const { exchange } of this.#callers) exchange?.reauthorize();
  }
}
