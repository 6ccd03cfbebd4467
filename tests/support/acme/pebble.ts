import { Folder } from "../command.ts";
import { makeCertificates } from "../tls.ts";
import { unusedPort } from "../processes/ports.ts";

const PATIENCE = 90_000;

export interface PebbleOptions {
  /** The ports on which it checks challenges. */
  httpPort: number;
  tlsPort: number;
  /** Seconds for which certificates are valid. */
  lifetime: number;
  /** Host names for which it issues nothing. */
  blocked?: readonly string[];
}

/** Pebble, the test server of Let's Encrypt, and a name server that leads all names to this machine. */
export class Pebble implements AsyncDisposable {
  #processes: Deno.ChildProcess[] = [];

  private constructor(
    private readonly folder: Folder,
    private readonly ports: Record<"directory" | "management" | "names", number>,
    /** The certificate of its own server, in PEM. */
    readonly ownAuthority: string,
  ) {}

  static async start(options: PebbleOptions): Promise<Pebble> {
    const folder = await Folder.make();
    const { authority, certificate, key } = await makeCertificates();
    await folder.write("certificate.pem", certificate);
    await folder.write("key.pem", key);
    const ports = { directory: unusedPort(), management: unusedPort(), names: unusedPort() };
    const pebble = new Pebble(folder, ports, authority);
    const { httpPort, tlsPort, lifetime, blocked = [] } = options;
    const configuration = {
      pebble: {
        listenAddress: `127.0.0.1:${ports.directory}`,
        managementListenAddress: `127.0.0.1:${ports.management}`,
        certificate: folder.at("certificate.pem"),
        privateKey: folder.at("key.pem"),
        httpPort,
        tlsPort,
        domainBlocklist: blocked,
        retryAfter: { authz: 1, order: 1 },
        keyAlgorithm: "ecdsa",
        profiles: { default: { description: "of the tests", validityPeriod: lifetime } },
      },
    };
    await folder.write("pebble.json", JSON.stringify(configuration));
    await pebble.run();
    return pebble;
  }

  get directory(): string {
    return `https://localhost:${this.ports.directory}/dir`;
  }

  /** Starts the processes; after `stop`, without what they knew. */
  async run(): Promise<void> {
    const { names } = this.ports;
    const off = ["-doh", "", "-http01", "", "-https01", "", "-tlsalpn01", "", "-management", ""];
    const address = `127.0.0.1:${names}`;
    this.spawn("pebble-challtestsrv", ["-dnsserver", address, "-defaultIPv6", "", ...off]);
    this.spawn("pebble", ["-config", this.folder.at("pebble.json"), "-dnsserver", address]);
    const deadline = performance.now() + PATIENCE;
    while (await this.root().then(() => false, () => true)) {
      if (performance.now() > deadline) throw new Error("Pebble did not start");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** The certificate that clients of issued certificates have to trust, in PEM. */
  async root(): Promise<string> {
    using client = Deno.createHttpClient({ caCerts: [this.ownAuthority] });
    const url = `https://localhost:${this.ports.management}/roots/0`;
    return await (await fetch(url, { client })).text();
  }

  async stop(): Promise<void> {
    for (const process of this.#processes.splice(0)) {
      process.kill("SIGKILL");
      await process.status;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.folder[Symbol.asyncDispose]();
  }

  private spawn(program: string, args: string[]): void {
    // It refuses a share of good nonces, as authorities may.
    const env = { PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "10" };
    const options = { args, env, stdin: "null", stdout: "null", stderr: "null" } as const;
    this.#processes.push(new Deno.Command(program, options).spawn());
  }
}
