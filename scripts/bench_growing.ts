/**
 * Measures what more processes and a shared store give and cost: `deno run -A scripts/bench_growing.ts [ROUNDS [WAYS]]`,
 * with `denokv` in the PATH or named by DENOKV. `WAYS` is a text that the names of the ways to measure have. Each round measures every way to run it, in another order than the one before.
 *
 * @module
 */

import { join } from "@std/path/join";
import { Denokv, DENOKV_TOKEN } from "../tests/support/store/denokv.ts";
import { findLoadGenerator, type Load, type LoadResult } from "./bench/load.ts";
import { machineLine } from "./bench/report.ts";
import { Scope } from "./bench/scope.ts";
import { checkoutsOf, Server, storeAndCheck, target } from "./bench/server.ts";

const KIB = 2 ** 10;
const MIB = 2 ** 20;

/** A way to run it, how many servers share the load, and how many processes each of them has. */
interface Way {
  name: string;
  isShared: boolean;
  servers: number;
  processes: number;
}

const WAYS: readonly Way[] = [
  { name: "1 process, file", isShared: false, servers: 1, processes: 1 },
  { name: "2 processes on a port, file", isShared: false, servers: 1, processes: 2 },
  { name: "2 servers, one file", isShared: false, servers: 2, processes: 1 },
  { name: "1 process, denokv", isShared: true, servers: 1, processes: 1 },
  { name: "2 servers, denokv", isShared: true, servers: 2, processes: 1 },
].filter(({ name }) => name.includes(Deno.args[1] ?? ""));

interface Work {
  name: string;
  load: Omit<Load, "origin" | "connections" | "seconds">;
  /** Of all servers together. */
  connections: number;
  of: (result: LoadResult) => number;
}

const perSecond = (result: LoadResult): number => result.perSecond;
const megabytes = (result: LoadResult): number => result.megabytesPerSecond;

const WORK: readonly Work[] = [
  {
    name: "upload 4 KiB, req/s",
    load: { method: "POST", target: target.file("new-{n}"), body: 4 * KIB },
    connections: 64,
    of: perSecond,
  },
  {
    name: "download 4 KiB, req/s",
    load: { method: "GET", target: target.download("small") },
    connections: 32,
    of: perSecond,
  },
  {
    name: "upload 10 MiB, MB/s",
    load: { method: "POST", target: target.file("up-{n}"), cycle: 4, body: 10 * MIB },
    connections: 4,
    of: megabytes,
  },
  {
    name: "download 10 MiB, MB/s",
    load: { method: "GET", target: target.download("large") },
    connections: 4,
    of: megabytes,
  },
];

/** Measures all work in one way. @returns a figure for each. */
async function measure(way: Way): Promise<number[]> {
  await using scope = await Scope.open();
  const { current } = await checkoutsOf(scope, undefined);
  const { run } = await findLoadGenerator(undefined);
  const data = await scope.makeFolder();
  await using denokv = way.isShared ? await Denokv.start(join(data, "kvdrive.db")) : undefined;
  const servers: Server[] = [];
  for (let i = 0; i < way.servers; i++) {
    servers.push(
      denokv === undefined
        ? await Server.start(scope, current, data, { KVDRIVE_PROCESSES: String(way.processes) })
        : await Server.startShared(scope, current, {
          KVDRIVE_KV: denokv.url,
          DENO_KV_ACCESS_TOKEN: DENOKV_TOKEN,
        }),
    );
  }
  const [first] = servers;
  if (first === undefined) throw new Error("There is no server");
  await storeAndCheck(first, "small", 4 * KIB);
  await storeAndCheck(first, "large", 10 * MIB);
  const figures: number[] = [];
  for (const { load, connections, of } of WORK) {
    const results = await Promise.all(servers.map(({ origin }, i) => {
      // Each process has names of its own: what many write at once is another question.
      const ownTarget = load.method === "POST" ? `${load.target}-${i}` : load.target;
      const share = connections / servers.length;
      return run(scope, { ...load, origin, target: ownTarget, connections: share, seconds: 2 });
    }));
    figures.push(results.map(of).reduce((sum, figure) => sum + figure, 0));
  }
  return figures;
}

function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? NaN;
}

const rounds = Number(Deno.args[0] ?? 3);
Deno.env.set("KVDRIVE_TEST_DENOKV", Deno.env.get("DENOKV") || "denokv");
const results = new Map<Way, number[][]>(WAYS.map((way) => [way, []]));
for (let round = 0; round < rounds; round++) {
  const order = round % 2 === 0 ? WAYS : WAYS.toReversed();
  for (const way of order) results.get(way)?.push(await measure(way));
}
const lines = [await machineLine(), ["way", ...WORK.map(({ name }) => name)].join(" | ")];
for (const [way, figures] of results) {
  const medians = WORK.map((_, i) => median(figures.map((row) => row[i] ?? NaN)).toFixed(0));
  lines.push([way.name, ...medians].join(" | "));
}
await new Blob([`${lines.join("\n")}\n`]).stream().pipeTo(Deno.stdout.writable);
