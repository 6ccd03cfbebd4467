import { assertEquals } from "@std/assert";
import { ClientError, fileError } from "../errors.ts";
import { TransferReport } from "../transfers.ts";
import { Blocked, type Change, synchronize, type SyncOptions, type SyncSides } from "./sync.ts";
import { type FileEntry, type ProblemEntry, type TreeEntry } from "./tree.ts";

const PLAIN: SyncOptions = {
  deletes: true,
  allowsEmpty: false,
  comparesBytes: false,
  isDryRun: false,
  concurrency: 3,
};

/** Two trees in memory. The contents of files are numbers, and their sizes are these. */
class MemorySides implements SyncSides {
  readonly place = { drive: "d", prefix: "p/" };
  readonly calls: string[] = [];
  problems: ProblemEntry[] = [];
  /** What sending a file throws. */
  failures = new Map<string, unknown>();

  constructor(readonly here: Map<string, number>, readonly there: Map<string, number>) {}

  async *source(): AsyncGenerator<TreeEntry> {
    const entries = [...entriesOf(this.here), ...this.problems];
    yield* entries.sort((a, b) => a.name < b.name ? -1 : 1);
  }

  async *target(): AsyncGenerator<TreeEntry> {
    yield* entriesOf(this.there);
  }

  hasSameTime(): boolean {
    return true;
  }

  hasSameBytes(): Promise<boolean | undefined> {
    return Promise.resolve(undefined);
  }

  send({ name, size }: FileEntry): Promise<number | undefined> {
    this.calls.push(`send ${name}`);
    const failure = this.failures.get(name);
    if (failure instanceof Blocked && !this.there.has(`${name}/`)) this.failures.delete(name);
    else if (failure !== undefined) return Promise.reject(failure);
    if (!this.here.has(name)) return Promise.resolve(undefined);
    this.there.set(name, size);
    return Promise.resolve(size);
  }

  makeFolder(name: string): Promise<void> {
    this.there.set(name, 0);
    return Promise.resolve();
  }

  remove(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    this.calls.push(...names.map((name) => `remove ${name}`));
    for (const name of names) this.there.delete(name);
    return Promise.resolve(new Map());
  }

  cleanUp(): Promise<void> {
    this.calls.push("clean up");
    return Promise.resolve();
  }
}

function entriesOf(tree: Map<string, number>): TreeEntry[] {
  const entries = [...tree].map(([name, size]): TreeEntry =>
    name.endsWith("/")
      ? {
        kind: "folder",
        name,
        isEmpty: ![...tree.keys()].some((one) => one !== name && one.startsWith(name)),
      }
      : { kind: "file", name, size, time: 0 }
  );
  return entries.sort((a, b) => a.name < b.name ? -1 : 1);
}

function sidesOf(here: Record<string, number>, there: Record<string, number>): MemorySides {
  return new MemorySides(new Map(Object.entries(here)), new Map(Object.entries(there)));
}

async function run(sides: MemorySides, options: Partial<SyncOptions> = {}) {
  const report = new TransferReport();
  const changes: Change[] = [];
  const onChange = (change: Change) => void changes.push(change);
  const result = await synchronize(sides, report, { ...PLAIN, onChange, ...options });
  return { report, result, changes };
}

Deno.test("The target becomes like the source, and deletions come last", async () => {
  const sides = sidesOf({ a: 1, "b/c": 2, "e/": 0 }, { a: 1, "b/c": 3, "d/": 0, "d/x": 1 });
  const { report, result } = await run(sides);
  assertEquals(sides.calls, ["send b/c", "clean up", "remove d/x", "remove d/"]);
  assertEquals([...sides.there.keys()].sort(), ["a", "b/c", "e/"]);
  assertEquals([report.done, report.unchanged, report.folders, result.deleted], [1, 1, 1, 1]);
});

Deno.test("A failure keeps what would be deleted", async () => {
  const sides = sidesOf({ a: 1 }, { b: 1 });
  sides.failures.set("a", new ClientError("no"));
  const { report, result } = await run(sides);
  assertEquals([...sides.there.keys()], ["b"]);
  assertEquals([report.failed.map(({ name }) => name), result.deleted], [["p/a"], 0]);
  assertEquals(/not everything/.test(result.kept ?? ""), true);
});

Deno.test("A source that cannot be read completely keeps what would be deleted", async () => {
  const sides = sidesOf({ a: 1 }, { b: 1, "c/x": 1 });
  const problem = { kind: "problem", name: "c/", reason: "denied", effect: "unreadable" } as const;
  sides.problems = [problem];
  const { result } = await run(sides);
  assertEquals([[...sides.there.keys()], result.deleted], [["b", "c/x", "a"], 0]);
});

Deno.test("Names that the target cannot hold keep nothing", async () => {
  const sides = sidesOf({ a: 1 }, { b: 1 });
  sides.problems = [{ kind: "problem", name: "c", reason: "bad", effect: "unsuitable" }];
  const { report, result } = await run(sides);
  assertEquals([result.deleted, report.leftOut, report.failed.length], [1, 1, 0]);
});

Deno.test("A source without files empties the target only if that is allowed", async () => {
  const { result } = await run(sidesOf({ "e/": 0 }, { b: 1 }));
  assertEquals([result.deleted, /--yes/.test(result.kept ?? "")], [0, true]);
  const allowed = await run(sidesOf({}, { b: 1 }), { allowsEmpty: true });
  assertEquals(allowed.result, { deleted: 1 });
  const nothing = await run(sidesOf({}, {}));
  assertEquals(nothing.result, { deleted: 0 });
});

Deno.test("What was blocked is sent after the deletions", async () => {
  const sides = sidesOf({ a: 1 }, { "a/": 0, "a/x": 1 });
  sides.failures.set("a", new Blocked("a is a folder"));
  const { report, result } = await run(sides);
  assertEquals(sides.calls, ["send a", "clean up", "remove a/x", "remove a/", "send a"]);
  assertEquals([report.failed.length, result.deleted, [...sides.there.keys()]], [0, 1, ["a"]]);
  const kept = sidesOf({ a: 1 }, { "a/": 0, "a/x": 1 });
  kept.failures.set("a", new Blocked("a is a folder"));
  const { report: failed } = await run(kept, { deletes: false });
  assertEquals(failed.failed.map(({ reason }) => reason), ["a is a folder"]);
});

Deno.test("A full disk ends the run", async () => {
  const sides = sidesOf({ a: 1, b: 2 }, {});
  const full = Object.assign(new Error("No space left on device (os error 28)"), {
    code: "ENOSPC",
  });
  sides.failures.set("a", fileError("write", "a", full));
  let message = "";
  await run(sides, { concurrency: 1 }).catch((error) => message = String(error));
  assertEquals(message, "ClientError: Cannot write a: No space left on device");
});

Deno.test("A dry run changes nothing and tells everything", async () => {
  const sides = sidesOf({ a: 1, "e/": 0 }, { b: 1 });
  const { changes, result } = await run(sides, { isDryRun: true });
  assertEquals(sides.calls, []);
  assertEquals(changes.map(({ kind, name }) => `${kind} ${name}`), [
    "sent p/a",
    "created p/e/",
    "deleted p/b",
  ]);
  assertEquals(result.deleted, 1);
});
