import { deadline } from "@std/async/deadline";

/** What opens the stores of the tests. */
export const DENOKV_TOKEN = "0123456789abcdefghijABCDEFGHIJ";

const LISTENING = /Listening on (http:\/\/\S+)/;

/** The program that serves a store over KV Connect, where the tests are told where it is. */
export function denokvProgram(): string | undefined {
  return Deno.env.get("KVDRIVE_TEST_DENOKV") || undefined;
}

/** A `denokv` on a file. `await using` ends it; the file stays. */
export class Denokv implements AsyncDisposable {
  private constructor(
    readonly url: string,
    private readonly process: Deno.ChildProcess,
    private readonly drained: Promise<void>,
  ) {}

  /** @param port A free one, unless given. */
  static async start(file: string, port = 0): Promise<Denokv> {
    const process = new Deno.Command(denokvProgram() ?? "denokv", {
      args: ["--sqlite-path", file, "serve", "--addr", `127.0.0.1:${port}`],
      env: { DENO_KV_ACCESS_TOKEN: DENOKV_TOKEN },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const ready = Promise.withResolvers<string>();
    const drained = drain(process.stderr, ready);
    try {
      return new Denokv(await deadline(ready.promise, 30_000), process, drained);
    } catch (error) {
      process.kill("SIGKILL");
      await drained;
      throw error;
    }
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Ends it at once, as a crash would. */
  async stop(): Promise<void> {
    try {
      this.process.kill("SIGKILL");
    } catch (error) {
      // It had ended by itself.
      if (!(error instanceof TypeError)) throw error;
    }
    await this.process.status;
    await this.drained;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

async function drain(
  stderr: ReadableStream<Uint8Array<ArrayBuffer>>,
  ready: PromiseWithResolvers<string>,
): Promise<void> {
  let text = "";
  for await (const piece of stderr.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const url = LISTENING.exec(text)?.[1];
    if (url !== undefined) ready.resolve(url);
  }
  ready.reject(new Error(`denokv ended: ${text}`));
}
