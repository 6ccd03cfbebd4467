import { fromFileUrl } from "@std/path/from-file-url";
import type { HostedCommand, HostedResult } from "./command_host.ts";

const SCRIPT = fromFileUrl(new URL("./command_host.ts", import.meta.url));
/** The configuration of the sources, with the packages that they import. */
const CONFIG = fromFileUrl(new URL("../../../deno.json", import.meta.url));
const PROGRAM = new URL("../../../src/cli/main.ts", import.meta.url).href;

/** How a command ended. */
export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** A process that runs commands of the program's sources; see `command_host.ts`. It ends with the test process. */
class CommandHost {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #waiting = new Map<number, PromiseWithResolvers<CommandResult>>();
  #count = 0;

  private constructor(process: Deno.ChildProcess, connection: Deno.TcpConn) {
    this.#process = process;
    this.#writer = connection.writable.getWriter();
    this.#read(connection).then(() => this.#end());
  }

  static async start(): Promise<CommandHost> {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--config", CONFIG, SCRIPT, String(listener.addr.port), PROGRAM],
      stdin: "null",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn();
    // The process must not keep the test process alive.
    process.unref();
    return new CommandHost(process, await listener.accept());
  }

  async run(
    args: readonly string[],
    env: Record<string, string>,
    cwd: string,
  ): Promise<CommandResult> {
    const id = this.#count++;
    const waiting = Promise.withResolvers<CommandResult>();
    this.#waiting.set(id, waiting);
    const command: HostedCommand = { id, args: [...args], env, cwd };
    await this.#writer.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`));
    return await waiting.promise;
  }

  stop(): void {
    this.#process.kill("SIGKILL");
  }

  async #read(connection: Deno.TcpConn): Promise<void> {
    let rest = "";
    try {
      for await (const text of connection.readable.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const { id, ...result }: HostedResult = JSON.parse(line);
          this.#waiting.get(id)?.resolve(result);
          this.#waiting.delete(id);
        }
      }
    } catch (error) {
      // It was ended, or ended by itself.
      if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
    }
  }

  #end(): void {
    const error = new Error("The process that runs commands ended");
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

let host: Promise<CommandHost> | undefined;

/** Runs a command of the program's sources in a folder, in the process for commands of this test file. */
export async function runHosted(
  args: readonly string[],
  env: Record<string, string>,
  cwd = Deno.cwd(),
): Promise<CommandResult> {
  host ??= CommandHost.start();
  return await (await host).run(args, env, cwd);
}

/** Kills the process that runs commands. */
export async function endHosted(): Promise<void> {
  const ended = host;
  host = undefined;
  (await ended)?.stop();
}
