import { deadline } from "@std/async/deadline";
import { join } from "@std/path/join";

/** What opens the stores of the tests. */
export const DENOKV_TOKEN = "0123456789abcdefghijABCDEFGHIJ";

const LISTENING = /Listening on (http:\/\/\S+)/;

/** The path of the `denokv` executable, if the tests run on shared stores. */
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
      return new Denokv(await deadline(ready.promise, 90_000), process, drained);
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

/** What a server is started with so that it uses the shared store of its data folder, and a way to say that it ended. */
export interface StoreMembership {
  isShared: boolean;
  args: readonly string[];
  env: Record<string, string>;
  leave(): Promise<void>;
}

interface Shared {
  denokv: Promise<Denokv>;
  members: number;
}

const ALONE: StoreMembership = {
  isShared: false,
  args: [],
  env: {},
  leave: () => Promise.resolve(),
};

/** By data folder. The file in it is the one that a server without a shared store would have. */
const stores = new Map<string, Shared>();

/**
 * Joins those who use the store of a data folder: where the tests are run on shared stores, over KV Connect; else each
 * server opens the file itself.
 *
 * @param args What the server is started with: a test that names a store has one of its own.
 */
export async function joinStore(data: string, args: readonly string[]): Promise<StoreMembership> {
  if (denokvProgram() === undefined || args.includes("--kv")) return ALONE;
  const shared = stores.get(data) ?? { denokv: start(data), members: 0 };
  stores.set(data, shared);
  shared.members++;
  let isMember = true;
  const leave = async (): Promise<void> => {
    if (!isMember) return;
    isMember = false;
    if (--shared.members > 0) return;
    stores.delete(data);
    await (await shared.denokv).stop();
  };
  const { url } = await shared.denokv;
  const env = { DENO_KV_ACCESS_TOKEN: DENOKV_TOKEN };
  return { isShared: true, args: ["--kv", url], env, leave };
}

async function start(data: string): Promise<Denokv> {
  await Deno.mkdir(data, { recursive: true });
  return await Denokv.start(join(data, "kvdrive.db"));
}
