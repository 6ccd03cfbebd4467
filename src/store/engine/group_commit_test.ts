import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { StoreFull } from "../disk/disk_space.ts";
import { openRecords } from "../testing/stores.ts";
import { embeddedCommits, GROUP_COMMITS, type Outcome } from "./commits.ts";
import { GroupCommitter } from "./group_commit.ts";
import { MAX_COMMIT_CHECKS, MAX_COMMIT_MUTATIONS, Operation, SharedCheck } from "./operation.ts";
import { CHUNK_SIZE } from "./records.ts";

/** The content of a commit. */
interface Commit {
  checks: number;
  keys: string[];
  bytes: number;
}

/** A store in memory that records its commits. */
class WatchedStore implements Disposable {
  readonly commits: Commit[] = [];
  mostInFlight = 0;
  #inFlight = 0;
  readonly kv: Deno.Kv;
  readonly groups: GroupCommitter;

  /** @param before Runs before each commit, which fails with its error. */
  private constructor(kv: Deno.Kv, before: (commit: Commit) => void) {
    this.kv = kv;
    this.groups = new GroupCommitter(kv, embeddedCommits(kv));
    const atomic = kv.atomic.bind(kv);
    kv.atomic = () => this.#watch(atomic(), before);
  }

  static async open(before: (commit: Commit) => void = () => {}): Promise<WatchedStore> {
    return new WatchedStore(await openRecords(), before);
  }

  #watch(operation: Deno.AtomicOperation, before: (commit: Commit) => void): Deno.AtomicOperation {
    const commit: Commit = { checks: 0, keys: [], bytes: 0 };
    const { check, set, delete: remove, sum, commit: run } = operation;
    operation.check = (...checks) => {
      commit.checks += checks.length;
      return check.apply(operation, checks);
    };
    operation.set = (key, value, options) => {
      commit.keys.push(JSON.stringify(key));
      commit.bytes += value instanceof Uint8Array ? value.byteLength : 0;
      return set.call(operation, key, value, options);
    };
    operation.delete = (key) => {
      commit.keys.push(JSON.stringify(key));
      return remove.call(operation, key);
    };
    operation.sum = (key, by) => {
      commit.keys.push(JSON.stringify(key));
      return sum.call(operation, key, by);
    };
    operation.commit = async () => {
      this.commits.push(commit);
      this.mostInFlight = Math.max(this.mostInFlight, ++this.#inFlight);
      try {
        before(commit);
        return await run.call(operation);
      } finally {
        this.#inFlight--;
      }
    };
    return operation;
  }

  async commitAll(operations: readonly Operation[]): Promise<PromiseSettledResult<Outcome>[]> {
    return await Promise.allSettled(operations.map((one) => this.groups.commit(one)));
  }

  async value(...key: Deno.KvKey): Promise<unknown> {
    return (await this.kv.get(key)).value;
  }

  [Symbol.dispose](): void {
    this.kv.close();
  }
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** Returns which operations were applied. */
function happened(results: readonly PromiseSettledResult<Outcome>[]): boolean[] {
  return results.map((result) => result.status === "fulfilled" && result.value.ok);
}

Deno.test("Many small operations share few commits, of which two are in flight", async () => {
  using store = await WatchedStore.open();
  const operations = times(200, (i) => new Operation().check(["a", i], null).set(["a", i], i));
  const results = await store.commitAll(operations);
  assertEquals(happened(results), times(200, () => true));
  assertEquals(store.commits.length, Math.ceil(200 / MAX_COMMIT_CHECKS));
  assertEquals(store.mostInFlight, GROUP_COMMITS);
  assertEquals(await Promise.all(times(200, (i) => store.value("a", i))), times(200, (i) => i));
});

Deno.test("Operations with the same shared check are grouped: 64 small files are one commit", async () => {
  using store = await WatchedStore.open();
  const { versionstamp } = await store.kv.set(["project"], 1);
  const operations = times(
    64,
    (i) =>
      new Operation().share(new SharedCheck(["project"], versionstamp))
        .check(["file", i], null)
        .set(["file", i], i)
        .sum(["files"], 1),
  );
  assertEquals(happened(await store.commitAll(operations)), times(64, () => true));
  assertEquals(store.commits.map(({ checks }) => checks), [64 + 1]);
  assertEquals(await store.value("files"), new Deno.KvU64(64n));
});

Deno.test("If the shared check of some members fails, the others are applied", async () => {
  using store = await WatchedStore.open();
  const { versionstamp } = await store.kv.set(["project"], 1);
  const check = (i: number) =>
    i % 3 === 1 ? new SharedCheck(["project"], null) : new SharedCheck(["project"], versionstamp);
  const results = await store.commitAll(
    times(20, (i) => new Operation().share(check(i)).set(["file", i], i)),
  );
  assertEquals(happened(results), times(20, (i) => i % 3 !== 1));
});

Deno.test("A single operation is committed at once", async () => {
  using store = await WatchedStore.open();
  for (let i = 0; i < 3; i++) {
    assertEquals((await store.groups.commit(new Operation().set(["a"], i))).ok, true);
    assertEquals([store.commits.length, await store.value("a")], [i + 1, i]);
  }
});

Deno.test("A failed check refuses only its own operation", async () => {
  using store = await WatchedStore.open();
  const wrong = "00000000000000010000";
  const operations = times(
    40,
    (i) => new Operation().check(["a", i], i % 13 === 7 ? wrong : null).set(["a", i], i),
  );
  const results = await store.commitAll(operations);
  const wanted = times(40, (i) => i % 13 !== 7);
  assertEquals(happened(results), wanted);
  const values = await Promise.all(times(40, (i) => store.value("a", i)));
  assertEquals(values, wanted.map((right, i) => right ? i : null));
  // One commit with the operations that fail, and one without.
  assertEquals(store.commits.map(({ checks }) => checks), [40, 37]);
});

Deno.test("Operations on the same key never share a commit and keep their order", async () => {
  using store = await WatchedStore.open();
  const results = await store.commitAll(
    times(60, (i) => new Operation().set(["same", i % 5], i).set(["own", i], i)),
  );
  assertEquals(happened(results), times(60, () => true));
  for (const { keys } of store.commits) assertEquals(new Set(keys).size, keys.length);
  assert(store.commits.length < 30, String(store.commits.length));
  assertEquals(await Promise.all(times(5, (i) => store.value("same", i))), [55, 56, 57, 58, 59]);
});

Deno.test("An operation that checks a key and one that changes it do not share a commit", async () => {
  using store = await WatchedStore.open();
  const results = await store.commitAll([
    ...times(2, (i) => new Operation().set(["first", i], i)),
    new Operation().check(["a"], null).set(["b"], 1),
    new Operation().set(["a"], 1),
    new Operation().check(["a"], null).set(["c"], 1),
  ]);
  assertEquals(happened(results), [true, true, true, true, false]);
  assertEquals(await store.value("c"), null);
});

Deno.test("Sums of one counter are merged into one sum of the commit", async () => {
  using store = await WatchedStore.open();
  const steps = times(100, (i) => i % 3 === 0 ? -1 : 2);
  await store.commitAll(steps.map((by, i) => new Operation().set(["a", i], i).sum(["n"], by)));
  assert(store.commits.length <= 4, String(store.commits.length));
  for (const { keys } of store.commits) assertEquals(new Set(keys).size, keys.length);
  const total = steps.reduce((sum, by) => sum + by, 0);
  assertEquals(await store.value("n"), new Deno.KvU64(BigInt(total)));
});

Deno.test("No commit exceeds the limits of a group", async () => {
  using store = await WatchedStore.open();
  const chunk = new Uint8Array(CHUNK_SIZE);
  const operations = [
    ...times(30, (i) => new Operation().set(["chunk", i], chunk)),
    ...times(30, (i) => {
      const operation = new Operation();
      for (let n = 0; n < 100; n++) operation.delete(["gone", i, n]);
      return operation;
    }),
    ...times(300, (i) => new Operation().check(["a", i], null).set(["a", i], i)),
  ];
  assertEquals(happened(await store.commitAll(operations)), times(360, () => true));
  for (const { checks, keys, bytes } of store.commits) {
    assert(checks <= MAX_COMMIT_CHECKS && keys.length <= MAX_COMMIT_MUTATIONS && bytes <= 700_000);
  }
  assert(store.commits.length < 15, String(store.commits.length));
});

Deno.test("An operation larger than a group is committed alone", async () => {
  using store = await WatchedStore.open();
  const large = () =>
    times(12, (i) => i).reduce(
      (operation, i) => operation.set(["large", i], new Uint8Array(CHUNK_SIZE)),
      new Operation(),
    );
  const operations = [...times(4, (i) => new Operation().set(["a", i], i)), large()];
  assertEquals(happened(await store.commitAll(operations)), times(5, () => true));
  assertEquals(store.commits.at(-1)?.keys.length, 12);
});

Deno.test("An invalid operation fails without affecting its group", async () => {
  using store = await WatchedStore.open();
  const tooMany = new Operation();
  for (let i = 0; i <= MAX_COMMIT_MUTATIONS; i++) tooMany.delete(["b", i]);
  const tooLarge = new Operation().set(["c"], new Uint8Array(CHUNK_SIZE + 1));
  const operations = [
    ...times(5, (i) => new Operation().set(["a", i], i)),
    tooMany,
    tooLarge,
    ...times(5, (i) => new Operation().set(["a", i + 5], i)),
  ];
  const results = await store.commitAll(operations);
  assertEquals(happened(results), times(12, (i) => i !== 5 && i !== 6));
  const reasons = results.map((result) => result.status === "rejected" ? result.reason : null);
  assertInstanceOf(reasons[5], RangeError);
  assertInstanceOf(reasons[6], TypeError);
});

Deno.test("On a full disk all members of a group fail without a retry", async () => {
  using store = await WatchedStore.open(() => {
    throw new TypeError("database or disk is full");
  });
  const results = await store.commitAll(times(50, (i) => new Operation().set(["a", i], i)));
  for (const result of results) {
    assertEquals(result.status, "rejected");
    if (result.status === "rejected") assertInstanceOf(result.reason, StoreFull);
  }
  assertEquals(store.commits.length, 1);
});

Deno.test("On a full disk the uploads of a group are refused, and its deletions are committed together", async () => {
  using store = await WatchedStore.open(({ bytes }) => {
    if (bytes > 0) throw new TypeError("database or disk is full");
  });
  const results = await store.commitAll([
    new Operation().set(["bytes"], new Uint8Array(1000)),
    ...times(20, (i) => new Operation().delete(["a", i])),
  ]);
  assertEquals(results.map(({ status }) => status), [
    "rejected",
    ...times(20, () => "fulfilled"),
  ]);
  assertEquals(store.commits.length, 2);
});

Deno.test("After a failure the next operation is committed", async () => {
  let failing = true;
  using store = await WatchedStore.open(() => {
    if (failing) throw new TypeError("something else");
  });
  const commit = () => store.groups.commit(new Operation().set(["a"], 1));
  await assertRejects(commit, TypeError, "something else");
  failing = false;
  assertEquals((await commit()).ok, true);
});
