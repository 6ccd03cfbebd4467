import { assert, assertEquals, assertRejects } from "@std/assert";
import { AlreadyExists, NoSuchProject } from "../engine/errors.ts";
import { KEY_CACHE_TTL } from "../engine/ttl_cache.ts";
import { countReads, dataWith } from "../testing/entries.ts";
import { otherProcess, testOnAll } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";
import type { AppInfo } from "./apps.ts";

const UPSTREAM = "http://127.0.0.1:3000";
const HOST = "app.example.com";

/** Returns the settings of an application that can be changed. */
function settings({ project: _project, app: _app, created: _created, ...rest }: AppInfo): unknown {
  return rest;
}

testOnAll(
  "A new application is found by its name and host and has access control off",
  async ({ store }) => {
    const made = await store.apps.create("p", "web", { upstream: UPSTREAM, host: HOST });
    const { created, ...rest } = made;
    assert(created <= Date.now());
    assertEquals(rest, { project: "p", app: "web", upstream: UPSTREAM, host: HOST, access: false });
    const bare = await store.apps.create("p", "bare", {});
    assertEquals(Object.keys(bare).toSorted(), ["access", "app", "created", "project"]);
    for (const app of [made, bare]) {
      assertEquals(await store.apps.get("p", app.app), app);
      assertEquals(await store.apps.find("p", app.app), app);
    }
    assertEquals(await store.apps.findByHost(HOST), made);
    assertEquals(await store.apps.list("p"), [bare, made]);
    assertEquals([await store.apps.get("p", "none"), await store.apps.list("q")], [undefined, []]);
  },
);

testOnAll(
  "An application name is unique in the project, and a host in the store",
  async ({ store }) => {
    await store.projects.create("q", undefined);
    await store.apps.create("p", "web", { host: HOST });
    const refusals = [["p", "web", undefined, "app"], ["q", "web", HOST, "host"]] as const;
    for (const [project, app, host, what] of refusals) {
      const create = () => store.apps.create(project, app, { host });
      assertEquals((await assertRejects(create, AlreadyExists)).what, what);
    }
    await store.apps.create("q", "web", {});
    const update = () => store.apps.update("q", "web", { host: HOST });
    assertEquals((await assertRejects(update, AlreadyExists)).what, "host");
    await assertRejects(() => store.apps.create("none", "web", {}), NoSuchProject);
    assertEquals((await store.apps.get("q", "web"))?.host, undefined);
  },
);

testOnAll(
  "An update changes the given settings, null removes one, and both hold at once",
  async ({ store }) => {
    await store.apps.create("p", "web", { upstream: UPSTREAM, host: HOST });
    let calls = 0;
    store.revocations.onChange(() => void calls++);
    const other = "other.example.com";
    const steps = [
      [{}, { upstream: UPSTREAM, host: HOST, access: false }],
      [{ access: true }, { upstream: UPSTREAM, host: HOST, access: true }],
      [{ host: other }, { upstream: UPSTREAM, host: other, access: true }],
      [{ host: other, upstream: "http://b" }, { upstream: "http://b", host: other, access: true }],
      [{ host: null, access: false }, { upstream: "http://b", access: false }],
      [{ upstream: null }, { access: false }],
    ] as const;
    for (const [i, [change, expected]] of steps.entries()) {
      await store.apps.find("p", "web");
      const after = await store.apps.update("p", "web", change);
      assert(after !== undefined);
      assertEquals(settings(after), expected);
      assertEquals(await store.apps.find("p", "web"), after);
      for (const host of [HOST, other]) {
        const wanted = "host" in expected && expected.host === host ? after : undefined;
        assertEquals(await store.apps.findByHost(host), wanted);
      }
      assertEquals(calls, i + 1);
    }
    assertEquals(await store.apps.update("p", "none", { access: true }), undefined);
    assertEquals(await store.apps.update("q", "web", { access: true }), undefined);
  },
);

testOnAll(
  "A repeated look-up costs no read, also if there is no such application",
  async (bench) => {
    const { apps } = bench.store;
    await apps.create("p", "web", { host: HOST });
    const ask = async () => {
      await Promise.all([apps.find("p", "web"), apps.find("p", "none"), apps.find("none", "web")]);
      await Promise.all([apps.findByHost(HOST), apps.findByHost("none.example.com")]);
    };
    assert(await countReads(bench, ask) > 0);
    assertEquals(await countReads(bench, ask), 0);
    await apps.create("p", "none", { host: "none.example.com" });
    assertEquals((await apps.find("p", "none"))?.app, "none");
    assertEquals((await apps.findByHost("none.example.com"))?.app, "none");
  },
);

testOnAll("Text that is no application name or host is not looked up", async (bench) => {
  const { apps } = bench.store;
  const names = ["", "..", "a/b", "x".repeat(5000), "\0", "ä"];
  const count = await countReads(bench, async () => {
    for (const name of names) {
      assertEquals(await apps.find("p", name), undefined);
      assertEquals(await apps.find(name, "web"), undefined);
      assertEquals(await apps.findByHost(name), undefined);
    }
  });
  assertEquals(count, 0);
});

testOnAll("Deleting an application deletes its host and keys at once", async (bench) => {
  const { apps, appKeys } = bench.store;
  await apps.create("p", "web", { host: HOST });
  await apps.create("p", "web2", {});
  for (const app of ["web", "web2"]) {
    await apps.update("p", app, { access: true });
    for (let i = 0; i < 40; i++) await appKeys.create("p", app, { name: `key ${i}` });
  }
  await apps.findByHost(HOST);
  assertEquals(await apps.delete("p", "web"), true);
  assertEquals([await apps.find("p", "web"), await apps.findByHost(HOST)], [undefined, undefined]);
  assertEquals([await apps.delete("p", "web"), await apps.delete("q", "web2")], [false, false]);
  assertEquals(await dataWith(bench, '"web"'), []);
  assertEquals((await appKeys.list("p", "web2")).length, 40);
  await apps.create("p", "web", { host: HOST });
  assertEquals(await appKeys.list("p", "web"), []);
});

testOnAll("Another process sees a changed application within the cache time", async (bench) => {
  const other = otherProcess(bench).store.apps;
  await bench.store.apps.create("p", "web", { host: HOST });
  await withClock(async (forward) => {
    assertEquals((await other.findByHost(HOST))?.access, false);
    await bench.store.apps.update("p", "web", { access: true, host: "new.example.com" });
    forward(KEY_CACHE_TTL);
    assertEquals(await other.findByHost(HOST), undefined);
    assertEquals((await other.findByHost("new.example.com"))?.access, true);
  });
});

testOnAll("Concurrent updates of an application are all kept", async (bench) => {
  const other = otherProcess(bench);
  await bench.store.apps.create("p", "web", {});
  await Promise.all([
    bench.store.apps.update("p", "web", { access: true }),
    other.store.apps.update("p", "web", { host: HOST }),
    bench.store.apps.update("p", "web", { upstream: UPSTREAM }),
  ]);
  const info = await bench.store.apps.get("p", "web");
  assert(info !== undefined);
  assertEquals(settings(info), { access: true, host: HOST, upstream: UPSTREAM });
});

testOnAll(
  "A host that the owner chose counts while it is below the project's suffix",
  async (bench) => {
    const { store } = bench;
    const suffix = "apps.example.com";
    const host = `web.${suffix}`;
    await store.projects.update("p", { hostSuffix: suffix });
    const chosen = { host, isOwnersHost: true };
    await store.apps.create("p", "web", chosen);
    await store.apps.create("p", "given", { host: `given.${suffix}` });
    assertEquals((await store.apps.findByHost(host))?.app, "web");
    let calls = 0;
    store.revocations.onChange(() => void calls++);
    for (const hostSuffix of [null, "example.com.evil", "b.apps.example.com", host]) {
      await store.projects.update("p", { hostSuffix });
      assertEquals(await store.apps.findByHost(host), undefined, String(hostSuffix));
      assertEquals((await store.apps.get("p", "web"))?.host, undefined);
      assertEquals((await store.apps.list("p")).map((app) => app.host), [
        `given.${suffix}`,
        undefined,
      ]);
      // The host that the administrator set stays.
      assertEquals((await store.apps.findByHost(`given.${suffix}`))?.app, "given");
    }
    assertEquals(calls, 4);
    await store.projects.update("p", { hostSuffix: "example.com" });
    assertEquals((await store.apps.findByHost(host))?.app, "web");
    assertEquals(
      await otherProcess(bench).store.apps.findByHost(host),
      await store.apps.get("p", "web"),
    );
  },
);

testOnAll(
  "A host that no longer counts can be taken over for good",
  async ({ store }) => {
    const hostSuffix = "apps.example.com";
    const host = `web.${hostSuffix}`;
    const chosen = { host, isOwnersHost: true };
    await store.projects.create("q", undefined);
    await store.projects.update("p", { hostSuffix });
    await store.apps.create("p", "web", chosen);
    await assertRejects(() => store.apps.create("q", "web", { host }), AlreadyExists);
    await store.projects.update("p", { hostSuffix: null });
    await store.projects.update("q", { hostSuffix });
    assertEquals((await store.apps.create("q", "web", chosen)).host, host);
    assertEquals((await store.apps.findByHost(host))?.project, "q");
    // Both projects have the suffix again, but the first application has lost the host for good.
    await store.projects.update("p", { hostSuffix });
    assertEquals((await store.apps.get("p", "web"))?.host, undefined);
    await assertRejects(() => store.apps.update("p", "web", chosen), AlreadyExists);
    await store.apps.delete("p", "web");
    assertEquals((await store.apps.findByHost(host))?.project, "q");
    // A host that the administrator sets does not depend on the suffix.
    await store.apps.update("q", "web", { host });
    await store.projects.update("q", { hostSuffix: null });
    assertEquals((await store.apps.findByHost(host))?.project, "q");
  },
);
