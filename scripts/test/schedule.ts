import type { TestFiles } from "./test_file.ts";

/** Folders in `tests/` whose tests need other programs. Each has a task of its own in deno.json. */
const OTHER_TASKS = [
  ...["acme", "browser", "clients", "faults", "proxy", "remote", "s3", "soak"],
  "webdav_clients",
];

/** How the names of files end whose tests take many seconds of computing. */
const SLOW = "_slow_test.ts";

/** Folders in `tests/` whose tests start hundreds of processes. */
const SLOW_FOLDERS = ["cli", "server", "store"];

/** How many quick files share a process, and in black-box tests a server. */
const BLACK_BOX_TESTS = 8;
const UNIT_TESTS = 60;

/**
 * Files that take long and mostly wait, the longest first. They are begun first, beside the others, which keep the processor
 * busy meanwhile.
 */
export const LONG: readonly string[] = [
  "tests/faults/reclaim_test.ts",
  "tests/store/two_servers_slow_test.ts",
  "scripts/cold_start_slow_test.ts",
  "tests/faults/clock_test.ts",
  "tests/faults/certificates_test.ts",
  "tests/server/https_slow_test.ts",
  "tests/store/backup_moment_slow_test.ts",
  "tests/faults/expiry_test.ts",
  "tests/faults/stalled_connections_test.ts",
  "tests/faults/slow_senders_test.ts",
];

/** Quick files that mostly wait. They share a process that is begun first. */
export const WAITING: ReadonlySet<string> = new Set([
  "tests/api/files/expiring_files_test.ts",
  "tests/webhooks/deliveries_test.ts",
  "tests/webhooks/receivers_test.ts",
]);

/** How many processes that mostly wait run at the same time. */
export const LONG_JOBS = 3;

/** Files that measure memory or how fast the whole machine is, or use up what it has. They run last, one after the other. */
export const ALONE: ReadonlySet<string> = new Set([
  "tests/browser/files_many_test.ts",
  "tests/browser/throttled_test.ts",
  "tests/faults/connections_test.ts",
  "tests/faults/locked_store_test.ts",
  "tests/faults/memory_test.ts",
  "tests/store/expiry_slow_test.ts",
]);

/** Whether a file takes long. */
export function isSlow(file: string): boolean {
  return file.endsWith(SLOW) || isIn(file, SLOW_FOLDERS);
}

/** Whether a file needs other programs. */
export function isOfOtherTask(file: string): boolean {
  return isIn(file, OTHER_TASKS);
}

/** @param folders Folders in `tests/`. */
function isIn(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => file.startsWith(`tests/${folder}/`));
}

/** Test files that run in processes of their own, or share one. */
export interface Plan {
  /** Begun first, beside the others. */
  long: TestFiles[];
  others: TestFiles[];
  /** Run last, with nothing beside them. */
  alone: TestFiles[];
}

/** Plans which files share a process, and when it runs. */
export function planProcesses(files: readonly string[]): Plan {
  const known = new Set([...LONG, ...WAITING, ...ALONE]);
  return {
    long: [
      ...chunksOf(files.filter((file) => WAITING.has(file)), WAITING.size),
      ...inOwnProcesses(LONG.filter((file) => files.includes(file))),
    ],
    others: inProcesses(files.filter((file) => !known.has(file))),
    alone: inOwnProcesses(files.filter((file) => ALONE.has(file))),
  };
}

/** Distributes files to processes. Quick ones share them; those that take long or need other programs have their own. */
function inProcesses(files: readonly string[]): TestFiles[] {
  const isAlone = (file: string) => isSlow(file) || isOfOtherTask(file);
  const quick = files.filter((file) => !isAlone(file));
  const isBlackBox = (file: string) => file.startsWith("tests/");
  return [
    // The largest come first.
    ...chunksOf(quick.filter((file) => !isBlackBox(file)), UNIT_TESTS),
    ...chunksOf(quick.filter(isBlackBox), BLACK_BOX_TESTS),
    ...inOwnProcesses(files.filter(isAlone)),
  ];
}

function inOwnProcesses(files: readonly string[]): TestFiles[] {
  return files.map((file) => [file]);
}

function chunksOf(files: readonly string[], size: number): TestFiles[] {
  const chunks: TestFiles[] = [];
  for (let i = 0; i < files.length; i += size) {
    const [first, ...others] = files.slice(i, i + size);
    if (first !== undefined) chunks.push([first, ...others]);
  }
  return chunks;
}
