import { join } from "@std/path";
import { type ClientInput, type LoadResult, MAX_THREADS } from "./load.ts";
import { runToEnd } from "./process.ts";
import { randomBytes } from "./random.ts";
import type { Scope } from "./scope.ts";

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
export async function runWrk(scope: Scope, load: ClientInput): Promise<LoadResult> {
  const folder = await scope.makeFolder();
  const script = join(folder, "load.lua");
  const bodyFile = join(folder, "body");
  if (load.body !== undefined) await Deno.writeFile(bodyFile, randomBytes(load.body));
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
  const { method, target, headers, body, cycle } = load;
  const quoted = Object.entries(headers).map(([name, value]) =>
    `  wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}\n`
  );
  const readBody = `  local file = io.open(${JSON.stringify(bodyFile)}, "rb")
  wrk.body = file:read("*a")
  file:close()
`;
  return `local threads = 0
function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

local target
function init(args)
  wrk.method = ${JSON.stringify(method)}
${quoted.join("")}${body === undefined ? "" : readBody}\
  target = string.gsub(${JSON.stringify(target)}, "{t}", tostring(id))
  wrk.path = target
end
${target.includes("{n}") ? counting(cycle) : ""}${DONE}`;
}

function counting(cycle: number | undefined): string {
  const number = cycle === undefined ? "n" : `n % ${cycle}`;
  return `
local n = -1
function request()
  n = n + 1
  return wrk.format(nil, (string.gsub(target, "{n}", tostring(${number}))))
end
`;
}

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
