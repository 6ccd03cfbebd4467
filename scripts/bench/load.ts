import { join } from "@std/path/join";
import { runScript, runToEnd, type Scope } from "./scope.ts";
import { PROJECT_KEY, randomBytes } from "./server.ts";

/** What the script prints at the end. Times are microseconds. */
interface WrkSummary {
  requests: number;
  bytes: number;
  duration: number;
  errors: number;
  median: number;
  p99: number;
}

/** Sends a load with wrk. @throws if a request fails. */
async function runWrk(scope: Scope, load: ClientInput): Promise<LoadResult> {
  const folder = await scope.makeFolder();
  const script = join(folder, "load.lua");
  const bodyFile = join(folder, "body");
  const body = load.body ?? load.write?.body;
  if (body !== undefined) await Deno.writeFile(bodyFile, randomBytes(body));
  await Deno.writeTextFile(script, wrkScript(load, bodyFile));
  const output = await runToEnd(scope, "wrk", { args: wrkArguments(load, script) });
  const summary = output.split("\n").find((line) => line.startsWith("{"));
  if (summary === undefined) throw new Error(`Cannot read the output of wrk: ${output}`);
  return resultOf(JSON.parse(summary), load);
}

function wrkArguments({ target, connections, seconds, origin }: ClientInput, script: string) {
  const threads = target.includes("{t}") ? Math.min(connections, MAX_THREADS) : 1;
  return [
    `--threads=${threads}`,
    `--connections=${connections}`,
    `--duration=${seconds}s`,
    "--timeout=60s",
    `--script=${script}`,
    origin,
  ];
}

/** The Lua script that makes the requests. Without `{n}` they are all the same, and wrk makes them once. */
export function wrkScript(load: ClientInput, bodyFile: string): string {
  const { method, target, body, write, reconnect = false } = load;
  // wrk opens a new connection where one ends.
  const headers = { ...load.headers, ...(reconnect ? { Connection: "close" } : {}) };
  const quoted = Object.entries(headers).map(([name, value]) =>
    `  wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}\n`
  );
  const readBody = `  local file = io.open(${JSON.stringify(bodyFile)}, "rb")
  ${body === undefined ? "written" : "wrk.body"} = file:read("*a")
  file:close()
`;
  const hasBody = body !== undefined || write !== undefined;
  return `local threads = 0
function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

local target, written
function init(args)
  wrk.method = ${JSON.stringify(method)}
${quoted.join("")}${hasBody ? readBody : ""}\
  target = string.gsub(${JSON.stringify(target)}, "{t}", tostring(id))
  wrk.path = target
end
${target.includes("{n}") ? counting(load) : ""}${DONE}`;
}

function counting(load: ClientInput): string {
  const { target, cycle, isScattered = false, first = 0, start = 0, write } = load;
  const place = isScattered ? `n * ${STRIDE}` : "n";
  const inCycle = cycle === undefined ? place : `${place} % ${cycle}`;
  const number = first === 0 ? inCycle : `${first} + ${inCycle}`;
  const writing = write === undefined ? "" : `  if n % ${write.every} == 0 then
    local path = string.gsub(${JSON.stringify(write.target)}, "{n}", tostring(n))
    return wrk.format("POST", path, nil, written)
  end
`;
  return `
local n = ${start - 1}
function request()
  n = n + 1
${writing}\
  local number = ${number}
  local path = string.gsub(target, "{n}", tostring(number))
${target.includes("{d}") ? DIGIT : ""}\
  return wrk.format(nil, path)
end
`;
}

const DIGIT = `  path = string.gsub(path, "{d}", tostring(number % 10))
`;

const DONE = `
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '{"requests":%d,"bytes":%d,"duration":%d,"errors":%d,"median":%d,"p99":%d}\\n',
    summary.requests, summary.bytes, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
`;

function resultOf(summary: WrkSummary, { body, target }: ClientInput): LoadResult {
  const { requests, bytes, errors } = summary;
  if (errors > 0) {
    throw new Error(`${errors} requests to ${target} failed, ${requests} were answered`);
  }
  const seconds = summary.duration / 1e6;
  const moved = body === undefined ? bytes : requests * body;
  return {
    perSecond: requests / seconds,
    megabytesPerSecond: moved / 1e6 / seconds,
    median: summary.median / 1000,
    p99: summary.p99 / 1000,
  };
}

/** Requests to be sent, each connection's next one as soon as its last is answered. */
export interface Load {
  origin: string;
  method: "GET" | "POST" | "PUT" | "PROPFIND";
  /**
   * Path and query. `{n}` stands for the number of the request, `{d}` for its last digit, `{t}` for the number of the
   * connection's thread.
   */
  target: string;
  /** Headers besides that with the key. */
  headers?: Readonly<Record<string, string>>;
  /** The smallest number; 0 by default. */
  first?: number;
  /** `{n}` starts over after so many numbers; it never does by default. */
  cycle?: number;
  /**
   * Whether the numbers of consecutive requests are far apart, each of the cycle once. Each load starts with another
   * one, so that it does not find in caches what the one before asked for.
   */
  isScattered?: boolean;
  /** Bytes that each request sends. */
  body?: number;
  /** Every `every`th request is a `POST` of `body` bytes to another target instead. */
  write?: { every: number; target: string; body: number };
  connections: number;
  /** Whether each request has a connection of its own. */
  reconnect?: boolean;
  /** Over TLS, the certificate of the authority to trust, as PEM. */
  authority?: string;
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

/** The input of the client processes. */
export interface ClientInput extends Load {
  headers: Record<string, string>;
  /** The number that the count of requests starts with; 0 by default. */
  start?: number;
  /** Ends after so many requests instead of `seconds`. */
  requests?: number;
}

/** The distance between scattered numbers: a prime, so that all numbers of a cycle come up. */
export const STRIDE = 7919;

/** Scattered loads start below this. Products with `STRIDE` stay exact in Lua, whose numbers have 14 digits as text. */
const MAX_START = 2 ** 30;

/** More threads than this only get in each other's way. */
const MAX_THREADS = 8;

/** The load generator of that name; wrk where it is installed if none is named. */
export async function findLoadGenerator(
  name: "wrk" | "deno" | undefined,
): Promise<{ name: string; run: RunLoad }> {
  const wanted = name ?? (await isInstalled("wrk") ? "wrk" : "deno");
  if (wanted === "wrk") return { name: "wrk", run: (scope, load) => runWrk(scope, withKey(load)) };
  return { name: "a Deno client", run: runClient };
}

/** Sends exactly so many requests, with `{n}` from `first` on. */
export async function sendEach(scope: Scope, load: Load, requests: number): Promise<void> {
  await runScript<LoadResult>(scope, "process_client.ts", { ...withKey(load), requests });
}

async function runClient(scope: Scope, load: Load): Promise<LoadResult> {
  return await runScript<LoadResult>(scope, "process_client.ts", withKey(load));
}

function withKey(load: Load): ClientInput {
  const start = load.isScattered ? Math.floor(Math.random() * MAX_START) : 0;
  return { ...load, headers: { "X-Api-Key": PROJECT_KEY, ...load.headers }, start };
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
