import { assert, assertEquals } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MIB } from "../../rules/units.ts";
import { TransferReport } from "../transfers.ts";
import { synchronize, type SyncSides } from "./sync.ts";
import type { TreeEntry } from "./tree.ts";

const NAMES = 1_000_000;
/** Bytes in use that a run may add to those at its start. */
const MAX_HEAP = 16 * MIB;

/** Names in order, all but those of which the number is a multiple of `skipped`. */
async function* tree(skipped: number, onEntry: (i: number) => void): AsyncGenerator<TreeEntry> {
  const folder = `${"a long name of a folder ".repeat(4)}/`;
  for (let i = 0; i < NAMES; i++) {
    onEntry(i);
    const name = `${folder}${String(i).padStart(9, "0")}.txt`;
    if (i % skipped !== 0) yield { kind: "file", name, size: 1, time: 0 };
  }
}

Deno.test("The memory of a run does not depend on the number of names", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  collect();
  const start = Deno.memoryUsage().heapUsed;
  let most = 0;
  const watchHeap = (i: number) => {
    if (i % 50_000 !== 0) return;
    collect();
    most = Math.max(most, Deno.memoryUsage().heapUsed - start);
  };
  let removed = 0;
  const sides: SyncSides = {
    place: { drive: "d", prefix: "" },
    source: () => tree(2, watchHeap),
    target: () => tree(3, () => {}),
    hasSameTime: () => true,
    hasSameBytes: () => Promise.resolve(undefined),
    send: () => Promise.resolve(1),
    makeFolder: () => Promise.resolve(),
    remove: (names) => {
      removed += names.length;
      watchHeap(removed);
      return Promise.resolve(new Map());
    },
  };
  const report = new TransferReport();
  const options = {
    deletes: true,
    allowsEmpty: false,
    comparesBytes: false,
    isDryRun: false,
    concurrency: 4,
  };
  await synchronize(sides, report, options);
  assertEquals([report.unchanged, report.done, removed], [333_333, 166_667, 333_333]);
  assert(most < MAX_HEAP, `The heap grew by ${Math.round(most / MIB)} MiB`);
});
