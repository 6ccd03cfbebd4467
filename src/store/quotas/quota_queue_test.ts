import { assertEquals, assertRejects } from "@std/assert";
import { QuotaExceeded } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { ProjectCache } from "../engine/project_cache.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { DRIVE } from "../testing/bodies.ts";
import { testOnAll } from "../testing/stores.ts";
import { readQuotaAccount } from "./quota_account.ts";
import { Quotas } from "./quotas.ts";

const { project } = DRIVE;

testOnAll("A change that cannot be committed does not make others fail", async ({ db, store }) => {
  await store.projects.update(project, { maxBytes: 1000 });
  const quotas = new Quotas(db);
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const outcomes = await Promise.allSettled(Array.from({ length: 9 }, (_, i) => {
    const operation = new Operation().share(known.unchanged)
      .set(["test", i], new Uint8Array(i === 4 ? CHUNK_SIZE + 1 : 1))
      .sum(keys.usage(project, "d", "bytes"), 100);
    return quotas.commit(known, DRIVE, operation, { more: 100 });
  }));
  const failed = outcomes.flatMap(({ status }, i) => status === "rejected" ? [i] : []);
  assertEquals(failed, [4]);
  assertEquals((await readQuotaAccount(db, project))?.used, 800);
});

testOnAll(
  "A failed check takes precedence over the quota",
  async ({ db, store }) => {
    await store.projects.update(project, { maxBytes: 1000 });
    const quotas = new Quotas(db);
    const known = await new ProjectCache(db).requireWritable(DRIVE);
    const outcomes = await Promise.all([10, 2000, 20, 30].map((more, i) => {
      const operation = new Operation().share(known.unchanged)
        .check(["test", i], i < 2 ? "00000000000000010000" : null)
        .sum(keys.usage(project, "d", "bytes"), more);
      return quotas.commit(known, DRIVE, operation, { more });
    }));
    assertEquals(outcomes.map(({ ok }) => ok), [false, false, true, true]);
    assertEquals((await readQuotaAccount(db, project))?.used, 50);
  },
);

testOnAll("Changes that free bytes make room for waiting changes", async ({ db, store }) => {
  await store.projects.update(project, { maxBytes: 1000 });
  const quotas = new Quotas(db);
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const change = (more: number) => {
    const operation = new Operation().share(known.unchanged)
      .sum(keys.usage(project, "d", "bytes"), more);
    return quotas.commit(known, DRIVE, operation, { more });
  };
  await change(900);
  await Promise.all([change(-500), change(100)]);
  await change(500);
  await assertRejects(() => change(1), QuotaExceeded);
  await change(-1000);
  await Promise.all(Array.from({ length: 100 }, () => change(10)));
  await assertRejects(() => change(1), QuotaExceeded);
  assertEquals((await readQuotaAccount(db, project))?.used, 1000);
});
