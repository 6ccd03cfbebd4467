import { delay } from "@std/async/delay";
import type { Folder } from "../../support/command.ts";
import type { TlsFiles } from "../../support/tls.ts";
import { unusedPort } from "../../support/processes/ports.ts";

const KEYS = { accessKeyId: "minioadmin", secretAccessKey: "minioadmin" };

/** Attempts to reach a server that starts, and the milliseconds between them. */
const ATTEMPTS = 200;
const POLL = 50;

/** MinIO on one folder: the tests are checked with it, and only with it. */
export class PeerServer implements AsyncDisposable {
  readonly keys = KEYS;

  private constructor(
    private readonly process: Deno.ChildProcess,
    readonly endpoint: string,
  ) {}

  static async start(
    program: string,
    folder: Folder,
    tls: TlsFiles | undefined,
  ): Promise<PeerServer> {
    const [port, console] = [unusedPort(), unusedPort()];
    const certificates = folder.at("certificates");
    await Deno.mkdir(certificates);
    if (tls !== undefined) {
      await Deno.copyFile(tls.certificate, `${certificates}/public.crt`);
      await Deno.copyFile(tls.key, `${certificates}/private.key`);
    }
    const process = new Deno.Command(program, {
      args: [
        "server",
        "--quiet",
        `--address=127.0.0.1:${port}`,
        `--console-address=127.0.0.1:${console}`,
        `--certs-dir=${certificates}`,
        folder.at("data"),
      ],
      env: { MINIO_DOMAIN: "localhost", MINIO_SITE_REGION: "eu-central-1", HOME: folder.path },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const endpoint = tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
    const peer = new PeerServer(process, endpoint);
    using client = Deno.createHttpClient(tls === undefined ? {} : { caCerts: [tls.pem.authority] });
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      await delay(POLL);
      try {
        const response = await fetch(`${endpoint}/ready/ready`, { client });
        await response.body?.cancel();
        if (response.status === 403 || response.status === 404) return peer;
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
    }
    await peer[Symbol.asyncDispose]();
    throw new Error(`${program} did not start`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill("SIGKILL");
    await this.process.status;
  }
}
