import type { Checkout } from "./checkout.ts";
import { type Listening, startListening } from "./process.ts";
import type { Scope } from "./scope.ts";

const PROJECT = "bench";

/** The key that opens the project of the benchmark. */
export const PROJECT_KEY = `${PROJECT}_0123456789abcdefghijABCDEFGHIJ`;

/** A running kvdrive, in a process of its own. */
export class Server {
  readonly #listening: Listening;

  private constructor(listening: Listening) {
    this.#listening = listening;
  }

  /** Starts the server of a checkout, on a new folder unless one is given. */
  static async start(scope: Scope, { root }: Checkout, data?: string): Promise<Server> {
    const folder = data ?? await scope.makeFolder();
    return new Server(
      await startListening(scope, {
        args: ["run", "-A", "main.ts", "serve", "--port", "0", "--data", folder],
        env: { KVDRIVE_PROJECT_KEY: PROJECT_KEY, KVDRIVE_APPS_PORT: "0", NO_COLOR: "1" },
        cwd: root,
      }),
    );
  }

  get origin(): string {
    return this.#listening.origin;
  }

  get pid(): number {
    return this.#listening.process.pid;
  }

  /** Milliseconds from the start of the process to the ready line. */
  get startTime(): number {
    return this.#listening.took;
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

/** The path of something in a drive: `inDrive("photos", "/files?name=a")`. */
export function inDrive(drive: string, path: string): string {
  return `/v1/${PROJECT}/${drive}${path}`;
}

/** Where a file is stored, and where it is read. `name` is taken as it is. */
export const target = {
  file: (name: string): string => inDrive("files", `/files?name=${name}`),
  download: (name: string): string => inDrive("files", `/files/download?name=${name}`),
} as const;
