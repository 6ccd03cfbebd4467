import { latin1 } from "./raw_client.ts";

/** What an application does on a connection with what came over it so far. */
export type Script = (connection: UpstreamConnection, received: string) => Promise<void> | void;

/** A connection that an application got. */
export class UpstreamConnection {
  /** Everything that came, one character a byte. */
  received = "";
  readonly ended: Promise<void>;
  private readonly over = Promise.withResolvers<void>();

  constructor(private readonly connection: Deno.TcpConn) {
    this.ended = this.over.promise;
  }

  async run(script: Script): Promise<void> {
    const buffer = new Uint8Array(65_536);
    try {
      for (;;) {
        const count = await this.connection.read(buffer);
        if (count === null) break;
        this.received += latin1(buffer.subarray(0, count));
        await script(this, this.received);
      }
    } catch {
      // The other side broke it, or the script closed it.
    }
    this.over.resolve();
    this.close();
  }

  async send(text: string): Promise<void> {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    for (let sent = 0; sent < bytes.length;) {
      sent += await this.connection.write(bytes.subarray(sent));
    }
  }

  close(): void {
    try {
      this.connection.close();
    } catch {
      // It was closed before.
    }
  }
}

/** An application that remembers exactly which bytes it got, and answers with exactly the bytes that a test wants. */
export class RawUpstream implements AsyncDisposable {
  readonly connections: UpstreamConnection[] = [];
  private readonly listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  private readonly running: Promise<void>;

  constructor(
    private readonly script: Script = answerEach("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
  ) {
    this.running = this.accept();
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get port(): number {
    return this.listener.addr.port;
  }

  /** Everything that came over all connections. */
  get received(): string {
    return this.connections.map(({ received }) => received).join("");
  }

  private async accept(): Promise<void> {
    const running: Promise<void>[] = [];
    for await (const connection of this.listener) {
      const one = new UpstreamConnection(connection);
      this.connections.push(one);
      running.push(one.run(this.script));
    }
    await Promise.all(running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.listener.close();
    for (const connection of this.connections) connection.close();
    await this.running;
  }
}

/** Answers each head that has come with the same bytes. Bodies must not have an empty line in them. */
export function answerEach(answer: string): Script {
  const answered = new WeakMap<UpstreamConnection, number>();
  return async (connection, received) => {
    const heads = received.split("\r\n\r\n").length - 1;
    for (let count = answered.get(connection) ?? 0; count < heads; count++) {
      answered.set(connection, count + 1);
      await connection.send(answer);
    }
  };
}
