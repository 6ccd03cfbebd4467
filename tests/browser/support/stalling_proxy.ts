/** A TCP proxy that stalls after a number of bytes to the server, and can break its connections. */
export class StallingProxy implements AsyncDisposable {
  private readonly connections = new Set<Deno.TcpConn>();
  private readonly listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  private readonly serving: Promise<void>;
  private readonly full = Promise.withResolvers<void>();
  private readonly released = Promise.withResolvers<void>();
  private sent = 0;

  /** @param limit Bytes from the browser to the server after which the proxy stalls. */
  constructor(private readonly target: { port: number }, private readonly limit: number) {
    this.serving = this.serve();
  }

  /** The origin that the browser opens in place of the server's own. */
  get origin(): string {
    return `http://127.0.0.1:${this.listener.addr.port}`;
  }

  /** Resolves when the proxy has stalled. */
  get stalled(): Promise<void> {
    return this.full.promise;
  }

  /** Breaks all connections. New ones are accepted, and never stall. */
  breakConnections(): void {
    for (const connection of this.connections) close(connection);
    this.released.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.listener.close();
    this.breakConnections();
    await this.serving;
  }

  private async serve(): Promise<void> {
    const forwarded: Promise<unknown>[] = [];
    for await (const browser of this.listener) forwarded.push(this.forward(browser));
    await Promise.all(forwarded);
  }

  private async forward(browser: Deno.TcpConn): Promise<void> {
    const server = await Deno.connect({ hostname: "127.0.0.1", port: this.target.port });
    this.connections.add(browser).add(server);
    const up = this.upload(browser, server).catch(() => {});
    const down = server.readable.pipeTo(browser.writable).catch(() => {});
    await Promise.race([up, down]);
    for (const connection of [browser, server]) {
      this.connections.delete(connection);
      close(connection);
    }
    await Promise.all([up, down]);
  }

  private async upload(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(16_384);
    for (let read = await from.read(buffer); read !== null; read = await from.read(buffer)) {
      this.sent += read;
      if (this.sent > this.limit) {
        this.full.resolve();
        await this.released.promise;
      }
      for (let sent = 0; sent < read;) sent += await to.write(buffer.subarray(sent, read));
    }
  }
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // The peer has closed it already.
  }
}
