import { join } from "@std/path/join";
import { runToEnd, type Scope } from "./scope.ts";
import { PROJECT_KEY, randomBytes } from "./server.ts";

type Fields = Readonly<Record<string, string>>;

/** A request that is sent many times. */
export interface Message {
  method: "GET" | "POST" | "PUT" | "PROPFIND";
  /** Path and query. `{n}` stands for a number that is new in each request, `{t}` for that of the connection. */
  target: string;
  headers?: Fields;
  /** The body, or how many random bytes it has. */
  body?: Uint8Array<ArrayBuffer> | number;
}

/** Requests. Each connection sends its next one when its last one is answered. */
export interface Load extends Omit<Message, "target" | "headers"> {
  origin: string;
  /** Several targets are sent in scattered order, each load with another first one, so that caches do not help. */
  target: string | readonly string[];
  /** Headers, or those of a target. */
  headers?: Fields | ((target: string) => Fields);
  /** Every `every`th request is this upload instead, whose target contains `{n}`. */
  write?: Message & { every: number };
  /** The first number of `{n}`. */
  from?: number;
  connections: number;
  seconds: number;
}

/** How a load was answered: all requests with a status of success. */
export interface LoadResult {
  requests: number;
  perSecond: number;
  /** 10^6 bytes of bodies, in the direction in which they went. */
  megabytesPerSecond: number;
  /** Milliseconds from a request to the end of its answer. */
  median: number;
  p99: number;
}

/** Sends a load. @throws if a request fails. */
export type RunLoad = (scope: Scope, load: Load) => Promise<LoadResult>;

/** What the script prints at the end. Times are microseconds. */
interface Summary {
  requests: number;
  bytes: number;
  duration: number;
  errors: number;
  median: number;
  p99: number;
}

/** Digits of the numbers in targets. */
const DIGITS = 10;

/** Returns a target with a number in the place of `{n}`. */
export function numbered(target: string, number: number): string {
  return target.replace("{n}", String(number).padStart(DIGITS, "0"));
}

/** The distance between consecutive targets: a prime, so that all of them are sent before one is repeated. */
const STRIDE = 7919;

/** More threads slow each other down. */
const MAX_THREADS = 8;

/**
 * Sends a load with wrk. Requests are complete before they are sent, except for numbers, so that all servers and protocols
 * cost wrk the same.
 */
export async function runLoad(scope: Scope, load: Load): Promise<LoadResult> {
  const folder = await scope.makeFolder();
  for (const [name, content] of Object.entries(filesOf(load))) {
    await Deno.writeFile(join(folder, name), content);
  }
  const script = join(folder, "load.lua");
  await Deno.writeTextFile(script, scriptOf(load, folder));
  const isByThread = load.target.includes("{t}");
  const output = await runToEnd(scope, "wrk", {
    args: [
      `--threads=${isByThread ? Math.min(load.connections, MAX_THREADS) : 1}`,
      `--connections=${load.connections}`,
      `--duration=${load.seconds}s`,
      "--timeout=60s",
      `--script=${script}`,
      load.origin,
    ],
  });
  await Deno.remove(folder, { recursive: true });
  return resultOf(output, load);
}

const KEY = { "X-Api-Key": PROJECT_KEY };

/** Sends a load with the key of the project. */
export async function runLoadWithKey(scope: Scope, load: Load): Promise<LoadResult> {
  const { headers, write } = load;
  return await runLoad(scope, {
    ...load,
    headers: { ...KEY, ...headers },
    ...(write && { write: { ...write, headers: { ...KEY, ...write.headers } } }),
  });
}

/** Sends exactly so many requests with the key of the project, with `{n}` from 0 on. */
export async function sendEach(_: Scope, load: Load, requests: number): Promise<void> {
  const body = load.body === undefined ? null : bytesOf(load.body);
  let next = 0;
  const send = async (): Promise<void> => {
    while (next < requests) {
      const target = numbered(String(load.target), next++);
      const response = await fetch(load.origin + target, {
        method: load.method,
        headers: KEY,
        body,
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`${target} answered ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: load.connections }, send));
}

const encoder = new TextEncoder();

/** The files that a script reads: heads that end with a NUL, their body, and an upload before and after its number. */
function filesOf(load: Load): Record<string, Uint8Array> {
  const { origin, method, target, headers = {}, body, write } = load;
  const message = (one: string): Message => ({
    method,
    target: one,
    headers: typeof headers === "function" ? headers(one) : headers,
    ...(body === undefined ? {} : { body }),
  });
  const upload = isNumbered(load) ? message(String(target)) : write;
  const [before = "", after = ""] = upload === undefined
    ? []
    : headOf(origin, upload).split(NUMBER);
  const heads = isNumbered(load) ? [] : [target].flat().map((one) => headOf(origin, message(one)));
  return {
    heads: encoder.encode(heads.map((head) => `${head}\0`).join("")),
    body: isNumbered(load) ? new Uint8Array() : bytesOf(body),
    before: encoder.encode(before),
    after: encoder.encode(after),
    written: bytesOf(upload?.body),
  };
}

const NUMBER = /\{[nt]\}/;

function isNumbered({ target }: Load): boolean {
  return NUMBER.test(String(target));
}

function bytesOf(body: Message["body"] = 0): Uint8Array<ArrayBuffer> {
  return typeof body === "number" ? randomBytes(body) : body;
}

/** The head of an HTTP/1.1 request. */
function headOf(origin: string, { method, target, headers, body }: Message): string {
  const size = typeof body === "number" ? body : body?.byteLength;
  const length = size === undefined ? {} : { "Content-Length": String(size) };
  const fields = Object.entries({ Host: new URL(origin).host, ...headers, ...length });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** The Lua script that sends the requests. A request that never changes is built once. */
function scriptOf(load: Load, folder: string): string {
  const { target, from = 0, write } = load;
  // Some servers name files themselves.
  const hasNumber = (write ?? load).target.includes("{n}");
  const number = hasNumber ? ` .. string.format("%0${DIGITS}d", ${from} + n)` : "";
  const upload = `before${number} .. after`;
  const start = Math.floor(Math.random() * MAX_START);
  const scattered = `heads[(n + ${start}) * ${STRIDE} % #heads + 1] .. body`;
  const writing = write === undefined ? "" : `if n % ${write.every} == 0 then return ${upload} end`;
  const byThread = target.includes("{t}") ? "before .. id .. after" : undefined;
  const isOne = write === undefined && !isNumbered(load) && [target].flat().length === 1;
  const fixed = byThread ?? (isOne ? "heads[1] .. body" : undefined);
  return `local threads, n = 0, -1
local heads, body, before, after = {}
function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end
local function contents(name)
  local file = io.open(${JSON.stringify(folder)} .. "/" .. name, "rb")
  local text = file:read("*a")
  file:close()
  return text
end
function init(args)
  for head in contents("heads"):gmatch("%Z+") do heads[#heads + 1] = head end
  body, before, after = contents("body"), contents("before"), contents("after") .. contents("written")
${fixed === undefined ? "" : `  local fixed = ${fixed}\n  wrk.format = function() return fixed end`}
end
${
    fixed !== undefined ? "" : `function request()
  n = n + 1
  ${writing}
  return ${isNumbered(load) ? upload : scattered}
end`
  }
${DONE}`;
}

/** Scattered loads start below this, so that the numbers of Lua stay exact. */
const MAX_START = 2 ** 20;

const DONE = `function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '{"requests":%d,"bytes":%d,"duration":%d,"errors":%d,"median":%d,"p99":%d}\\n',
    summary.requests, summary.bytes, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
`;

function resultOf(output: string, { origin, body }: Load): LoadResult {
  const line = output.split("\n").find((line) => line.startsWith("{"));
  if (line === undefined) throw new Error(`Cannot read the output of wrk: ${output}`);
  const { requests, bytes, duration, errors, median, p99 }: Summary = JSON.parse(line);
  if (errors > 0 || requests === 0) {
    throw new Error(`${errors} requests to ${origin} failed, ${requests} were answered`);
  }
  const size = typeof body === "number" ? body : body?.byteLength;
  return {
    requests,
    perSecond: requests * 1e6 / duration,
    megabytesPerSecond: (size === undefined ? bytes : requests * size) / duration,
    median: median / 1000,
    p99: p99 / 1000,
  };
}
