import { assert, assertEquals } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { ADMINISTERED } from "../admin.ts";
import { type CommandResult, environment, EXECUTABLE, Folder, programCommand } from "../command.ts";
import { runHosted } from "./hosted_commands.ts";
import { PROJECT_KEY, TestServer } from "../server.ts";

/** How long a command may take that is expected to end by itself. */
const PATIENCE = 90_000;

/** A server, and a working folder for client commands. */
export class ClientWorkspace implements AsyncDisposable {
  private constructor(readonly server: TestServer, readonly folder: Folder) {}

  static async open(folder?: Folder): Promise<ClientWorkspace> {
    if (folder === undefined) {
      return new ClientWorkspace(await TestServer.start(ADMINISTERED), await Folder.make());
    }
    const server = await TestServer.start({ ...ADMINISTERED, data: folder.at("server") });
    return new ClientWorkspace(server, folder);
  }

  /** What the commands find in the environment. */
  env(url = this.server.origin): Record<string, string> {
    return {
      KVDRIVE_URL: url,
      KVDRIVE_KEY: PROJECT_KEY,
      XDG_STATE_HOME: this.folder.at("state"),
    };
  }

  /** Runs a command to its end in the folder. */
  async run(args: readonly string[], options: StartOptions = {}): Promise<CommandResult> {
    const { url, input, env = {} } = options;
    if (EXECUTABLE !== undefined || input !== undefined) {
      return await this.start(args, options).finished();
    }
    const settings = environment({ ...this.env(url), ...env });
    return await deadline(runHosted(args, settings, this.folder.path), PATIENCE);
  }

  /** Runs a command that has to succeed. @returns its standard output. */
  async text(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args);
    assertEquals(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }

  /** The same with `--json`: an object a line. */
  async json<T>(...args: string[]): Promise<T[]> {
    const text = await this.text(...args, "--json");
    return text.trim().split("\n").map((line) => JSON.parse(line) as T);
  }

  start(args: readonly string[], { url, input, env = {} }: StartOptions = {}): RunningCommand {
    const settings = { ...this.env(url), ...env };
    return new RunningCommand(args, settings, this.folder.path, input);
  }

  /** Stores a file over the API. */
  async store(drive: string, name: string, body: BodyInit, type?: string): Promise<void> {
    const query = new URLSearchParams({ name });
    const headers: Record<string, string> = type === undefined ? {} : { "Content-Type": type };
    const init = { method: "POST", body, headers };
    const answer = await this.server.fetch(drive, `/files?${query}`, init);
    assertEquals(answer.status, 201, await answer.text());
  }

  /** The bytes of a file over the API; `undefined` where there is none. */
  async stored(drive: string, name: string): Promise<Uint8Array | undefined> {
    const query = new URLSearchParams({ name });
    const answer = await this.server.fetch(drive, `/files/download?${query}`);
    const bytes = await answer.bytes();
    return answer.status === 404 ? undefined : bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}

export interface StartOptions {
  /** Where the server is; that of the desk unless given. */
  url?: string;
  /** What comes in on standard input. */
  input?: Uint8Array;
  env?: Record<string, string>;
}

/** A command that runs. */
export class RunningCommand {
  readonly #process: Deno.ChildProcess;
  readonly #output: Promise<Deno.CommandOutput>;

  constructor(
    args: readonly string[],
    env: Record<string, string>,
    cwd: string,
    input: Uint8Array | undefined,
  ) {
    const [program, ...words] = programCommand(args);
    this.#process = new Deno.Command(program, {
      args: words,
      env: environment(env),
      clearEnv: true,
      cwd,
      stdin: input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    if (input !== undefined) void this.#type(input);
    this.#output = this.#process.output();
  }

  async finished(): Promise<CommandResult> {
    try {
      const { code, stdout, stderr } = await deadline(this.#output, PATIENCE);
      return { code, stdout: decode(stdout), stderr: decode(stderr) };
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  async kill(signal: Deno.Signal = "SIGKILL"): Promise<void> {
    this.#process.kill(signal);
    await this.#output;
  }

  async #type(input: Uint8Array): Promise<void> {
    const writer = this.#process.stdin.getWriter();
    await writer.write(new Uint8Array(input));
    await writer.close();
  }
}

/** Waits until something holds; fails where that takes too long. */
export async function waitUntil(
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!await holds()) {
    assert(Date.now() < end, `It took too long: ${what}`);
    await delay(20);
  }
}

/** Bytes that look random and are the same in every run. */
export function someBytes(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(size / 4));
  let state = seed >>> 0 || 1;
  for (let i = 0; i < words.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = state >>> 0;
  }
  return new Uint8Array(words.buffer).slice(0, size);
}

/** All files below a folder with their bytes as text, by their paths. */
export async function filesBelow(folder: string, at = ""): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${at}`)) {
    const path = at === "" ? name : `${at}/${name}`;
    if (isDirectory) { for (const one of await filesBelow(folder, path)) files.set(...one); }
    else files.set(path, await Deno.readTextFile(`${folder}/${path}`));
  }
  return new Map([...files].sort(([a], [b]) => a < b ? -1 : 1));
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
