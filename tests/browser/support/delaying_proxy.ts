/** A TCP proxy that delays everything by a time, as a network does that is not slow but far away. */
export class DelayingProxy implements AsyncDisposable {
  private readonly connections = new Set<Deno.TcpConn>();
  private readonly listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  private readonly serving: Promise<void>;

  /** @param delay Milliseconds for each direction. */
  constructor(private readonly target: { port: number }, private readonly delay: number) {
    this.serving = this.serve();
  }

  /** The origin that the browser opens in place of the server's own. */
  get origin(): string {
    return `http://127.0.0.1:${this.listener.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.listener.close();
    for (const connection of this.connections) close(connection);
    await this.serving;
  }

  private async serve(): Promise<void> {
    const forwarded: Promise<unknown>[] = [];
    for await (const browser of this.listener) forwarded.push(this.forward(browser));
    await Promise.all(forwarded);
  }

  private async forward(browser: Deno.TcpConn): Promise<void> {
    const server = await Deno.connect({ hostname: "127.0.0.1", port: this.target.port });
    for (const connection of [browser, server]) {
      connection.setNoDelay();
      this.connections.add(connection);
    }
    const both = [this.carry(browser, server), this.carry(server, browser)];
    await Promise.race(both);
    for (const connection of [browser, server]) {
      this.connections.delete(connection);
      close(connection);
    }
    await Promise.all(both);
  }

  /** Carries bytes until one side closes. What follows does not wait for what was read before: it is on its way, too. */
  private async carry(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
    let written: Promise<unknown> = Promise.resolve();
    const buffer = new Uint8Array(65_536);
    try {
      for (let read = await from.read(buffer); read !== null; read = await from.read(buffer)) {
        const bytes = buffer.slice(0, read);
        const arrived = new Promise((resolve) => setTimeout(resolve, this.delay));
        written = Promise.all([written, arrived]).then(() => writeAll(to, bytes));
        written.catch(() => {});
      }
      await written;
    } catch {
      // One of the two has closed its connection.
    }
  }
}

async function writeAll(to: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await to.write(bytes.subarray(sent));
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // The peer has closed it already.
  }
}
