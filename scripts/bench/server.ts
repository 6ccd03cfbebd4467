import { equals } from "@std/bytes/equals";
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { endProcess, runToEnd, type Scope } from "./scope.ts";

/** The project of the benchmark, the key that opens it, and the administrator. */
export const PROJECT = "bench";
export const PROJECT_KEY = `${PROJECT}_0123456789abcdefghijABCDEFGHIJ`;
export const ADMIN_TOKEN = "bench-0123456789abcdefghijABCDEFGHIJ";

const READY = /listening on (https?:\/\/\S+)\n/;

/** How a server is started besides. */
export interface StartOptions {
  env?: Record<string, string>;
  /** The command line of a program that starts the server and traces it. */
  tracer?: readonly string[];
}

/** A running kvdrive, in a process of its own. */
export class Server {
  private constructor(
    readonly process: Deno.ChildProcess,
    readonly origin: string,
    /** What it printed at the start. */
    readonly output: string,
    private readonly startedAt: number,
  ) {}

  /** Starts the server of a checkout, on a new folder unless one is given. */
  static async start(
    scope: Scope,
    { root }: Checkout,
    data?: string,
    { env = {}, tracer = [] }: StartOptions = {},
  ): Promise<Server> {
    const folder = data ?? await scope.makeFolder();
    const serve = ["run", "-A", "main.ts", "serve", "--port", "0", "--data", folder];
    const [program = "", ...args] = [...tracer, Deno.execPath(), ...serve];
    const startedAt = performance.now();
    const process = scope.spawn(program, {
      args,
      env: {
        KVDRIVE_PROJECT_KEY: PROJECT_KEY,
        KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN,
        KVDRIVE_ALLOW_WEBHOOK: "127.0.0.1",
        KVDRIVE_APPS_PORT: "0",
        NO_COLOR: "1",
        ...env,
      },
      cwd: root,
      stdout: "piped",
      stderr: "inherit",
    });
    let output = "";
    const texts = process.stdout.pipeThrough(new TextDecoderStream());
    for await (const text of texts.values({ preventCancel: true })) {
      output += text;
      const origin = READY.exec(output)?.[1];
      if (origin !== undefined) return new Server(process, origin, output, startedAt);
    }
    throw new Error(`The server ended before it was ready: ${output}`);
  }

  /** Milliseconds since the start of the process. */
  get age(): number {
    return performance.now() - this.startedAt;
  }

  /** A request with the key of the project. @throws where it is answered with another status. */
  async call(
    status: number,
    method: string,
    target: string,
    body?: Uint8Array<ArrayBuffer> | string,
  ): Promise<Uint8Array<ArrayBuffer>> {
    return await this.#request(status, method, target, { "X-Api-Key": PROJECT_KEY }, body);
  }

  /** The same, whose answer is JSON. */
  async callJson<T>(status: number, method: string, target: string, body?: string): Promise<T> {
    return JSON.parse(new TextDecoder().decode(await this.call(status, method, target, body)));
  }

  /** A request of the administrator to the project. @param path Below the project. */
  async administer<T>(status: number, method: string, path: string, body: unknown): Promise<T> {
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    const target = `/admin/v1/projects/${PROJECT}${path}`;
    const answer = await this.#request(status, method, target, headers, JSON.stringify(body));
    return JSON.parse(new TextDecoder().decode(answer) || "null");
  }

  async #request(
    status: number,
    method: string,
    target: string,
    headers: Record<string, string>,
    body: Uint8Array<ArrayBuffer> | string | undefined,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const response = await fetch(this.origin + target, { method, headers, body: body ?? null });
    const answer = await response.bytes();
    if (response.status === status) return answer;
    const text = new TextDecoder().decode(answer.subarray(0, 500));
    throw new Error(`${method} ${target} answered ${response.status}, not ${status}: ${text}`);
  }

  /** Ends it as an operator does. */
  async stop(): Promise<void> {
    await endProcess(this.process);
    const { success, code } = await this.process.status;
    if (!success) throw new Error(`The server ended with ${code}`);
  }
}

/** The file of the chunks in a data folder. */
export function byteFileOf(data: string): string {
  const names = Array.from(Deno.readDirSync(data), ({ name }) => name);
  const found = names.find((name) => /^kvdrive-bytes-.*\.db$/.test(name));
  return join(data, found ?? "kvdrive.db");
}

/** The path of something in a drive: `inDrive("photos", "/files?name=a")`. */
export function inDrive(drive: string, path: string): string {
  return `/v1/${PROJECT}/${drive}${path}`;
}

/** Where a file is stored, and where it is read. `name` is encoded for a query. */
export const target = {
  file: (name: string): string => inDrive("files", `/files?name=${name}`),
  download: (name: string): string => inDrive("files", `/files/download?name=${name}`),
} as const;

/** The headers with which WebDAV accepts the key of the benchmark. */
export const davHeaders = { Authorization: `Basic ${btoa(`bench:${PROJECT_KEY}`)}` };

/** The path of a file over WebDAV, or of a drive. */
export function davTarget(name: string, drive = "files"): string {
  return `/dav/${PROJECT}/${drive}/${name}`;
}

/** Most that `crypto.getRandomValues` fills at once. */
const AT_ONCE = 65_536;

/** Bytes that nothing can compress. */
export function randomBytes(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += AT_ONCE) {
    crypto.getRandomValues(bytes.subarray(at, at + AT_ONCE));
  }
  return bytes;
}

/** Stores a file and makes sure that what comes back is the same. */
export async function storeAndCheck(server: Server, name: string, size: number): Promise<void> {
  const bytes = randomBytes(size);
  await server.call(201, "POST", target.file(name), bytes);
  const answer = await server.call(200, "GET", target.download(name));
  assert(equals(answer, bytes), `${name} comes back with ${answer.byteLength} bytes, or others`);
}

/** @throws with the message unless the condition holds. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Wrong answer: ${message}`);
}

/** A state of the program's source. */
export interface Checkout {
  /** Its folder. */
  root: string;
}

/** The state that is being worked on, and the one that it is compared with if there is one. */
export interface Checkouts {
  current: Checkout;
  other?: Checkout;
}

/** @param against A git state, which is checked out in a temporary folder. */
export async function checkoutsOf(scope: Scope, against: string | undefined): Promise<Checkouts> {
  const root = fromFileUrl(new URL("../..", import.meta.url));
  const current = { root };
  if (against === undefined) return { current };
  const folder = join(scope.folder, "against");
  scope.onClose(async () => {
    const remove = { args: ["worktree", "remove", "--force", folder], cwd: root };
    await new Deno.Command("git", remove).output();
  });
  const add = ["worktree", "add", "--detach", folder, against];
  await runToEnd(scope, "git", { args: add, cwd: root });
  return { current, other: { root: folder } };
}
