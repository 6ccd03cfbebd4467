/**
 * Measures what snapshots cost: `deno run -A scripts/bench_backups.ts [MIB [TARGET]]`. It makes a store of that size (1024
 * if absent), takes its first snapshot, one with nothing changed and one with 1 % changed, and restores the last. Meanwhile
 * it measures small requests. The target is a folder unless it is given; then the environment has what it needs, such as
 * KVDRIVE_BACKUP_PASSPHRASE, and BACKUP_OPTIONS has further options of the command.
 *
 * @module
 */

import { join } from "@std/path/join";
import { runLoadWithKey } from "./bench/load.ts";
import { machineLine } from "./bench/report.ts";
import { Scope } from "./bench/scope.ts";
import {
  checkoutsOf,
  inDrive,
  randomBytes,
  Server,
  storeAndCheck,
  target,
} from "./bench/server.ts";

const MIB = 2 ** 20;

/** Bytes of a large file: the most that one request takes. */
const FILE_SIZE = 8 * MIB;
const SMALL_SIZE = 4096;
const SMALL_FILES = 1000;

/** Between two looks at the memory of a process, in milliseconds. */
const MEMORY_POLL = 10;

/** Runs of the small requests beside nothing, and beside a snapshot. */
const LOAD_SECONDS = 5;

interface Outcome {
  seconds: number;
  /** The most memory that the process had, in bytes. */
  memory: number;
  json: Record<string, unknown>;
}

const encoder = new TextEncoder();

async function print(text: string): Promise<void> {
  await new Blob([encoder.encode(`${text}\n`)]).stream().pipeTo(Deno.stdout.writable, {
    preventClose: true,
  });
}

/** Runs a command of the checkout, and watches its memory. */
async function run(scope: Scope, root: string, ...args: string[]): Promise<Outcome> {
  const began = performance.now();
  const command = ["run", "--no-prompt", "-A", "main.ts", ...args, "--json"];
  const child = scope.spawn(Deno.execPath(), { args: command, cwd: root, stdout: "piped" });
  let memory = 0;
  const timer = setInterval(() => memory = Math.max(memory, peakOf(child.pid)), MEMORY_POLL);
  const output = new Response(child.stdout).text();
  const { success, code } = await child.status;
  clearInterval(timer);
  const seconds = (performance.now() - began) / 1000;
  if (!success) throw new Error(`kvdrive ${args.join(" ")} ended with ${code}`);
  return { seconds, memory, json: JSON.parse(await output) };
}

function peakOf(pid: number): number {
  try {
    const [, kilobytes = "0"] =
      /^VmHWM:\s+(\d+) kB$/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`)) ?? [];
    return Number(kilobytes) * 1024;
  } catch (error) {
    // It has ended.
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

async function fill(server: Server, files: number): Promise<void> {
  for (let i = 0; i < files; i++) await putLarge(server, i);
  for (let i = 0; i < SMALL_FILES; i++) {
    await server.call(201, "POST", inDrive("small", `/files?name=f-${i}`), randomBytes(SMALL_SIZE));
  }
}

async function putLarge(server: Server, i: number): Promise<void> {
  await server.call(201, "POST", inDrive("large", `/files?name=f-${i}`), randomBytes(FILE_SIZE));
}

async function main(): Promise<void> {
  const files = Math.ceil(Number(Deno.args[0] ?? 1024) * MIB / FILE_SIZE);
  await using scope = await Scope.open();
  const { current } = await checkoutsOf(scope, undefined);
  const data = await scope.makeFolder();
  const server = await Server.start(scope, current, data);
  await fill(server, files);
  await storeAndCheck(server, "small", SMALL_SIZE);
  const size = files * FILE_SIZE;
  await print(`${await machineLine()}\n${files} files of ${FILE_SIZE} bytes`);
  const report = async (name: string, { seconds, memory, json }: Outcome, bytes?: number) => {
    const rate = bytes === undefined ? "" : `, ${(bytes / 1e6 / seconds).toFixed(0)} MB/s`;
    const added = json["added"] === undefined ? "" : `, ${json["added"]} bytes added`;
    await print(`${name}: ${seconds.toFixed(1)} s${rate}${added}, ${toMega(memory)} MB of memory`);
  };
  const to = Deno.args[1] ?? join(scope.folder, "repository");
  const options = (Deno.env.get("BACKUP_OPTIONS") ?? "").split(" ").filter(Boolean);
  const snapshot = (target = to) =>
    run(scope, current.root, "backup", "--to", target, "--data", data, ...options);
  await report("first snapshot", await snapshot(), size);
  await report("nothing changed", await snapshot());
  for (let i = 0; i < Math.ceil(files / 100); i++) await putLarge(server, i);
  await report("1 % changed", await snapshot());
  const requests = async (seconds: number) => {
    const { origin } = server;
    const download = { origin, method: "GET", target: target.download("small") } as const;
    return (await runLoadWithKey(scope, { ...download, connections: 8, seconds })).p99;
  };
  const alone = await requests(LOAD_SECONDS);
  if (Deno.args[1] === undefined) {
    let isRunning = true;
    const beside: number[] = [];
    const other = snapshot(join(scope.folder, "other")).finally(() => isRunning = false);
    while (isRunning) beside.push(await requests(LOAD_SECONDS));
    await report("first snapshot beside requests", await other, size);
    // The last run outlasts the snapshot.
    await print(
      `99th percentile of requests: ${alone.toFixed(2)} ms alone, beside it ${
        beside.slice(0, -1).map((one) => one.toFixed(2)).join(", ")
      }`,
    );
  }
  await server.stop();
  const restored = join(scope.folder, "restored");
  const from = ["restore", "--from", to, "--data", restored, ...options];
  await report("restore", await run(scope, current.root, ...from), size);
}

function toMega(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

await main();
