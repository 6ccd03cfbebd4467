import { MAX_GATE_CONNECTIONS, REJUDGE_INTERVAL } from "../drive/limits.ts";
import { Caller } from "./caller.ts";
import { Clock } from "./clock.ts";
import type { GateContext, GateDeps } from "./context.ts";
import { Upstreams } from "./upstreams.ts";

/** Where the gate listens. */
export interface GateAddress {
  hostname: string;
  /** 0 takes a free one. */
  port: number;
  tls: { cert: string; key: string } | undefined;
}

/** How long the next connection is waited for when one could not be taken: there are no file handles left, say. */
const ACCEPT_PAUSE = 100;

/** Callers that are told so at once when there are too many; further ones are told nothing. */
const TURNED_AWAY = 100;

/** "Puts API keys in front of applications": lets callers in, and passes their requests on. */
export class Gate {
  readonly address: Deno.NetAddr;
  readonly #listener: Deno.Listener<Deno.Conn<Deno.NetAddr>>;
  readonly #isSecure: boolean;
  readonly #ctx: GateContext;
  readonly #callers = new Set<Caller>();
  readonly #stopListening: () => void;
  #rejudged = 0;
  #onLast: (() => void) | undefined;

  /** Listens from now on. @throws where the port cannot be listened on. */
  constructor(deps: GateDeps, { hostname, port, tls }: GateAddress) {
    this.#listener = tls === undefined
      ? Deno.listen({ hostname, port })
      : Deno.listenTls({ hostname, port, ...tls, alpnProtocols: ["http/1.1"] });
    this.#isSecure = tls !== undefined;
    this.address = this.#listener.addr as Deno.NetAddr;
    const clock = new Clock(() => this.#tick());
    this.#ctx = { ...deps, clock, upstreams: new Upstreams(), isDraining: false };
    this.#stopListening = deps.store.revocations.onChange(() => this.#judgeAnew());
    this.#accept();
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
  }

  /** Cuts whatever runs still. To be called after `drain`. */
  stop(): void {
    for (const { wire, exchange } of [...this.#callers]) {
      exchange?.abort("cut");
      wire.close();
    }
    this.#stopListening();
    this.#ctx.upstreams.close();
    this.#ctx.clock.stop();
  }

  async #accept(): Promise<void> {
    while (!this.#ctx.isDraining) {
      try {
        const connection = await this.#listener.accept();
        tune(connection);
        this.#serve(connection);
      } catch {
        // A caller has left again, or the listener was closed.
        if (!this.#ctx.isDraining) await new Promise((go) => setTimeout(go, ACCEPT_PAUSE));
      }
    }
  }

  async #serve(connection: Deno.Conn<Deno.NetAddr>): Promise<void> {
    if (this.#callers.size >= MAX_GATE_CONNECTIONS + TURNED_AWAY) return connection.close();
    const peer = { address: connection.remoteAddr, isSecure: this.#isSecure };
    const caller = new Caller(this.#ctx, connection, peer);
    this.#callers.add(caller);
    if (this.#callers.size > MAX_GATE_CONNECTIONS) await caller.turnAway();
    else await caller.serve();
    this.#callers.delete(caller);
    if (this.#callers.size === 0) this.#onLast?.();
  }

  #tick(): void {
    const { now } = this.#ctx.clock;
    for (const caller of this.#callers) caller.check(now);
    this.#ctx.upstreams.tick(now);
    if (now < this.#rejudged + REJUDGE_INTERVAL) return;
    this.#rejudged = now;
    for (const { exchange } of this.#callers) exchange?.checkAccess(now);
  }

  #judgeAnew(): void {
    for (const { exchange } of this.#callers) exchange?.judgeAnew();
  }
}

/** Small answers go at once, and a caller whose machine is gone is noticed. Connections of TLS have no such switches. */
function tune(connection: Deno.Conn): void {
  if (!("setNoDelay" in connection)) return;
  const plain = connection as Deno.TcpConn;
  try {
    plain.setNoDelay(true);
    plain.setKeepAlive(true);
  } catch {
    // The caller has left already: reading will show it.
  }
}
