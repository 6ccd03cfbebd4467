import { deadline } from "@std/async/deadline";
import { spawnProgram } from "./command.ts";
import { checkAnswersOf, endChecksOf } from "./openapi/watch.ts";

const READY = /^kvdrive listening on (https?:\/\/\S+)$/m;

/**
 * The program started with exactly these arguments and settings, once it is ready.
 * `TestServer` chooses the port, the data folder and the key itself; here the test chooses.
 */
export class LaunchedServer implements AsyncDisposable {
  private constructor(
    readonly process: Deno.ChildProcess,
    readonly origin: string,
    private readonly output: Output,
  ) {}

  static async start(
    args: readonly string[],
    env: Record<string, string> = {},
  ): Promise<LaunchedServer> {
    const process = spawnProgram(args, env);
    const output = new Output(process);
    try {
      const origin = await deadline(output.ready, 90_000);
      await checkAnswersOf(origin);
      return new LaunchedServer(process, origin, output);
    } catch (cause) {
      await endNow(process);
      await output.drained;
      throw new Error(`The server did not start: ${output.text}`, { cause });
    }
  }

  /** Everything that the process printed so far; all of it once it has ended. */
  get text(): string {
    return this.output.text;
  }

  async stop(signal: Deno.Signal = "SIGTERM"): Promise<Deno.CommandStatus> {
    this.process.kill(signal);
    const status = await this.process.status;
    await this.output.drained;
    return status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endNow(this.process);
    await this.output.drained;
    endChecksOf(this.origin);
  }
}

class Output {
  readonly ready: Promise<string>;
  readonly drained: Promise<unknown>;
  private readonly pieces: string[] = [];
  private isReady = false;
  private readonly said = Promise.withResolvers<string>();

  constructor(process: Deno.ChildProcess) {
    this.ready = this.said.promise;
    this.drained = Promise.all([this.collect(process.stdout), this.collect(process.stderr)])
      .then(() => this.said.reject(new Error("It ended before it was ready")));
  }

  get text(): string {
    return this.pieces.join("");
  }

  private async collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      this.pieces.push(text);
      if (this.isReady) continue;
      const match = READY.exec(this.text);
      if (match?.[1] === undefined) continue;
      this.isReady = true;
      this.said.resolve(match[1]);
    }
  }
}

async function endNow(process: Deno.ChildProcess): Promise<void> {
  try {
    process.kill("SIGKILL");
  } catch (error) {
    // It had ended by itself.
    if (!(error instanceof TypeError)) throw error;
  }
  await process.status;
}
