/** A line to the server that carries so many bytes a second upwards, and can be cut. */
export class SlowLine implements AsyncDisposable {
  private readonly open = new Set<Deno.TcpConn>();
  private readonly listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  private readonly serving: Promise<void>;
  /** When the next byte may go, on the clock of `performance.now()`. */
  private free = 0;

  /** @param rate Bytes a second from the browser to the server; downwards the line is as fast as it gets. */
  constructor(private readonly target: { port: number }, public rate: number) {
    this.serving = this.serve();
  }

  /** What the browser opens in place of the server's own address. */
  get origin(): string {
    return `http://127.0.0.1:${this.listener.addr.port}`;
  }

  /** Breaks what is being carried; new connections are taken. */
  cut(): void {
    for (const connection of this.open) close(connection);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.listener.close();
    this.cut();
    await this.serving;
  }

  private async serve(): Promise<void> {
    const carried: Promise<unknown>[] = [];
    for await (const browser of this.listener) carried.push(this.carry(browser));
    await Promise.all(carried);
  }

  private async carry(browser: Deno.TcpConn): Promise<void> {
    const server = await Deno.connect({ hostname: "127.0.0.1", port: this.target.port });
    this.open.add(browser).add(server);
    const up = this.pass(browser, server).catch(() => {});
    const down = server.readable.pipeTo(browser.writable).catch(() => {});
    await Promise.race([up, down]);
    for (const connection of [browser, server]) {
      this.open.delete(connection);
      close(connection);
    }
    await Promise.all([up, down]);
  }

  private async pass(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
    const buffer = new Uint8Array(16_384);
    for (let read = await from.read(buffer); read !== null; read = await from.read(buffer)) {
      await this.turn(read);
      for (let sent = 0; sent < read;) sent += await to.write(buffer.subarray(sent, read));
    }
  }

  /** All connections share the line. */
  private async turn(bytes: number): Promise<void> {
    const now = performance.now();
    this.free = Math.max(this.free, now) + bytes / this.rate * 1000;
    const wait = this.free - now;
    if (wait > 5) await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // It had been closed from the other side.
  }
}
