import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { fromFileUrl } from "@std/path/from-file-url";
import { environment, MAIN } from "../command.ts";
import { unusedPort } from "../processes/ports.ts";

const OPEN_KV = fromFileUrl(new URL("./openkv.ts", import.meta.url));

/** How long the platform waits for a program to listen, and then for one to end. */
const PATIENCE = 90_000;

/** What the program needs there: the network and its settings. */
export const RIGHTS: readonly string[] = ["--allow-net", "--allow-env"];

/** What Deno Deploy tells a program of databases. */
export class Platform implements AsyncDisposable {
  isAttached: boolean;
  /** How often the program asked for its database. */
  asked = 0;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor({ isAttached }: { isAttached: boolean }) {
    this.isAttached = isAttached;
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
      this.asked++;
      return Response.json(this.isAttached);
    });
  }

  /** What the program is started with so that it asks here. */
  get env(): Record<string, string> {
    return {
      // The platform's way to tell of a database. Nothing is asked there: see `deploy_openkv.ts`.
      DENO_KV_DEFAULT_PATH: "https://database.invalid/connect",
      TEST_PLATFORM: `http://127.0.0.1:${this.#server.addr.port}/`,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** The program as Deno Deploy starts it: without a word, where to listen in a variable. */
export class Deployed implements AsyncDisposable {
  text = "";
  readonly #process: Deno.ChildProcess;
  readonly #drained: Promise<unknown>;

  private constructor(readonly origin: string, process: Deno.ChildProcess) {
    this.#process = process;
    this.#drained = Promise.all([this.#collect(process.stdout), this.#collect(process.stderr)]);
  }

  /** @param rights What it may do; on the platform itself it may do anything. */
  static async start(
    env: Record<string, string>,
    rights: readonly string[] = RIGHTS,
  ): Promise<Deployed> {
    const port = unusedPort();
    const process = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        ...rights,
        `--preload=${OPEN_KV}`,
        MAIN,
      ],
      env: environment({
        DENO_DEPLOY: "1",
        DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`,
        ...env,
      }),
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const deployed = new Deployed(`http://127.0.0.1:${port}`, process);
    try {
      await deployed.#answers();
      return deployed;
    } catch (cause) {
      await deployed[Symbol.asyncDispose]();
      throw new Error(`The program did not start: ${deployed.text}`, { cause });
    }
  }

  /** Sends the signal of the platform. @returns the exit status. */
  async stop(): Promise<number> {
    this.#process.kill("SIGINT");
    const { code } = await deadline(this.#process.status, PATIENCE);
    await this.#drained;
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#process.kill("SIGKILL");
    } catch (error) {
      // It had ended by itself.
      if (!(error instanceof TypeError)) throw error;
    }
    await this.#process.status;
    await this.#drained;
  }

  async #answers(): Promise<void> {
    const end = Date.now() + PATIENCE;
    let hasEnded = false;
    this.#process.status.then(() => hasEnded = true);
    while (!this.text.includes("kvdrive listening")) {
      if (hasEnded || Date.now() > end) throw new Error("It does not listen");
      await delay(20);
    }
  }

  async #collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) this.text += piece;
  }
}
