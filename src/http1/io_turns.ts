import { closeQuietly } from "./connection.ts";

/** Bytes that all bodies together may take before the sockets of other connections are looked at. */
export const TURN_BYTES = 262_144;

const LOOPBACK = "127.0.0.1";
const SIGNAL = new Uint8Array(1);

interface Waiting {
  bytes: number;
  go: () => void;
}

/**
 * Lets other connections in between the pieces of large bodies.
 *
 * A read of a socket with pending bytes completes at once, and the runtime looks for events of other sockets only when
 * it has nothing left to run, or after 61 rounds of its event loop. Fast senders therefore keep others waiting for tens
 * of milliseconds, and neither promises nor `setImmediate` nor timers help. The only event that cannot come before the
 * other sockets were looked at is one of a socket: a byte that is sent over a connection of the process to itself.
 */
export class IoTurns {
  #left = TURN_BYTES;
  readonly #waiting: Waiting[] = [];
  #loop: Loop | undefined;
  #isClosed = false;

  /** Counts bytes of a body. Returns a promise if the next ones must wait for their turn. */
  take(bytes: number): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left -= bytes;
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ bytes, go: resolve });
    if (this.#waiting.length === 1) this.#serve();
    return promise;
  }

  /** Lets all bodies go on. */
  close(): void {
    this.#isClosed = true;
    this.#loop?.close();
    for (const { go } of this.#waiting.splice(0)) go();
  }

  async #serve(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#round();
      this.#left = TURN_BYTES;
      while (this.#left > 0) {
        const next = this.#waiting.shift();
        if (next === undefined) break;
        this.#left -= next.bytes;
        next.go();
      }
    }
  }

  /** Resolves after the sockets were looked at. Without a descriptor for that it resolves at once. */
  async #round(): Promise<void> {
    try {
      this.#loop ??= await Loop.open();
      if (this.#isClosed) this.#loop.close();
      await this.#loop.pass();
    } catch {
      this.#loop?.close();
      this.#loop = undefined;
    }
  }
}

/** A connection of the process to itself. */
class Loop {
  readonly #received = new Uint8Array(1);

  private constructor(private readonly near: Deno.TcpConn, private readonly far: Deno.TcpConn) {}

  static async open(): Promise<Loop> {
    using listener = Deno.listen({ hostname: LOOPBACK, port: 0 });
    const { port } = listener.addr;
    const near = await Deno.connect({ hostname: LOOPBACK, port });
    try {
      near.setNoDelay(true);
      const far = await listener.accept();
      const loop = new Loop(near, far);
      if (far.remoteAddr.port === near.localAddr.port) return loop;
      // Another program of this machine was faster.
      loop.close();
      throw new Deno.errors.ConnectionRefused("The listener was taken");
    } catch (error) {
      closeQuietly(near);
      throw error;
    }
  }

  /** Sends a byte and waits for it. */
  async pass(): Promise<void> {
    // The read begins first: it would complete at once if the byte were there already.
    const arrival = this.far.read(this.#received);
    arrival.catch(() => {});
    await this.near.write(SIGNAL);
    if (await arrival === null) throw new Deno.errors.ConnectionReset("The connection was closed");
  }

  close(): void {
    closeQuietly(this.near);
    closeQuietly(this.far);
  }
}
