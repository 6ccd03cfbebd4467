import { delay } from "@std/async/delay";
import { join } from "@std/path/join";
import type { Scope } from "../scope.ts";
import type { Peer } from "./peer.ts";
import { SYNC_ROWS } from "./rows.ts";
import { runLoad } from "./s3_load.ts";
import { makeBucket } from "./servers/s3_bucket.ts";
import { FREE_NUMBERS, storeFiles } from "./stored.ts";

/** Calls that return once bytes are on the disk, and openings of files whose every write does so. */
const TRACED = "open,openat,fsync,fdatasync,sync_file_range,msync,sync,syncfs";

/** What a line of strace is counted as. The rest of a call that was interrupted stands on a line of its own, which is not. */
const COUNTED: readonly [name: string, pattern: RegExp][] = [
  ["fsync", /^\d+ +fsync\(/],
  ["fdatasync", /^\d+ +fdatasync\(/],
  ["sync_file_range", /^\d+ +sync_file_range\(/],
  ["msync", /^\d+ +msync\(.*MS_SYNC/],
  ["sync", /^\d+ +sync(fs)?\(/],
  ["open with O_DSYNC", /^\d+ +open(at)?\(.*[ |]O_DSYNC\b/],
  ["open with O_SYNC", /^\d+ +open(at)?\(.*[ |]O_SYNC\b/],
];

/** Counts the calls in the output of `strace -f -o`, by name. Calls that did not occur are left out. */
export function countSyncs(trace: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of trace.split("\n")) {
    for (const [name, pattern] of COUNTED) {
      if (pattern.test(line)) counts[name] = (counts[name] ?? 0) + 1;
    }
  }
  return counts;
}

/** Calls for each acknowledged upload, by name. */
export type SyncsPerWrite = Readonly<Record<string, number>>;

/** Seconds of each load. */
const TIME = 1;

/** Milliseconds until strace has written what it saw. */
const SETTLE = 200;

/** Traces a server on new data. @returns counts for the rows of `SYNC_ROWS` up to the first one that it does not support. */
export async function measureSyncs(parent: Scope, peer: Peer): Promise<SyncsPerWrite[]> {
  await using scope = await parent.nested();
  const trace = join(await scope.makeFolder(), "trace");
  // The tracer is a child of the server, so that the server can be stopped, and stops only at these calls.
  const options = ["-D", "-f", "--seccomp-bpf", "-qq", "-o", trace, "-e", `trace=${TRACED}`];
  const site = { scope, data: await scope.makeFolder(), tracer: ["strace", ...options] };
  const server = await peer.start(site);
  if (server.upload === undefined) {
    await server.process.stop();
    return [];
  }
  await server.setUp();
  const stored = await storeFiles(server, false);
  if (server.s3 !== undefined) await makeBucket(server.s3);
  const found: SyncsPerWrite[] = [];
  for (const [index, row] of SYNC_ROWS.entries()) {
    const load = row.loadOf({ server, stored, from: FREE_NUMBERS * (index + 1) }, TIME);
    if (load === undefined) break;
    await delay(SETTLE);
    const before = (await Deno.stat(trace)).size;
    const { requests } = await runLoad(scope, load);
    await delay(SETTLE);
    const text = new TextDecoder().decode((await Deno.readFile(trace)).subarray(before));
    const counts = Object.entries(countSyncs(text));
    found.push(Object.fromEntries(counts.map(([name, count]) => [name, count / requests])));
  }
  await server.process.stop();
  return found;
}

/** Whether strace is installed and may trace other processes. */
export async function canTrace(scope: Scope): Promise<boolean> {
  const options = ["-D", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=fsync"];
  try {
    const traced = scope.spawn("strace", {
      args: [...options, "true"],
      stdout: "null",
      stderr: "null",
    });
    return (await traced.status).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
