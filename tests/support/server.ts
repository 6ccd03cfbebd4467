import { fromFileUrl } from "@std/path";
import { strangerHeader } from "./stranger.ts";

/** The program under test. The tests know nothing else of the project. */
export const MAIN = fromFileUrl(new URL("../../main.ts", import.meta.url));

export const PROJECT_ID = "test-project";
export const PROJECT_KEY = `${PROJECT_ID}_0123456789abcdefghijABCDEFGHIJ`;
const READY = /^kvdrive listening on (https?:\/\/\S+)$/m;

export interface ServerOptions {
  /** More command-line arguments after `serve --port 0 --data …`. */
  args?: string[];
  env?: Record<string, string>;
  /** The runtime's options, which grant all permissions unless given. */
  runtime?: string[];
  /** An existing data folder; it is kept when the server is disposed of. */
  data?: string;
  /** The port to listen on; a free one unless given. */
  fixedPort?: number;
  /** Where the server's standard output has to say that it is ready, in milliseconds. */
  readyTimeout?: number;
}

/** A server process of its own on a free port, with a data folder of its own. `await using` ends it. */
export class TestServer implements AsyncDisposable {
  readonly output: string[] = [];

  private constructor(
    readonly process: Deno.ChildProcess,
    readonly data: string,
    readonly ownsData: boolean,
    readonly origin: string,
    private readonly drained: Promise<unknown>,
    chunks: string[],
  ) {
    this.output = chunks;
  }

  static async start(options: ServerOptions = {}): Promise<TestServer> {
    const data = options.data ?? await Deno.makeTempDir({ prefix: "kvdrive-test-" });
    const process = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        ...(options.runtime ?? ["-A"]),
        MAIN,
        "serve",
        "--port",
        String(options.fixedPort ?? 0),
        "--data",
        data,
        ...(options.args ?? []),
      ],
      env: {
        KVDRIVE_PROJECT_KEY: PROJECT_KEY,
        KVDRIVE_APPS_PORT: "0",
        KVDRIVE_TRUSTED_PROXY: "127.0.0.1",
        NO_COLOR: "1",
        ...options.env,
      },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const chunks: string[] = [];
    const ready = Promise.withResolvers<string>();
    const drained = Promise.all([
      collect(process.stdout, chunks, (all) => {
        const match = READY.exec(all);
        if (match?.[1] !== undefined) ready.resolve(match[1]);
      }),
      collect(process.stderr, chunks, () => {}),
    ]);
    drained.then(() => ready.reject(new Error(`The server ended early: ${chunks.join("")}`)));
    const timer = setTimeout(
      () => ready.reject(new Error(`The server was not ready in time: ${chunks.join("")}`)),
      options.readyTimeout ?? 30_000,
    );
    const owns = options.data === undefined;
    try {
      return new TestServer(process, data, owns, await ready.promise, drained, chunks);
    } catch (error) {
      await endProcess(process, "SIGKILL");
      await drained;
      if (owns) await Deno.remove(data, { recursive: true });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** Everything that the process printed on standard output and standard error so far. */
  get text(): string {
    return this.output.join("");
  }

  /** The address of something in a drive: `server.url("photos", "/files?name=a")`. */
  url(drive: string, path: string, project = PROJECT_ID): string {
    return `${this.origin}/v1/${project}/${encodeURIComponent(drive)}${path}`;
  }

  /** `fetch` with the project key; a `null` key sends none. */
  async fetch(
    drive: string,
    path: string,
    init: RequestInit & {
      headers?: Record<string, string>;
      key?: string | null;
      project?: string;
    } = {},
  ): Promise<Response> {
    const { key = PROJECT_KEY, project = PROJECT_ID, ...rest } = init;
    const headers = new Headers({ ...strangerHeader(key), ...rest.headers });
    if (key !== null) headers.set("X-Api-Key", key);
    return await fetch(this.url(drive, path, project), { ...rest, headers });
  }

  /** Sends a signal and gives the exit status. */
  async stop(signal: Deno.Signal = "SIGTERM"): Promise<Deno.CommandStatus> {
    const status = await endProcess(this.process, signal);
    await this.drained;
    return status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
    if (this.ownsData) await Deno.remove(this.data, { recursive: true });
  }
}

async function endProcess(
  process: Deno.ChildProcess,
  signal: Deno.Signal,
): Promise<Deno.CommandStatus> {
  try {
    process.kill(signal);
  } catch (error) {
    // It had ended by itself: there is nothing to send a signal to.
    if (!(error instanceof TypeError)) throw error;
  }
  return await process.status;
}

async function collect(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  into: string[],
  changed: (all: string) => void,
): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    into.push(text);
    changed(into.join(""));
  }
}
