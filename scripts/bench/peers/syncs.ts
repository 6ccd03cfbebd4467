import { delay } from "@std/async/delay";
import { join } from "@std/path/join";
import { runLoad } from "../load.ts";
import type { Scope } from "../scope.ts";
import type { Peer } from "./peer.ts";
import { freeNumbers, SYNC_ROWS } from "./rows.ts";
import { makeBucket, storeFiles } from "./stored.ts";

/** Calls that return once bytes are on the disk, and openings of files whose every write does so. */
const TRACED = "open,openat,fsync,fdatasync,sync_file_range,msync,sync,syncfs";

/** A line of strace that counts. The rest of a call that was interrupted is on a line of its own, which does not. */
const SYNC =
  /^\d+ +(f?sync|fdatasync|sync_file_range|syncfs)\(|^\d+ +msync\(.*MS_SYNC|\bO_D?SYNC\b/;

const STRACE = ["strace", "-D", "-f", "--seccomp-bpf", "-qq"];

/** Milliseconds until strace has written what it saw. */
const SETTLE = 200;

/** Traces a server on new data. Returns the calls for each upload, of `SYNC_ROWS` up to the first that it does not support. */
export async function measureSyncs(parent: Scope, peer: Peer): Promise<number[]> {
  await using scope = await parent.nested();
  const trace = join(await scope.makeFolder(), "trace");
  // The tracer is a child of the server, so that the server can be stopped, and stops only at these calls.
  const tracer = [...STRACE, "-o", trace, "-e", `trace=${TRACED}`];
  const server = await peer.start({ scope, data: await scope.makeFolder(), tracer });
  await server.setUp();
  const stored = await storeFiles(server, false);
  if (server.s3 !== undefined) await makeBucket(server.s3);
  const found: number[] = [];
  const from = freeNumbers();
  for (const row of SYNC_ROWS) {
    const load = row.loadOf({ server, stored, from: from() });
    if (load === undefined) break;
    await delay(SETTLE);
    const before = (await Deno.stat(trace)).size;
    const { requests } = await runLoad(scope, load);
    await delay(SETTLE);
    const text = new TextDecoder().decode((await Deno.readFile(trace)).subarray(before));
    found.push(text.split("\n").filter((line) => SYNC.test(line)).length / requests);
  }
  await server.process.stop();
  return found;
}

/** Whether strace is installed and may trace other processes. */
export async function canTrace(): Promise<boolean> {
  const [program = "", ...args] = [...STRACE, "-o", "/dev/null", "-e", "trace=fsync", "true"];
  try {
    return (await new Deno.Command(program, { args }).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
