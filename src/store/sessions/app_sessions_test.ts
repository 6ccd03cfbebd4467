import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { hashSecret } from "../../rules/secrets.ts";
import { HOUR } from "../../rules/units.ts";
import { NoSuchApp, NoSuchProject } from "../engine/errors.ts";
import { KEY_CACHE_TTL } from "../engine/ttl_cache.ts";
import { countReads, entriesWith } from "../testing/entries.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { until, withClock } from "../testing/time.ts";
import { SESSION_TIME } from "./app_sessions.ts";

interface SignedIn {
  hash: string;
  token: string;
  expires: number;
  prefix: string;
}

/** Signs in to an application with a key of its project. */
async function signIn({ store }: TestStore): Promise<SignedIn> {
  if (await store.apps.get("p", "web") === undefined) await store.apps.create("p", "web", {});
  const made = await store.keys.create("p");
  const session = await store.sessions.start("p", "web", hashSecret(made?.key.text ?? ""));
  return { ...session, hash: hashSecret(session.token), prefix: made?.prefix ?? "" };
}

testOnAll(
  "A session opens its application until it expires, and a repeated look-up costs no read",
  async (bench) => {
    const { sessions } = bench.store;
    const other = await signIn(bench);
    await withClock(async (forward) => {
      const { hash, token, expires } = await signIn(bench);
      assertMatch(token, /^[A-Za-z0-9]{32}$/);
      assertEquals(expires, Date.now() + SESSION_TIME);
      assertEquals(await entriesWith(bench, token), []);
      assertEquals(await sessions.find(hash), { project: "p", app: "web" });
      // The last use of the project key is stored in the background.
      await until(() => !bench.db.isCommitting);
      assertEquals(await countReads(bench, () => sessions.find(hash)), 0);
      assertEquals(await sessions.find(token), undefined);
      forward(SESSION_TIME - 1);
      assertEquals((await sessions.find(hash))?.app, "web");
      forward(1);
      assertEquals(await sessions.find(hash), undefined);
      assertEquals(await sessions.find(other.hash), undefined);
    });
  },
);

testOnAll(
  "A session that was found to be expired does not come back when the clock is set back",
  async (bench) => {
    const { sessions } = bench.store;
    await withClock(async (forward, set) => {
      const { hash } = await signIn(bench);
      forward(SESSION_TIME - HOUR);
      set(-HOUR);
      assertEquals((await sessions.find(hash))?.app, "web");
      set(2 * HOUR);
      assertEquals(await sessions.find(hash), undefined);
      set(-2 * HOUR);
      forward(KEY_CACHE_TTL);
      assertEquals(await sessions.find(hash), undefined);
      assertEquals(await otherProcess(bench).store.sessions.find(hash), undefined);
    });
  },
);

testOnAll(
  "A session needs a key of the project and an application of it",
  async ({ store }) => {
    const { key } = await store.projects.create("q", undefined);
    await store.apps.create("p", "web", {});
    const hash = hashSecret(key.text);
    const { sessions } = store;
    await assertRejects(() => sessions.start("p", "web", hash), NoSuchProject);
    await assertRejects(() => sessions.start("p", "web", "no hash"), NoSuchProject);
    await assertRejects(() => sessions.start("none", "web", hash), NoSuchProject);
    await assertRejects(() => sessions.start("q", "web", hash), NoSuchApp);
  },
);

testOnAll(
  "A session opens nothing once it was ended or its project key was revoked",
  async (bench) => {
    const { store } = bench;
    const [ended, revoked, kept] = [await signIn(bench), await signIn(bench), await signIn(bench)];
    for (const { hash } of [ended, revoked, kept]) await store.sessions.find(hash);
    let calls = 0;
    store.revocations.onChange(() => void calls++);
    await store.sessions.end(ended.hash);
    await store.keys.revoke("p", revoked.prefix);
    const found = await Promise.all(
      [ended, revoked, kept].map(({ hash }) => store.sessions.find(hash)),
    );
    assertEquals(found.map((session) => session?.app), [undefined, undefined, "web"]);
    assertEquals(calls, 2);
  },
);

testOnAll("A session ends when its application or project is deleted", async (bench) => {
  const { store } = bench;
  const first = await signIn(bench);
  await store.sessions.find(first.hash);
  await store.apps.delete("p", "web");
  assertEquals(await store.sessions.find(first.hash), undefined);
  const second = await signIn(bench);
  await store.projects.delete("p");
  assertEquals(await store.sessions.find(second.hash), undefined);
});

testOnAll("Another process refuses an ended session within the cache time", async (bench) => {
  const other = otherProcess(bench).store.sessions;
  const { hash } = await signIn(bench);
  await withClock(async (forward) => {
    assertEquals((await other.find(hash))?.app, "web");
    await bench.store.sessions.end(hash);
    forward(KEY_CACHE_TTL);
    assertEquals(await other.find(hash), undefined);
  });
});
