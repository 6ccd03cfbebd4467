import { assert } from "@std/assert";
import { delay } from "@std/async/delay";
import { programCommand } from "./command.ts";
import { checkAnswersOf, endChecksOf } from "./openapi/watch.ts";
import { joinStore, type StoreMembership } from "./store/denokv.ts";

/**
 * An address without earlier calls. The test servers trust it from this machine, so that wrong keys of
 * one test are not counted with those of another.
 */
export function newAddress(): string {
  return `10.${crypto.getRandomValues(new Uint8Array(3)).join(".")}`;
}

/** The header that gives each wrong key an address of its own. */
export function newAddressHeader(key: string | null | undefined): Record<string, string> {
  if (key === undefined || key === null || key === PROJECT_KEY) return {};
  return { "X-Forwarded-For": newAddress() };
}

export const PROJECT_ID = "test-project";
export const PROJECT_KEY = `${PROJECT_ID}_0123456789abcdefghijABCDEFGHIJ`;
const READY = /^kvdrive listening on (https?:\/\/\S+)$/m;

/** How long a start may take, in milliseconds: two processes start one after the other. */
const READY_TIME = 120_000;

export interface ServerOptions {
  /** More command-line arguments after `serve --port 0 --data …`. */
  args?: string[];
  env?: Record<string, string>;
  /** The runtime's options, which grant all permissions unless given. */
  runtime?: string[];
  /** An existing data folder; it is kept when the server is disposed of. */
  data?: string;
  /** Where the tests are run on shared stores, a second process answers every other request for a drive. */
  twin?: boolean;
  /** The port to listen on; a free one unless given. */
  fixedPort?: number;
  /** How many descriptors the process may have open. Needs `prlimit`. */
  descriptors?: number;
  /** Where the server's standard output has to say that it is ready, in milliseconds. */
  readyTimeout?: number;
}

/** A server process of its own on a free port, with a data folder of its own. `await using` ends it. */
export class TestServer implements AsyncDisposable {
  readonly output: string[] = [];
  #twin: TestServer | undefined;
  #calls = 0;

  private constructor(
    readonly process: Deno.ChildProcess,
    readonly data: string,
    readonly ownsData: boolean,
    readonly origin: string,
    private readonly drained: Promise<unknown>,
    private readonly store: StoreMembership,
    chunks: string[],
  ) {
    this.output = chunks;
  }

  static async start(options: ServerOptions = {}): Promise<TestServer> {
    const data = options.data ?? await Deno.makeTempDir({ prefix: "kvdrive-test-" });
    const store = await joinStore(data, options.args ?? []);
    const port = String(options.fixedPort ?? 0);
    const args = ["serve", "--port", port, "--data", data, ...store.args, ...(options.args ?? [])];
    const [program, ...words] = [
      ...options.descriptors === undefined ? [] : ["prlimit", `--nofile=${options.descriptors}`],
      ...programCommand(args, options.runtime),
    ] as [string, ...string[]];
    const process = new Deno.Command(program, {
      args: words,
      env: {
        KVDRIVE_PROJECT_KEY: PROJECT_KEY,
        KVDRIVE_APPS_PORT: "0",
        KVDRIVE_TRUSTED_PROXY: "127.0.0.1",
        NO_COLOR: "1",
        ...store.env,
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
        return match !== null;
      }),
      collect(process.stderr, chunks, () => true),
    ]);
    drained.then(() => ready.reject(new Error(`The server ended early: ${chunks.join("")}`)));
    const timer = setTimeout(
      () => ready.reject(new Error(`The server was not ready in time: ${chunks.join("")}`)),
      options.readyTimeout ?? READY_TIME,
    );
    const owns = options.data === undefined;
    try {
      const origin = await ready.promise;
      // The next turn has read what the server wrote to the other stream before.
      await delay(0);
      await checkAnswersOf(origin);
      const server = new TestServer(process, data, owns, origin, drained, store, chunks);
      if (options.twin && store.isShared) {
        server.#twin = await TestServer.start({ ...options, data, twin: false });
      }
      return server;
    } catch (error) {
      await endProcess(process, "SIGKILL");
      await drained;
      await store.leave();
      if (owns) await Deno.remove(data, { recursive: true });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** Everything that the process, and its twin, printed on standard output and standard error so far. */
  get text(): string {
    return this.output.join("") + (this.#twin?.text ?? "");
  }

  /** The address of something in a drive: `server.url("photos", "/files?name=a")`. */
  url(drive: string, path: string, project = PROJECT_ID): string {
    const origin = this.#calls++ % 2 === 0 ? this.origin : this.#twin?.origin ?? this.origin;
    return `${origin}/v1/${project}/${encodeURIComponent(drive)}${path}`;
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
    const headers = new Headers({ ...newAddressHeader(key), ...rest.headers });
    if (key !== null) headers.set("X-Api-Key", key);
    return await fetch(this.url(drive, path, project), { ...rest, headers });
  }

  /** The name of a file of the dashboard, such as `main.js`, with the hash with which its page names it. */
  async dashboardFile(name: string): Promise<string> {
    const text = await (await fetch(this.origin)).text();
    const [stem = "", extension = ""] = name.split(".");
    const found = [...text.matchAll(/"\/dashboard\/assets\/([^"]+)"/g)]
      .find(([, file = ""]) => file.startsWith(`${stem}-`) && file.endsWith(`.${extension}`));
    assert(found?.[1] !== undefined, text);
    return found[1];
  }

  /** Sends a signal. @returns the exit status. */
  async stop(signal: Deno.Signal = "SIGTERM"): Promise<Deno.CommandStatus> {
    await this.#twin?.stop(signal);
    const status = await endProcess(this.process, signal);
    await this.drained;
    await this.store.leave();
    return status;
  }

  /** Ends it when the test process exits, where nothing can be awaited any more. */
  endAtExit(): void {
    this.#twin?.endAtExit();
    kill(this.process, "SIGKILL");
    if (this.ownsData) Deno.removeSync(this.data, { recursive: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
    if (this.ownsData) await Deno.remove(this.data, { recursive: true });
    endChecksOf(this.origin);
  }
}

async function endProcess(
  process: Deno.ChildProcess,
  signal: Deno.Signal,
): Promise<Deno.CommandStatus> {
  kill(process, signal);
  return await process.status;
}

function kill(process: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    process.kill(signal);
  } catch (error) {
    // The process had ended by itself.
    if (!(error instanceof TypeError)) throw error;
  }
}

async function collect(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  into: string[],
  isReady: (all: string) => boolean,
): Promise<void> {
  let seen = "";
  let found = false;
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    into.push(text);
    // Each request writes a line: only what comes before the server is ready is looked at.
    if (!found) found = isReady(seen += text);
  }
}

/** The resident memory of a process without files that it has mapped, in bytes. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** What a server may grow by, however much passes through it: buffers, and garbage that is not collected yet. */
const MEMORY = 120 * 1024 * 1024;

/** Fails if the process of a server grows by more than it may during some work. */
export async function assertBoundedMemory(
  { process: { pid } }: TestServer,
  work: () => Promise<void>,
): Promise<void> {
  const before = await residentBytes(pid);
  let most = before;
  const timer = setInterval(async () => most = Math.max(most, await residentBytes(pid)), 100);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  const grown = Math.max(most, await residentBytes(pid)) - before;
  assert(grown < MEMORY, `The server grew by ${Math.round(grown / 2 ** 20)} MiB`);
}
