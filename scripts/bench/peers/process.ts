import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { join } from "@std/path/join";
import type { Scope } from "../scope.ts";

/** Milliseconds that a server has to start, and to stop before it is killed. */
const START_LIMIT = 30_000;
const STOP_LIMIT = 20_000;

/** Milliseconds between two attempts to reach a server that starts. */
const POLL = 50;

/** Where a server is started. */
export interface Site {
  scope: Scope;
  /** Its data: empty the first time, and what it left there later on. */
  data: string;
  /** The command line of a tracer that starts the server, or nothing. */
  tracer: readonly string[];
}

/** A port of 127.0.0.1 on which nothing listens. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

export interface PeerCommand {
  program: string;
  args: readonly string[];
  /** The whole environment, in place of one that has only the PATH and an empty home. */
  env?: Record<string, string>;
  cwd?: string;
}

/** The process of a server, and those that it starts. */
export class PeerProcess {
  readonly #child: Deno.ChildProcess;
  readonly #program: string;

  private constructor(child: Deno.ChildProcess, program: string) {
    this.#child = child;
    this.#program = program;
  }

  /** Starts a server and waits until it is ready. Its output goes to a file, as that of a service does. */
  static async start(
    { scope, tracer }: Pick<Site, "scope" | "tracer">,
    { program, args, env, cwd }: PeerCommand,
    isReady: () => Promise<boolean>,
  ): Promise<PeerProcess> {
    const home = await scope.makeFolder();
    const log = join(home, "log");
    const child = scope.spawn("sh", {
      args: ["-c", 'exec "$@" > "$0" 2>&1', log, ...tracer, program, ...args],
      env: env ?? emptyHome(home),
      clearEnv: true,
      // A process group, so that workers of the server end with it.
      detached: true,
      ...(cwd === undefined ? {} : { cwd }),
    });
    scope.onClose(() => Promise.resolve(killGroup(child.pid)));
    await waitUntilReady(child, program, log, isReady);
    return new PeerProcess(child, program);
  }

  /** Ends it as an operator does. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    try {
      await deadline(this.#child.status, STOP_LIMIT);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      throw new Error(`${this.#program} did not stop in ${STOP_LIMIT / 1000} s`, { cause: error });
    } finally {
      killGroup(this.#child.pid);
    }
  }
}

/** Settings and caches of the user do not change what is measured, and the server leaves nothing in the user's folders. */
function emptyHome(home: string): Record<string, string> {
  const folders = ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"];
  return {
    PATH: Deno.env.get("PATH") ?? "",
    ...Object.fromEntries(folders.map((name) => [name, home])),
  };
}

function killGroup(leader: number): void {
  try {
    Deno.kill(-leader, "SIGKILL");
  } catch (error) {
    // All its processes have ended.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function waitUntilReady(
  child: Deno.ChildProcess,
  program: string,
  log: string,
  isReady: () => Promise<boolean>,
): Promise<void> {
  let hasEnded = false;
  child.status.then(() => hasEnded = true);
  const end = performance.now() + START_LIMIT;
  while (!await isReady()) {
    if (hasEnded || performance.now() > end) {
      const text = (await Deno.readTextFile(log)).slice(-2000);
      throw new Error(`${program} ${hasEnded ? "ended" : "did not get ready"}: ${text}`);
    }
    await delay(POLL);
  }
}

/** Whether a server answers a request with one of these statuses. With `undefined` every status will do. */
export async function answers(
  url: string,
  statuses?: readonly number[],
  init?: RequestInit,
): Promise<boolean> {
  try {
    const response = await fetch(url, { redirect: "manual", ...init });
    await response.body?.cancel();
    return statuses === undefined || statuses.includes(response.status);
  } catch (error) {
    // It does not listen yet.
    if (error instanceof TypeError) return false;
    throw error;
  }
}
