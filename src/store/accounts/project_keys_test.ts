import { assert, assertEquals, assertMatch } from "@std/assert";
import { hashSecret, parseProjectKey, type ProjectKey } from "../../rules/secrets.ts";
import { KEY_CACHE_TTL } from "../engine/ttl_cache.ts";
import { countReads, entriesWith } from "../testing/entries.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { until, withClock } from "../testing/time.ts";

async function makeKey({ store }: TestStore, name?: string): Promise<ProjectKey> {
  const made = await store.keys.create("p", { name });
  assert(made !== undefined);
  return made.key;
}

async function opened(
  { store }: TestStore,
  { text }: { text: string },
): Promise<string | undefined> {
  return (await store.keys.find(hashSecret(text)))?.project;
}

function parsed(text: string): ProjectKey {
  const key = parseProjectKey(text);
  assert(key !== undefined);
  return key;
}

testOnAll(
  "A project has all keys that were created, listed without their secrets",
  async (bench) => {
    const { store } = bench;
    const made = [await makeKey(bench, "Büro"), await makeKey(bench), await makeKey(bench, "Büro")];
    for (const key of made) assertEquals(await opened(bench, key), "p");
    const listed = await store.keys.list("p");
    const prefixes = made.map(({ secret }) => secret.slice(0, 8));
    assertEquals(new Set(listed.map(({ prefix }) => prefix)), new Set(prefixes));
    assertEquals(listed.map(({ name }) => name ?? "").toSorted(), ["", "Büro", "Büro"]);
    for (const { secret } of made) {
      assert(!JSON.stringify(listed).includes(secret));
      assertEquals(await entriesWith(bench, secret), []);
    }
  },
);

testOnAll("A project that does not exist has no keys", async ({ store }) => {
  assertEquals(await store.keys.create("other"), undefined);
  assertEquals(await store.keys.list("other"), []);
  assertEquals(await store.keys.revoke("other", "abcdefgh"), false);
  assertEquals(await store.keys.find(hashSecret("other_key")), undefined);
});

testOnAll(
  "A repeated look-up costs no read for a valid key and one for an unknown key",
  async (bench) => {
    const { store } = bench;
    const hash = hashSecret((await makeKey(bench)).text);
    const ask = (text: string) => () =>
      Promise.all(Array.from({ length: 50 }, () => store.keys.find(text)));
    assert(await countReads(bench, ask(hash)) <= 3);
    // The last use is stored in the background.
    await until(() => !bench.db.isCommitting);
    assertEquals(await countReads(bench, ask(hash)), 0);
    const unknown = () => store.keys.find(hashSecret("p_unknown"));
    assertEquals([await countReads(bench, unknown), await countReads(bench, unknown)], [1, 1]);
  },
);

testOnAll("A revoked key opens nothing at once, and the others stay", async (bench) => {
  const { store } = bench;
  const [gone, kept] = [await makeKey(bench), await makeKey(bench)];
  for (const key of [gone, kept]) assertEquals(await opened(bench, key), "p");
  let calls = 0;
  store.revocations.onChange(() => void calls++);
  const prefix = gone.secret.slice(0, 8);
  assertEquals(await store.keys.revoke("p", prefix), true);
  assertEquals([await opened(bench, gone), await opened(bench, kept)], [undefined, "p"]);
  assertEquals(await store.keys.revoke("p", prefix), false);
  assertEquals((await store.keys.list("p")).length, 1);
  assertEquals(calls, 1);
  assertEquals(await entriesWith(bench, hashSecret(gone.text)), []);
});

testOnAll("A look-up that runs while a project key is revoked does not cache it", async (bench) => {
  const { store } = bench;
  for (let i = 0; i < 20; i++) {
    const key = await makeKey(bench);
    const looking = Array.from({ length: 5 }, () => opened(bench, key));
    await store.keys.revoke("p", key.secret.slice(0, 8));
    await Promise.all(looking);
    assertEquals(await opened(bench, key), undefined);
  }
});

testOnAll(
  "Another process accepts a revoked key for the cache time and no longer",
  async (bench) => {
    const other = otherProcess(bench);
    const key = await makeKey(bench);
    await withClock(async (forward) => {
      assertEquals(await opened(other, key), "p");
      await bench.store.keys.revoke("p", key.secret.slice(0, 8));
      forward(KEY_CACHE_TTL - 1);
      assertEquals([await opened(bench, key), await opened(other, key)], [undefined, "p"]);
      forward(1);
      assertEquals(await opened(other, key), undefined);
    });
  },
);

testOnAll("A key that the operator chose gets a unique prefix", async ({ store }) => {
  const texts = ["p_correct-horse-battery-staple-1", "p_correct-horse-battery-staple-2", "p_short"];
  for (const text of [...texts, ...texts]) await store.projects.ensure("p", parsed(text));
  const prefixes = (await store.keys.list("p")).map(({ prefix }) => prefix);
  const wanted = ["correct-", ...texts.slice(1).map(hashSecret8)];
  assertEquals(prefixes.toSorted(), wanted.toSorted());
  for (const [i, prefix] of prefixes.entries()) {
    assertEquals(await store.keys.revoke("p", prefix), true);
    assertEquals((await store.keys.list("p")).length, 2 - i);
  }
});

function hashSecret8(text: string): string {
  return hashSecret(text).slice(0, 8);
}

testOnAll("Keys that several processes create at once are all kept", async (bench) => {
  const other = otherProcess(bench);
  const made = await Promise.all(
    Array.from({ length: 10 }, (_, i) => makeKey(i % 2 === 0 ? bench : other)),
  );
  assertEquals((await bench.store.keys.list("p")).length, 10);
  for (const key of made) {
    assertMatch(key.text, /^p_[A-Za-z0-9]{32}$/);
    assertEquals(await opened(bench, key), "p");
  }
});

testOnAll(
  "Validating a key again costs a read only beyond the cache time",
  async (bench) => {
    const other = otherProcess(bench);
    const key = await makeKey(bench);
    const hash = hashSecret(key.text);
    const ask = (age: number) => bench.store.keys.isStillValid(hash, "p", age);
    assertEquals(await opened(bench, key), "p");
    await until(() => !bench.db.isCommitting);
    assertEquals(await countReads(bench, async () => assertEquals(await ask(0), true)), 0);
    assertEquals(await other.store.keys.revoke("p", key.secret.slice(0, 8)), true);
    assertEquals(await ask(KEY_CACHE_TTL), true);
    assertEquals(await ask(KEY_CACHE_TTL + 1), false);
    assertEquals(await ask(0), false);
  },
);

testOnAll(
  "A key that this process revoked is not valid, however recently it was used",
  async (bench) => {
    const key = await makeKey(bench);
    const hash = hashSecret(key.text);
    assertEquals(await bench.store.keys.isStillValid(hash, "p", 0), true);
    assertEquals(await bench.store.keys.isStillValid(hash, "other", 0), false);
    await bench.store.keys.revoke("p", key.secret.slice(0, 8));
    assertEquals(await bench.store.keys.isStillValid(hash, "p", 0), false);
  },
);
