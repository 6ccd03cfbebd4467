import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { type KeyLimits, Rights } from "../../rules/rights.ts";
import { hashSecret } from "../../rules/secrets.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../rules/units.ts";
import { NoSuchProject } from "../engine/errors.ts";
import { KEY_CACHE_TTL } from "../engine/ttl_cache.ts";
import { entriesWith, versionstampsOf } from "../testing/entries.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { until, withClock } from "../testing/time.ts";
import type { NewKey } from "./key_entries.ts";

interface Made {
  hash: string;
  prefix: string;
}

async function makeKey({ store }: TestStore, key: NewKey = {}): Promise<Made> {
  const made = await store.keys.create("p", key);
  assert(made !== undefined);
  return { hash: hashSecret(made.key.text), prefix: made.prefix };
}

async function isOpen({ store }: TestStore, { hash }: Made): Promise<boolean> {
  return await store.keys.find(hash) !== undefined;
}

function expiringIn(life: number): NewKey {
  return { limits: { expires: Date.now() + life } };
}

/** The last use of a key as lists show it. */
async function lastUse({ store }: TestStore, { prefix }: Made): Promise<number | undefined> {
  const listed = await store.keys.list("p");
  return listed.find((key) => key.prefix === prefix)?.lastUsed;
}

/** The versionstamps of the entries with last uses. */
const useVersions = (bench: TestStore) => versionstampsOf(bench, "project_key_use");

testOnAll("A key has the limits with which it was created", async (bench) => {
  const limits: KeyLimits = {
    permissions: ["read", "list"],
    drives: ["d", "é"],
    namePrefix: "in/",
    expires: Date.now() + DAY,
  };
  const made = await makeKey(bench, { name: "scanner", limits });
  for (const { store } of [bench, otherProcess(bench)]) {
    const found = await store.keys.find(made.hash);
    assertEquals(found?.rights, new Rights(limits));
    const [listed] = await store.keys.list("p");
    assertEquals([listed?.name, listed?.rights], ["scanner", found?.rights]);
  }
});

testOnAll("A key opens its project until it expires", async (bench) => {
  const other = otherProcess(bench);
  await withClock(async (forward) => {
    const key = await makeKey(bench, expiringIn(10 * SECOND));
    forward(10 * SECOND - 1);
    assertEquals([await isOpen(bench, key), await isOpen(other, key)], [true, true]);
    assertEquals((await bench.store.keys.list("p")).length, 1);
    forward(1);
    assertEquals([await isOpen(bench, key), await isOpen(other, key)], [false, false]);
    assertEquals(await bench.store.keys.isStillValid(key.hash, "p", 0), false);
    assertEquals(await bench.store.keys.list("p"), []);
    assertEquals(await bench.store.keys.revoke("p", key.prefix), false);
    assertEquals(await entriesWith(bench, key.hash), []);
  });
});

testOnAll(
  "An expired key that was noticed stays expired if the clock is set back",
  async (bench) => {
    const notice: ((key: Made) => Promise<unknown>)[] = [
      (key) => isOpen(bench, key),
      () => bench.store.keys.list("p"),
      ({ prefix }) => bench.store.keys.revoke("p", prefix),
    ];
    for (const look of notice) {
      await withClock(async (forward, set) => {
        const key = await makeKey(bench, expiringIn(MINUTE));
        assertEquals(await isOpen(bench, key), true);
        set(MINUTE);
        await look(key);
        set(-MINUTE);
        assertEquals(await isOpen(bench, key), false);
        forward(KEY_CACHE_TTL);
        assertEquals(await isOpen(bench, key), false);
        assertEquals(await isOpen(otherProcess(bench), key), false);
      });
    }
  },
);

testOnAll("The sweeper deletes an expired key with all that belongs to it", async (bench) => {
  const key = await makeKey(bench, expiringIn(HOUR));
  const kept = await makeKey(bench, expiringIn(10 * DAY));
  assertEquals([await isOpen(bench, key), await isOpen(bench, kept)], [true, true]);
  await until(async () => (await useVersions(bench)).length === 2);
  await bench.store.sweeper.sweep(Date.now() + HOUR - MINUTE);
  assertNotEquals(await entriesWith(bench, key.hash), []);
  await bench.store.sweeper.sweep(Date.now() + HOUR);
  assertEquals(await entriesWith(bench, key.hash), []);
  assertEquals((await bench.store.keys.list("p")).map(({ prefix }) => prefix), [kept.prefix]);
  assertEquals(await isOpen(otherProcess(bench), kept), true);
});

testOnAll("A revoked key leaves nothing, also if it would have expired", async (bench) => {
  const keys = [await makeKey(bench), await makeKey(bench, expiringIn(DAY))];
  for (const key of keys) {
    await isOpen(bench, key);
    assertNotEquals(await lastUse(bench, key), undefined);
    assertEquals(await bench.store.keys.revoke("p", key.prefix), true);
    assertEquals(await entriesWith(bench, key.hash), []);
  }
});

testOnAll("A deleted project leaves nothing of its keys", async (bench) => {
  const keys = [await makeKey(bench), await makeKey(bench, expiringIn(DAY))];
  for (const key of keys) {
    await isOpen(bench, key);
    assertNotEquals(await lastUse(bench, key), undefined);
  }
  await bench.store.projects.delete("p");
  await bench.store.sweeper.sweep();
  for (const key of keys) assertEquals(await entriesWith(bench, key.hash), []);
});

testOnAll("The hour of the last use is stored once an hour", async (bench) => {
  const other = otherProcess(bench);
  await withClock(async (forward, set) => {
    set(HOUR - Date.now() % HOUR);
    const hour = Date.now();
    const key = await makeKey(bench);
    assertEquals(await lastUse(bench, key), undefined);
    assertEquals(await useVersions(bench), []);
    forward(10 * MINUTE);
    for (const each of [bench, other, bench]) await isOpen(each, key);
    assertEquals(await lastUse(bench, key), hour);
    const first = await useVersions(bench);
    for (let i = 0; i < 5; i++) {
      forward(9 * MINUTE);
      for (const each of [bench, other, otherProcess(bench)]) await isOpen(each, key);
    }
    assertEquals(await useVersions(bench), first);
    forward(5 * MINUTE);
    await isOpen(other, key);
    await until(async () => await lastUse(bench, key) === hour + HOUR);
    set(-2 * HOUR);
    await isOpen(bench, key);
    assertEquals(await lastUse(bench, key), hour + HOUR);
  });
});

testOnAll("A last use never outlives its key", async (bench) => {
  for (let i = 0; i < 20; i++) {
    const key = await makeKey(bench);
    // The use is stored while the key is revoked.
    const uses = [isOpen(bench, key), isOpen(otherProcess(bench), key)];
    await bench.store.keys.revoke("p", key.prefix);
    await Promise.all(uses);
  }
  await until(() => !bench.db.isCommitting);
  assertEquals(await useVersions(bench), []);
});

testOnAll("A key that was revoked or has expired creates no other", async (bench) => {
  const { keys } = bench.store;
  await withClock(async (forward) => {
    const [gone, late] = [await makeKey(bench), await makeKey(bench, expiringIn(SECOND))];
    for (const { hash: by } of [gone, late]) await keys.create("p", { by });
    await keys.revoke("p", gone.prefix);
    forward(SECOND);
    for (const by of [gone.hash, late.hash, hashSecret("p_unknown")]) {
      await assertRejects(() => keys.create("p", { by }), NoSuchProject);
    }
    const { key } = await bench.store.projects.create("q", undefined);
    await assertRejects(() => keys.create("p", { by: hashSecret(key.text) }), NoSuchProject);
  });
});

testOnAll(
  "A key of the operator that has expired is created again, without an end",
  async (bench) => {
    const { store } = bench;
    await withClock(async (forward) => {
      const made = await store.keys.create("p", expiringIn(MINUTE));
      assert(made !== undefined);
      const hash = hashSecret(made.key.text);
      await store.projects.ensure("p", made.key);
      assertEquals((await store.keys.find(hash))?.rights.expires, Date.now() + MINUTE);
      forward(MINUTE);
      await store.projects.ensure("p", made.key);
      forward(KEY_CACHE_TTL);
      assertEquals((await store.keys.find(hash))?.rights, Rights.all);
      await store.sweeper.sweep(Date.now() + DAY);
      assertEquals((await store.keys.list("p")).map(({ prefix }) => prefix), [made.prefix]);
      assertEquals((await otherProcess(bench).store.keys.find(hash))?.project, "p");
    });
  },
);

testOnAll(
  "A browser signs in with a key that has not expired, and until it does",
  async (bench) => {
    const { store } = bench;
    await store.apps.create("p", "web", {});
    await withClock(async (forward) => {
      const key = await makeKey(bench, expiringIn(MINUTE));
      const { token } = await store.sessions.start("p", "web", key.hash);
      assertEquals((await store.sessions.find(hashSecret(token)))?.app, "web");
      forward(MINUTE);
      assertEquals(await store.sessions.find(hashSecret(token)), undefined);
      const unnoticed = await makeKey(bench, expiringIn(MINUTE));
      forward(MINUTE);
      await assertRejects(() => store.sessions.start("p", "web", unnoticed.hash), NoSuchProject);
    });
  },
);
