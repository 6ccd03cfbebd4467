import { equals } from "@std/bytes/equals";
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { type Listening, runToEnd, type Scope, startListening } from "./scope.ts";
import type { TlsFiles } from "./tls_files.ts";

/** The project of the benchmark. */
export const PROJECT = "bench";

/** The administrator of a server that was started with one. */
export const ADMIN_TOKEN = "bench-0123456789abcdefghijABCDEFGHIJ";

/** The key that opens the project of the benchmark. */
export const PROJECT_KEY = `${PROJECT}_0123456789abcdefghijABCDEFGHIJ`;

/** A running kvdrive, in a process of its own. */
export class Server {
  readonly #listening: Listening;
  /** Trusts the authority of a server that speaks TLS. */
  readonly #client: Deno.HttpClient | undefined;

  private constructor(listening: Listening, authority?: string) {
    this.#listening = listening;
    this.#client = authority === undefined
      ? undefined
      : Deno.createHttpClient({ caCerts: [authority] });
  }

  /** Starts the server of a checkout, on a new folder unless one is given. */
  static async start(
    scope: Scope,
    { root }: Checkout,
    data?: string,
    env: Record<string, string> = {},
  ): Promise<Server> {
    return await Server.#launch(scope, root, { data, env });
  }

  /** The same on a shared store, which these variables name. */
  static async startShared(
    scope: Scope,
    { root }: Checkout,
    env: { KVDRIVE_KV: string; DENO_KV_ACCESS_TOKEN: string },
  ): Promise<Server> {
    const args = ["run", "-A", "main.ts", "serve", "--port", "0"];
    const all = { KVDRIVE_PROJECT_KEY: PROJECT_KEY, NO_COLOR: "1", KVDRIVE_APPS_PORT: "0", ...env };
    return new Server(await startListening(scope, { args, env: all, cwd: root }));
  }

  /** The same, with a gate to applications and an administrator. */
  static async startWithGate(scope: Scope, { root }: Checkout): Promise<Server> {
    const env = { KVDRIVE_APPS_PORT: "auto", KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN };
    return await Server.#launch(scope, root, { env });
  }

  /** The same, with an administrator and no gate. */
  static async startWithAdministrator(scope: Scope, { root }: Checkout): Promise<Server> {
    return await Server.#launch(scope, root, {
      env: { KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN, KVDRIVE_ALLOW_WEBHOOK: "127.0.0.1" },
    });
  }

  /** The same over TLS. */
  static async startWithTls(scope: Scope, { root }: Checkout, tls: TlsFiles): Promise<Server> {
    return await Server.#launch(scope, root, { tls });
  }

  static async #launch(
    scope: Scope,
    root: string,
    { data, env, tls }: {
      data?: string | undefined;
      env?: Record<string, string>;
      tls?: TlsFiles;
    },
  ): Promise<Server> {
    const folder = data ?? await scope.makeFolder();
    const keys = tls === undefined ? [] : ["--tls-cert", tls.certificate, "--tls-key", tls.key];
    const listening = await startListening(scope, {
      args: ["run", "-A", "main.ts", "serve", "--port", "0", "--data", folder, ...keys],
      env: {
        KVDRIVE_PROJECT_KEY: PROJECT_KEY,
        NO_COLOR: "1",
        KVDRIVE_APPS_PORT: "0",
        ...env,
      },
      cwd: root,
    });
    return new Server(listening, tls?.pem.authority);
  }

  get origin(): string {
    return this.#listening.origin;
  }

  get pid(): number {
    return this.#listening.process.pid;
  }

  /** Puts an application with access control behind the gate. @returns its address there. */
  async protect(name: string, upstream: string): Promise<string> {
    const gate = /^Applications are at (\S+)$/m.exec(this.#listening.output)?.[1];
    if (gate === undefined) throw new Error("The server has no gate");
    const apps = `${this.origin}/admin/v1/projects/${PROJECT}/apps`;
    await this.#administer(201, "POST", apps, { name, upstream });
    await this.#administer(200, "PUT", `${apps}/${name}/access`, { enabled: true });
    return `${gate}/${PROJECT}/${name}`;
  }

  /** Limits the bytes of the project. */
  async setQuota(bytes: number): Promise<void> {
    const project = `${this.origin}/admin/v1/projects/${PROJECT}`;
    await this.#administer(200, "PATCH", project, { max_bytes: bytes });
  }

  /** Keeps the changes of the project for so many days. */
  async keepChanges(days: number): Promise<void> {
    const project = `${this.origin}/admin/v1/projects/${PROJECT}`;
    await this.#administer(200, "PATCH", project, { change_days: days });
  }

  /** Delivers the changes of the project to an address of this machine. */
  async addWebhook(url: string): Promise<void> {
    const webhooks = `${this.origin}/admin/v1/projects/${PROJECT}/webhooks`;
    await this.#administer(201, "POST", webhooks, { name: "bench", url });
  }

  async #administer(status: number, method: string, url: string, body: unknown): Promise<void> {
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (response.status !== status) throw new Error(`${url} answered ${response.status}: ${text}`);
  }

  /** Milliseconds since the start of the process. */
  get age(): number {
    return performance.now() - this.#listening.startedAt;
  }

  /** A request to a drive. @throws where it is answered with another status. */
  async call(
    status: number,
    method: string,
    target: string,
    body?: Uint8Array<ArrayBuffer> | string,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const response = await fetch(this.origin + target, {
      method,
      headers: { "X-Api-Key": PROJECT_KEY },
      ...(this.#client === undefined ? {} : { client: this.#client }),
      ...(body === undefined ? {} : { body }),
    });
    const answer = await response.bytes();
    if (response.status === status) return answer;
    const text = new TextDecoder().decode(answer.subarray(0, 500));
    throw new Error(`${method} ${target} answered ${response.status}, not ${status}: ${text}`);
  }

  /** The same, whose answer is JSON. */
  async callJson<T>(status: number, method: string, target: string): Promise<T> {
    return JSON.parse(new TextDecoder().decode(await this.call(status, method, target)));
  }

  /** Ends it as an operator does. */
  async stop(): Promise<void> {
    this.#listening.process.kill("SIGTERM");
    const { success, code } = await this.#listening.process.status;
    if (!success) throw new Error(`The server ended with ${code}`);
  }
}

/** The file of the store in a data folder. */
export function databaseOf(data: string): string {
  return join(data, "kvdrive.db");
}

/** The file of the chunks in a data folder: that of the store in a state that has one. */
export function byteFileOf(data: string): string {
  const names = Array.from(Deno.readDirSync(data), ({ name }) => name);
  const found = names.find((name) => /^kvdrive-bytes-.*\.db$/.test(name));
  return found === undefined ? databaseOf(data) : join(data, found);
}

/** The path of something in a drive: `inDrive("photos", "/files?name=a")`. */
export function inDrive(drive: string, path: string): string {
  return `/v1/${PROJECT}/${drive}${path}`;
}

/** Where a file is stored, and where it is read. `name` is taken as it is. */
export const target = {
  file: (name: string): string => inDrive("files", `/files?name=${name}`),
  download: (name: string): string => inDrive("files", `/files/download?name=${name}`),
} as const;

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

/** @throws with the message unless it is so. */
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
  const git = (args: string[]) => runToEnd(scope, "git", { args, cwd: root });
  scope.onClose(async () => {
    const remove = { args: ["worktree", "remove", "--force", folder], cwd: root };
    await new Deno.Command("git", remove).output();
  });
  await git(["worktree", "add", "--detach", folder, against]);
  return { current, other: { root: folder } };
}

/** The headers with which WebDAV accepts the key of the benchmark. */
export const davHeaders = { Authorization: `Basic ${btoa(`bench:${PROJECT_KEY}`)}` };

/** The path of a file over WebDAV, or of a drive. */
export function davTarget(name: string, drive = "files"): string {
  return `/dav/${PROJECT}/${drive}/${name}`;
}
