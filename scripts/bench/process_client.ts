/**
 * A process that sends requests and prints how that went, where wrk is not installed or a number of requests is wanted.
 *
 * @module
 */

import { percentile } from "./experiment.ts";
import { type ClientInput, type LoadResult, STRIDE } from "./load.ts";
import { randomBytes } from "./server.ts";

if (import.meta.main) {
  const input: ClientInput = JSON.parse(Deno.args[0] ?? "");
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(await send(input))));
}

/** What was answered. */
interface Tally {
  /** Milliseconds of each request. */
  times: number[];
  bytes: number;
}

async function send(input: ClientInput): Promise<LoadResult> {
  const tally: Tally = { times: [], bytes: 0 };
  const next = requestsOf(input);
  const started = performance.now();
  const connection = async (_: unknown, thread: number): Promise<void> => {
    while (true) {
      const request = next(thread);
      if (request === undefined) return;
      await exchange(request, tally);
    }
  };
  await Promise.all(Array.from({ length: input.connections }, connection));
  const seconds = (performance.now() - started) / 1000;
  const moved = input.body === undefined ? tally.bytes : tally.times.length * input.body;
  return {
    perSecond: tally.times.length / seconds,
    megabytesPerSecond: moved / 1e6 / seconds,
    median: percentile(tally.times, 50),
    p99: percentile(tally.times, 99),
  };
}

/** Yields requests until the time is over or the wanted number is reached. */
function requestsOf(input: ClientInput): (thread: number) => Request | undefined {
  const { origin, method, headers, requests, write, first = 0, start = 0 } = input;
  const written = write === undefined ? undefined : randomBytes(write.body);
  const body = input.body === undefined ? undefined : randomBytes(input.body);
  const client = Deno.createHttpClient({
    http2: false,
    poolMaxIdlePerHost: input.reconnect ? 0 : input.connections,
    ...(input.authority === undefined ? {} : { caCerts: [input.authority] }),
  });
  const end = performance.now() + input.seconds * 1000;
  let n = start;
  return (thread) => {
    if (requests === undefined ? performance.now() >= end : n - start >= requests) return undefined;
    const place = input.isScattered ? n * STRIDE : n;
    const number = first + (input.cycle === undefined ? place : place % input.cycle);
    const isWrite = write !== undefined && n % write.every === 0;
    n++;
    if (isWrite) {
      const url = origin + write.target.replace("{n}", String(n));
      const init = { method: "POST", headers, client, body: written ?? null };
      return new Request(url, init);
    }
    const target = input.target
      .replace("{n}", String(number))
      .replace("{d}", String(number % 10))
      .replace("{t}", String(thread));
    const init = { method, headers, client, ...(body === undefined ? {} : { body }) };
    return new Request(origin + target, init);
  };
}

async function exchange(request: Request, tally: Tally): Promise<void> {
  const started = performance.now();
  const response = await fetch(request);
  let bytes = 0;
  for await (const piece of response.body ?? []) bytes += piece.byteLength;
  if (!response.ok) throw new Error(`${request.url} answered ${response.status}`);
  tally.bytes += bytes;
  tally.times.push(performance.now() - started);
}
