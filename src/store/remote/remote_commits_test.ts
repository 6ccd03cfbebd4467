import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { SECOND } from "../../rules/units.ts";
import type { Commits } from "../engine/commits.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { GroupCommitter } from "../engine/group_commit.ts";
import { Operation } from "../engine/operation.ts";
import { loseAnswers, withKv } from "../testing/stores.ts";
import { until } from "../testing/time.ts";
import { Reachability } from "./reachability.ts";
import { REMOTE_OWN_CHECKS, remoteCommits } from "./remote_commits.ts";

/** Runs a test with commits to a store that loses answers. */
async function withCommits(
  isLost: () => boolean,
  test: (commits: Commits, kv: Deno.Kv) => Promise<void>,
): Promise<void> {
  await withKv(async (kv) => {
    loseAnswers(kv, isLost);
    await test(remoteCommits(() => kv, new Reachability(() => kv.get([""])), 30 * SECOND), kv);
  });
}

/** Makes the next commit fail with an error, after or before it is applied. */
function breakNext(kv: Deno.Kv, error: unknown, { isDone }: { isDone: boolean }): void {
  const { atomic } = kv;
  kv.atomic = () => {
    kv.atomic = atomic;
    const operation = atomic();
    const { commit } = operation;
    operation.commit = async () => {
      if (isDone) await commit();
      throw error;
    };
    return operation;
  };
}

const BROKEN = new Error("KV Connect failed to read response body: the connection was closed");

Deno.test("A commit with a lost answer is recognized and keeps its versionstamp", async () => {
  await withCommits(() => true, async (commits, kv) => {
    const outcome = await commits.once(new Operation().check(["a"], null).set(["a"], 1));
    assert(outcome.ok);
    assertEquals(outcome.versionstamp, (await kv.get(["a"])).versionstamp);
    const next = new Operation().check(["a"], outcome.versionstamp).delete(["a"]);
    assertEquals((await commits.once(next)).ok, true);
    assertEquals((await kv.get(["a"])).value, null);
  });
});

Deno.test("A sum counts once, also if the answer was lost", async () => {
  let commits = 0;
  await withCommits(() => commits++ % 2 === 0, async ({ once }, kv) => {
    for (let i = 0; i < 10; i++) await once(new Operation().sum(["n"], 2));
    assertEquals((await kv.get(["n"])).value, new Deno.KvU64(20n));
  });
});

Deno.test("A commit with a failed check is refused, also if the answer was lost", async () => {
  await withCommits(() => true, async ({ once }, kv) => {
    await kv.set(["a"], "another");
    const outcome = await once(new Operation().check(["a"], null).set(["a"], 1).sum(["n"], 1));
    assertEquals(outcome, { ok: false });
    assertEquals((await kv.get(["a"])).value, "another");
    assertEquals((await kv.get(["n"])).value, null);
  });
});

Deno.test("After a broken answer the store is asked whether the commit was applied", async () => {
  await withCommits(() => false, async ({ once }, kv) => {
    breakNext(kv, BROKEN, { isDone: true });
    assertEquals((await once(new Operation().sum(["n"], 1))).ok, true);
    breakNext(kv, BROKEN, { isDone: false });
    await assertRejects(() => once(new Operation().sum(["n"], 1)), StoreUnavailable);
    assertEquals((await kv.get(["n"])).value, new Deno.KvU64(1n));
  });
});

Deno.test("An error about an invalid operation is passed on", async () => {
  await withCommits(() => false, async ({ once }, kv) => {
    const refusal = new Error("KV Connect failed to call … (status=400 Bad Request): Too many");
    breakNext(kv, refusal, { isDone: false });
    const error = await assertRejects(() => once(new Operation().set(["a"], 1)), Error);
    assertEquals(error, refusal);
  });
});

Deno.test("Operations that share a commit with a lost answer get their own outcomes", async () => {
  await withCommits(() => true, async (commits, kv) => {
    await kv.set(["taken", 3], "another");
    const groups = new GroupCommitter(kv, commits);
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, i) => {
        const key = i === 3 ? ["taken", 3] : ["free", i];
        return groups.commit(new Operation().check(key, null).set(key, i).sum(["n"], 1));
      }),
    );
    assertEquals(outcomes.map(({ ok }) => ok), Array.from({ length: 30 }, (_, i) => i !== 3));
    assertEquals((await kv.get(["n"])).value, new Deno.KvU64(29n));
  });
});

Deno.test("An operation may have one check less than the store allows", async () => {
  await withCommits(() => false, async ({ once, checks }) => {
    const checking = (count: number) => {
      const operation = new Operation().set(["a"], 1);
      for (let i = 0; i < count; i++) operation.check(["b", i], null);
      return operation;
    };
    assertEquals(checks, REMOTE_OWN_CHECKS);
    assertEquals((await once(checking(checks))).ok, true);
    assertInstanceOf(await once(checking(checks + 1)).catch((error) => error), RangeError);
  });
});

/** Holds back the next commit. Returns a function that sends it and returns its outcome. */
function holdNext(kv: Deno.Kv): () => Promise<unknown> {
  const { atomic } = kv;
  const go = Promise.withResolvers<void>();
  let outcome: Promise<unknown> = Promise.resolve();
  kv.atomic = () => {
    kv.atomic = atomic;
    const operation = atomic.call(kv);
    const { commit } = operation;
    operation.commit = () => {
      const late = go.promise.then(() => commit.call(operation));
      outcome = late;
      return late;
    };
    return operation;
  };
  return () => {
    go.resolve();
    return outcome;
  };
}

Deno.test("A commit after its deadline fails for the caller and may be applied later", async () => {
  await withKv(async (kv) => {
    const reachability = new Reachability(() => new Promise(() => {}));
    const { once } = remoteCommits(() => kv, reachability, 1);
    const go = holdNext(kv);
    await assertRejects(() => once(new Operation().set(["a"], 1)), StoreUnavailable);
    await go();
    assertEquals((await kv.get(["a"])).value, 1);
    reachability[Symbol.dispose]();
  });
});

Deno.test("A commit after its deadline is not applied once the store is back", async () => {
  await withKv(async (kv) => {
    const reachability = new Reachability(() => kv.get([""]));
    const { once } = remoteCommits(() => kv, reachability, 1);
    const go = holdNext(kv);
    await assertRejects(() => once(new Operation().set(["a"], 1)), StoreUnavailable);
    await until(async () => (await Array.fromAsync(kv.list({ prefix: ["commit"] }))).length === 1);
    assertEquals(await go(), { ok: false });
    assertEquals((await kv.get(["a"])).value, null);
    reachability[Symbol.dispose]();
  });
});
