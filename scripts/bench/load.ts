import { runWrk } from "./load_wrk.ts";
import { runScript } from "./process.ts";
import type { Scope } from "./scope.ts";
import { PROJECT_KEY } from "./server.ts";

/** Requests to be sent, each connection's next one as soon as its last is answered. */
export interface Load {
  origin: string;
  method: "GET" | "POST";
  /** Path and query. `{n}` stands for the number of the request, `{t}` for that of the connection's thread. */
  target: string;
  /** `{n}` starts over after so many numbers; it never does by default. */
  cycle?: number;
  /** Bytes that each request sends. */
  body?: number;
  connections: number;
  /** How long it goes on. */
  seconds: number;
}

/** What came of it. */
export interface LoadResult {
  /** Requests that were answered with 2xx; there are no others. */
  perSecond: number;
  /** 10^6 bytes of bodies, in the direction in which they went. */
  megabytesPerSecond: number;
  /** Milliseconds from a request to the end of its answer. */
  median: number;
  p99: number;
}

/** Sends a load from a process of its own. @throws if a request fails. */
export type RunLoad = (scope: Scope, load: Load) => Promise<LoadResult>;

/** What the client processes are told. */
export interface ClientInput extends Load {
  headers: Record<string, string>;
  /** Ends after so many requests instead of `seconds`. */
  requests?: number;
}

/** More threads than this only get in each other's way. */
export const MAX_THREADS = 8;

/** The load generator of that name; wrk where it is installed if none is named. */
export async function findLoadGenerator(
  name: "wrk" | "deno" | undefined,
): Promise<{ name: string; run: RunLoad }> {
  const wanted = name ?? (await isInstalled("wrk") ? "wrk" : "deno");
  if (wanted === "wrk") return { name: "wrk", run: (scope, load) => runWrk(scope, withKey(load)) };
  return { name: "a Deno client", run: runClient };
}

/** Sends exactly so many requests, with `{n}` from 0 on and `{d}` as its last digit. */
export async function sendEach(scope: Scope, load: Load, requests: number): Promise<void> {
  await runScript<LoadResult>(scope, "process_client.ts", { ...withKey(load), requests });
}

async function runClient(scope: Scope, load: Load): Promise<LoadResult> {
  return await runScript<LoadResult>(scope, "process_client.ts", withKey(load));
}

function withKey(load: Load): ClientInput {
  return { ...load, headers: { "X-Api-Key": PROJECT_KEY } };
}

async function isInstalled(program: string): Promise<boolean> {
  try {
    await new Deno.Command(program, { args: ["-v"], stdout: "null", stderr: "null" }).output();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
