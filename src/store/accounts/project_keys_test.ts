import { assert, assertEquals, assertMatch } from "@std/assert";
import { hashSecret, parseProjectKey, type ProjectKey } from "../../rules/secrets.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { KEY_CACHE_TTL } from "../engine/ttl_cache.ts";
import { countReads, entriesWith } from "../testing/entries.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";

async function makeKey({ store }: TestStore, name?: string): Promise<ProjectKey> {
  const made = await store.keys.create("p", name);
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
  "A project has as many keys as were made, each listed without its secret",
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

testOnAll("There are no keys where there is no project", async ({ store }) => {
  assertEquals(await store.keys.create("other"), undefined);
  assertEquals(await store.keys.list("other"), []);
  assertEquals(await store.keys.revoke("other", "abcdefgh"), false);
  assertEquals(await store.keys.find(hashSecret("other_key")), undefined);
});

testOnAll("A key that is known costs no read, an unknown one does each time", async (bench) => {
  const { store } = bench;
  const hash = hashSecret((await makeKey(bench)).text);
  const ask = (text: string) => () =>
    Promise.all(Array.from({ length: 50 }, () => store.keys.find(text)));
  assert(await countReads(bench, ask(hash)) <= 3);
  assertEquals(await countReads(bench, ask(hash)), 0);
  const unknown = () => store.keys.find(hashSecret("p_unknown"));
  assertEquals([await countReads(bench, unknown), await countReads(bench, unknown)], [1, 1]);
});

testOnAll("A revoked key opens nothing any more at once, and the others stay", async (bench) => {
  const { store } = bench;
  const [gone, kept] = [await makeKey(bench), await makeKey(bench)];
  for (const key of [gone, kept]) assertEquals(await opened(bench, key), "p");
  let told = 0;
  store.revocations.onChange(() => void told++);
  const prefix = gone.secret.slice(0, 8);
  assertEquals(await store.keys.revoke("p", prefix), true);
  assertEquals([await opened(bench, gone), await opened(bench, kept)], [undefined, "p"]);
  assertEquals(await store.keys.revoke("p", prefix), false);
  assertEquals((await store.keys.list("p")).length, 1);
  assertEquals(told, 1);
  assertEquals(await entriesWith(bench, hashSecret(gone.text)), []);
});

testOnAll("A look-up on its way when a key is revoked does not let it live on", async (bench) => {
  const { store } = bench;
  for (let i = 0; i < 20; i++) {
    const key = await makeKey(bench);
    const looking = Array.from({ length: 5 }, () => opened(bench, key));
    await store.keys.revoke("p", key.secret.slice(0, 8));
    await Promise.all(looking);
    assertEquals(await opened(bench, key), undefined);
  }
});

testOnAll("Another process believes a revoked key for its time and no longer", async (bench) => {
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
});

testOnAll("A given key is listed by what no other key of the project has", async ({ store }) => {
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

testOnAll(
  "Keys of an older store open, are listed by their hash, and can be revoked",
  async (bench) => {
    const texts = ["p_one", "p_two", "gone_three"];
    const operation = new Operation();
    for (const [i, text] of texts.entries()) {
      const project = text.split("_")[0];
      operation.set(keys.projectKey(hashSecret(text)), { project, created: i });
    }
    await bench.db.commit(operation);
    for (const text of texts) {
      assertEquals(await opened(bench, { text }), text.startsWith("p_") ? "p" : undefined);
    }
    // Two processes may find them at the same time.
    const [listed] = await Promise.all(
      [bench, otherProcess(bench)].map(({ store }) => store.keys.list("p")),
    );
    assertEquals(listed, [
      { prefix: hashSecret8("p_one"), created: 0 },
      { prefix: hashSecret8("p_two"), created: 1 },
    ]);
    assertEquals(await otherProcess(bench).store.keys.revoke("p", hashSecret8("p_one")), true);
    assertEquals((await otherProcess(bench).store.keys.list("p")).length, 1);
  },
);

testOnAll(
  "A key of an older store that is given again gets a prefix of its own",
  async ({ db, store }) => {
    const key = parsed(`p_${"x".repeat(40)}`);
    await db.commit(
      new Operation().set(keys.projectKey(hashSecret(key.text)), { project: "p", created: 7 }),
    );
    await store.projects.ensure("p", key);
    assertEquals(await store.keys.list("p"), [{ prefix: "xxxxxxxx", created: 7 }]);
  },
);

testOnAll("Keys made at the same time, here and elsewhere, are all there", async (bench) => {
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
  "Whether a key still opens costs a read only where it came in long ago",
  async (bench) => {
    const other = otherProcess(bench);
    const key = await makeKey(bench);
    const hash = hashSecret(key.text);
    const ask = (age: number) => bench.store.keys.isStillValid(hash, "p", age);
    assertEquals(await opened(bench, key), "p");
    assertEquals(await countReads(bench, async () => assertEquals(await ask(0), true)), 0);
    assertEquals(await other.store.keys.revoke("p", key.secret.slice(0, 8)), true);
    assertEquals(await ask(KEY_CACHE_TTL), true);
    assertEquals(await ask(KEY_CACHE_TTL + 1), false);
    assertEquals(await ask(0), false);
  },
);

testOnAll("A key that is revoked here does not open any more, however new it is", async (bench) => {
  const key = await makeKey(bench);
  const hash = hashSecret(key.text);
  assertEquals(await bench.store.keys.isStillValid(hash, "p", 0), true);
  assertEquals(await bench.store.keys.isStillValid(hash, "other", 0), false);
  await bench.store.keys.revoke("p", key.secret.slice(0, 8));
  assertEquals(await bench.store.keys.isStillValid(hash, "p", 0), false);
});
