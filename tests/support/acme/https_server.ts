import { connect } from "node:tls";
import { Folder, spawnProgram } from "../command.ts";
import { TestAuthority } from "./authority.ts";

const PATIENCE = 90_000;
const POLL = 50;

export interface HttpsServerOptions {
  authority: Pick<TestAuthority, "directory" | "ownAuthority">;
  domains: readonly string[];
  data: string;
  args?: readonly string[];
  env?: Record<string, string>;
}

/** What a client sees of a certificate. */
export interface Seen {
  serial: string;
  names: string;
  validTo: number;
}

/** A process with `--domain` on free ports. `await using` ends it. */
export class HttpsServer implements AsyncDisposable {
  #text = "";

  readonly #drained: Promise<unknown>;

  private constructor(readonly process: Deno.ChildProcess) {
    this.#drained = Promise.all([this.#read(process.stdout), this.#read(process.stderr)]);
  }

  static async start(options: HttpsServerOptions): Promise<HttpsServer> {
    const { authority, domains, data, args = [], env = {} } = options;
    await Deno.mkdir(data, { recursive: true, mode: 0o700 });
    const trusted = `${data}/../authority.pem`;
    await Deno.writeTextFile(trusted, authority.ownAuthority);
    const domain = domains.flatMap((name) => ["--domain", name]);
    const defaults = [
      ["--data", data],
      ["--hostname", "127.0.0.1"],
      ["--apps-port", "0"],
      ["--acme-directory", authority.directory],
      ["--acme-ca", trusted],
      ["--http-port", "0"],
      ["--https-port", "0"],
    ].filter(([name = ""]) => !args.includes(name));
    if (authority instanceof TestAuthority) authority.httpPort = undefined;
    const words = ["serve", ...domain, ...defaults.flat(), ...args];
    const server = new HttpsServer(spawnProgram(words, { KVDRIVE_LOG: "off", ...env }));
    await server.until(() => /^kvdrive listening on /m.test(server.text), "the server listens");
    if (authority instanceof TestAuthority) authority.httpPort = server.httpPort;
    return server;
  }

  /** Everything that was printed so far. */
  get text(): string {
    return this.#text;
  }

  get port(): number {
    return Number(/^kvdrive listening on https:\/\/[^:\s]+:(\d+)$/m.exec(this.text)?.[1]);
  }

  get gatePort(): number {
    return Number(/^Applications are at https:\/\/[^:\s]+:(\d+)$/m.exec(this.text)?.[1]);
  }

  get httpPort(): number {
    return Number(/^Port (\d+) redirects to https$/m.exec(this.text)?.[1]);
  }

  /** Waits until something holds. @throws {Error} with everything that was printed if it never does. */
  async until(
    holds: () => boolean | Promise<boolean>,
    what: string,
    time = PATIENCE,
  ): Promise<void> {
    const deadline = performance.now() + time;
    while (!await holds()) {
      if (performance.now() > deadline) throw new Error(`Not in time: ${what}\n${this.text}`);
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }

  /** Waits until clients of a host name get a certificate, other than a given one. */
  async untilCertificate(name: string, other?: string, time = PATIENCE): Promise<Seen> {
    let seen: Seen | undefined;
    await this.until(
      async () => {
        seen = await this.certificate(name);
        return seen !== undefined && seen.serial !== other;
      },
      `a certificate for ${name}`,
      time,
    );
    return seen!;
  }

  /** Returns the certificate that clients of a host name get; `undefined` if the handshake fails. */
  certificate(name: string | undefined, port: number = this.port): Promise<Seen | undefined> {
    const { promise, resolve } = Promise.withResolvers<Seen | undefined>();
    const options = { port, host: "127.0.0.1", rejectUnauthorized: false };
    const socket = connect({ ...options, ...(name !== undefined && { servername: name }) }, () => {
      const { serialNumber, subjectaltname, valid_to } = socket.getPeerCertificate();
      resolve({ serial: serialNumber, names: subjectaltname ?? "", validTo: Date.parse(valid_to) });
      socket.destroy();
    });
    socket.on("error", () => resolve(undefined));
    socket.on("close", () => resolve(undefined));
    return promise;
  }

  /**
   * Sends a request to a host name over TLS and returns the whole answer.
   *
   * @param trusted The authority that must have issued the certificate, in PEM.
   */
  async request(
    name: string,
    trusted: string,
    { path = "/", port = this.port, head = "" }: { path?: string; port?: number; head?: string } =
      {},
  ): Promise<string> {
    const plain = await Deno.connect({ hostname: "127.0.0.1", port });
    using connection = await Deno.startTls(plain, { hostname: name, caCerts: [trusted] });
    return await exchange(connection, name, path, head);
  }

  /** Sends a request to the port for plain HTTP and returns the whole answer. */
  async requestPlainly(name: string, path: string, head = ""): Promise<string> {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: this.httpPort });
    return await exchange(connection, name, path, head);
  }

  async stop(signal: Deno.Signal = "SIGTERM"): Promise<void> {
    try {
      this.process.kill(signal);
    } catch {
      // It has ended already.
    }
    await this.process.status;
    await this.#drained;
  }

  async #read(stream: ReadableStream<BufferSource>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) this.#text += text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

async function exchange(
  connection: Deno.Conn,
  name: string,
  path: string,
  head: string,
): Promise<string> {
  const request = `GET ${path} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n${head}\r\n`;
  await connection.write(new TextEncoder().encode(request));
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let text = "";
  for (;;) {
    // A server may reset the connection after it has refused a request that is too long.
    const count = await connection.read(buffer).catch(() => null);
    if (count === null) return text;
    text += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
}

/** Runs a test with an authority, and a folder for the data of servers. */
export async function withAuthority(
  test: (
    authority: TestAuthority,
    start: (options?: Partial<HttpsServerOptions>) => Promise<HttpsServer>,
    data: string,
  ) => Promise<void>,
): Promise<void> {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  const data = folder.at("data");
  const start = (options: Partial<HttpsServerOptions> = {}) =>
    HttpsServer.start({ authority, domains: ["files.example.com"], data, ...options });
  await test(authority, start, data);
}
