import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { delay } from "@std/async/delay";
import { hashSecret } from "../../rules/secrets.ts";
import { AccessIsOff, AlreadyExists, NoSuchApp } from "../engine/errors.ts";
import { KEY_CACHE_TTL } from "../engine/ttl_cache.ts";
import { countReads, entriesWith } from "../testing/entries.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";

/** Creates an application with access control on. Returns the text of a key of it. */
async function makeKey({ store }: TestStore, app = "web", name = "key"): Promise<string> {
  if (await store.apps.get("p", app) === undefined) await store.apps.create("p", app, {});
  await store.apps.update("p", app, { access: true });
  return (await store.appKeys.create("p", app, { name })).text;
}

async function found({ store }: TestStore, text: string): Promise<string | undefined> {
  return (await store.appKeys.find(hashSecret(text)))?.name;
}

testOnAll(
  "An application key opens its application and is listed without its secret",
  async (bench) => {
    const { store } = bench;
    await makeKey(bench, "web", "b");
    const made = await store.appKeys.create("p", "web", { name: "a", description: "For\nus" });
    const { text, ...info } = made;
    assertMatch(text, /^[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}$/);
    assertEquals(info.prefix, text.slice(0, 8));
    const listed = await store.appKeys.list("p", "web");
    assertEquals(listed.map(({ name }) => name), ["a", "b"]);
    assertEquals(listed[0], info);
    assertEquals("description" in (listed[1] ?? {}), false);
    const wanted = { project: "p", app: "web", name: "a", prefix: info.prefix };
    assertEquals(await store.appKeys.find(hashSecret(text)), wanted);
    assertEquals(await entriesWith(bench, text.slice(9)), []);
  },
);

testOnAll("Only the whole key is found", async (bench) => {
  const text = await makeKey(bench);
  for (const wrong of ["", text.slice(0, 8), text.slice(9), `${text}0`, text.toLowerCase()]) {
    assertEquals(await found(bench, wrong), undefined);
  }
  assertEquals(await bench.store.appKeys.find(text), undefined);
  assertEquals(await found(bench, text), "key");
});

testOnAll(
  "Application keys can be created while access control is on, and stay when it is turned off",
  async (bench) => {
    const { appKeys, apps } = bench.store;
    await apps.create("p", "web", {});
    await assertRejects(() => appKeys.create("p", "web", { name: "a" }), AccessIsOff);
    const text = await makeKey(bench);
    const again = () => appKeys.create("p", "web", { name: "key" });
    assertEquals((await assertRejects(again, AlreadyExists)).what, "key name");
    await apps.update("p", "web", { access: false });
    await assertRejects(() => appKeys.create("p", "web", { name: "b" }), AccessIsOff);
    assertEquals([await found(bench, text), (await appKeys.list("p", "web")).length], ["key", 1]);
    for (const [project, app] of [["p", "none"], ["q", "web"]] as const) {
      await assertRejects(() => appKeys.create(project, app, { name: "a" }), NoSuchApp);
      assertEquals(await appKeys.list(project, app), []);
      assertEquals(await appKeys.revoke(project, app, "key"), false);
    }
  },
);

testOnAll("Concurrent creations give a key name once", async (bench) => {
  await makeKey(bench);
  const other = otherProcess(bench);
  const results = await Promise.allSettled(Array.from(
    { length: 8 },
    (_, i) => (i % 2 ? bench : other).store.appKeys.create("p", "web", { name: "same" }),
  ));
  assertEquals(results.filter(({ status }) => status === "fulfilled").length, 1);
  assertEquals((await bench.store.appKeys.list("p", "web")).length, 2);
});

testOnAll("A repeated look-up of an application key costs no read", async (bench) => {
  const text = await makeKey(bench);
  await found(bench, text);
  assertEquals(await countReads(bench, () => found(bench, text)), 0);
});

testOnAll("A revoked application key opens nothing, and its name is free", async (bench) => {
  const { store } = bench;
  const texts = [await makeKey(bench), await makeKey(bench, "web", "other")];
  for (const text of texts) await found(bench, text);
  let calls = 0;
  store.revocations.onChange(() => void calls++);
  assertEquals(await store.appKeys.revoke("p", "web", "key"), true);
  assertEquals([await found(bench, texts[0] ?? ""), calls], [undefined, 1]);
  assertEquals(await found(bench, texts[1] ?? ""), "other");
  assertEquals(await store.appKeys.revoke("p", "web", "key"), false);
  assertEquals(await entriesWith(bench, hashSecret(texts[0] ?? "")), []);
  const again = await makeKey(bench);
  assertEquals([await found(bench, again), await found(bench, texts[0] ?? "")], ["key", undefined]);
});

testOnAll(
  "A look-up that runs while an application key is revoked does not cache it",
  async (bench) => {
    for (let i = 0; i < 20; i++) {
      const text = await makeKey(bench);
      const looking = Array.from({ length: 5 }, () => found(bench, text));
      await bench.store.appKeys.revoke("p", "web", "key");
      await Promise.all(looking);
      assertEquals(await found(bench, text), undefined);
    }
  },
);

testOnAll(
  "A key opens neither another application nor a later one with the same name",
  async (bench) => {
    const { store } = bench;
    const text = await makeKey(bench);
    await makeKey(bench, "other");
    assertEquals((await store.appKeys.find(hashSecret(text)))?.app, "web");
    await store.apps.delete("p", "web");
    assertEquals(await found(bench, text), undefined);
    await store.apps.create("p", "web", {});
    assertEquals(await found(bench, text), undefined);
  },
);

testOnAll(
  "Another process refuses a revoked or deleted application key within the cache time",
  async (bench) => {
    const { store } = bench;
    const other = otherProcess(bench);
    const undo = [
      () => store.appKeys.revoke("p", "web", "key"),
      () => store.apps.delete("p", "web"),
      () => store.projects.delete("p"),
    ];
    for (const revoke of undo) {
      const text = await makeKey(bench);
      await withClock(async (forward) => {
        assertEquals(await found(other, text), "key");
        assertEquals(await revoke(), true);
        forward(KEY_CACHE_TTL);
        assertEquals([await found(bench, text), await found(other, text)], [undefined, undefined]);
      });
    }
    assert(await store.apps.get("p", "web") === undefined);
  },
);

testOnAll("A cached key opens no later application with the same name", async (bench) => {
  const text = await makeKey(bench);
  const other = otherProcess(bench);
  assertEquals(await found(other, text), "key");
  await bench.store.apps.delete("p", "web");
  await bench.store.sweeper.sweep();
  await delay(2);
  await makeKey(bench, "web", "new");
  other.store.apps.forget("p", "web");
  assertEquals(await found(other, text), undefined);
});
