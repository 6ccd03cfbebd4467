import { assert, assertEquals, assertRejects } from "@std/assert";
import { Rights } from "../../rules/rights.ts";
import { hashSecret, keyPrefix, parseProjectKey } from "../../rules/secrets.ts";
import { AlreadyExists, BeingDeleted } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { KEY_CACHE_TTL } from "../engine/ttl_cache.ts";
import { put } from "../testing/files.ts";
import { drivesOf } from "../testing/entries.ts";
import { otherProcess, testOnAll } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";
import { MAX_DELETING_DRIVES } from "./projects.ts";

testOnAll(
  "A project can be created with or without an id and a name, and its key opens it",
  async ({ store }) => {
    const cases = [["mine", "My things"], ["Mine", undefined], [undefined, "Other"], [undefined]];
    for (const [id, name] of cases) {
      const { info, key } = await store.projects.create(id, name);
      assertEquals([info.project, info.name], [id ?? key.project, name]);
      assertEquals(await store.projects.get(info.project), info);
      const opened = await store.keys.find(hashSecret(key.text));
      assertEquals(opened, {
        project: info.project,
        prefix: keyPrefix(key),
        rights: Rights.all,
        deleting: [],
      });
      const [listed, ...more] = await store.keys.list(info.project);
      assertEquals([listed?.prefix, more.length], [key.secret.slice(0, 8), 0]);
    }
    const listed = await store.projects.list();
    assertEquals(listed.length, 5);
    assertEquals(
      listed.map(({ project }) => project),
      listed.map(({ project }) => project).toSorted(),
    );
    assertEquals(await store.projects.get("unknown"), undefined);
  },
);

testOnAll("Concurrent creations give a project id once", async (bench) => {
  const other = otherProcess(bench);
  await assertRejects(() => bench.store.projects.create("p", undefined), AlreadyExists);
  const results = await Promise.allSettled(
    Array.from({ length: 6 }, (_, i) => (i % 2 ? bench : other).store.projects.create("q", `${i}`)),
  );
  const made = results.filter(({ status }) => status === "fulfilled");
  assertEquals(made.length, 1);
  for (const result of results) {
    if (result.status === "rejected") assert(result.reason instanceof AlreadyExists);
  }
  assertEquals((await bench.store.keys.list("q")).length, 1);
});

testOnAll("A deleted project is gone for every caller at once", async (bench) => {
  const { store } = bench;
  const { key } = await store.projects.create("q", undefined);
  const hash = hashSecret(key.text);
  assertEquals((await store.keys.find(hash))?.project, "q");
  let calls = 0;
  store.revocations.onChange(() => void calls++);
  assertEquals(await store.projects.delete("q"), true);
  assertEquals(await store.keys.find(hash), undefined);
  assertEquals(await store.projects.get("q"), undefined);
  assertEquals((await store.projects.list()).map(({ project }) => project), ["p"]);
  assertEquals([await store.keys.list("q"), await drivesOf(store, "q")], [[], []]);
  assertEquals([await store.projects.delete("q"), calls], [false, 1]);
});

testOnAll(
  "A project id is free after the deletion, and the old keys stay invalid",
  async (bench) => {
    const { store } = bench;
    const { key } = await store.projects.create("q", undefined);
    await store.projects.delete("q");
    const refused = await assertRejects(() => store.projects.create("q", undefined), BeingDeleted);
    assertEquals(refused.message, 'The project "q" is being removed: try again');
    await store.keys.find(hashSecret(key.text));
    await store.sweeper.sweep();
    const again = await store.projects.create("q", undefined);
    assertEquals(await store.keys.find(hashSecret(key.text)), undefined);
    assertEquals((await store.keys.find(hashSecret(again.key.text)))?.project, "q");
    assertEquals((await store.keys.list("q")).length, 1);
  },
);

testOnAll(
  "Another process refuses the keys of a deleted project within the cache time",
  async (bench) => {
    const other = otherProcess(bench);
    const { key } = await bench.store.projects.create("q", undefined);
    const hash = hashSecret(key.text);
    await withClock(async (forward) => {
      assertEquals((await other.store.keys.find(hash))?.project, "q");
      await bench.store.projects.delete("q");
      forward(KEY_CACHE_TTL);
      assertEquals(await other.store.keys.find(hash), undefined);
      // The key does not open the next project with the same id either.
      await bench.store.sweeper.sweep();
      await bench.store.projects.create("q", undefined);
      assertEquals(await other.store.keys.find(hash), undefined);
    });
  },
);

testOnAll(
  "A cached key of a deleted project does not open a later project with the same id",
  async (bench) => {
    const other = otherProcess(bench);
    const { key } = await bench.store.projects.create("q", undefined);
    await other.store.keys.find(hashSecret(key.text));
    await withClock(async (forward) => {
      await bench.store.projects.delete("q");
      await bench.store.sweeper.sweep();
      forward(1);
      const again = await bench.store.projects.create("q", undefined);
      // By looking up the new key, the other process reads the new project.
      assertEquals((await other.store.keys.find(hashSecret(again.key.text)))?.project, "q");
      assertEquals(await other.store.keys.find(hashSecret(key.text)), undefined);
    });
  },
);

testOnAll(
  "Ensuring a project that is being deleted finishes the deletion and creates it",
  async (bench) => {
    const { store } = bench;
    const key = parseProjectKey("p_a-given-secret");
    assert(key !== undefined);
    await store.projects.ensure("p", key);
    await put(bench, "a", new Uint8Array(10));
    await store.projects.delete("p");
    await store.projects.ensure("p", key);
    assertEquals((await store.keys.find(hashSecret(key.text)))?.project, "p");
    assertEquals((await store.keys.list("p")).length, 1);
    assertEquals(await drivesOf(store, "p"), []);
    await store.projects.create("other", undefined);
    await store.sweeper.sweep();
    assertEquals((await store.keys.list("p")).length, 1);
  },
);

testOnAll("Deleting a drive that does not exist returns false", async (bench) => {
  const { store } = bench;
  await put(bench, "a", new Uint8Array(10));
  assertEquals(await store.projects.deleteDrive("p", "other"), false);
  assertEquals(await store.projects.deleteDrive("other", "d"), false);
  assertEquals(await store.projects.deleteDrive("p", "d"), true);
  assertEquals(await store.projects.deleteDrive("p", "d"), true);
  await store.sweeper.sweep();
  assertEquals(await store.projects.deleteDrive("p", "d"), false);
});

testOnAll("The number of drives that are deleted at once is limited", async ({ db, store }) => {
  const operation = new Operation();
  for (let i = 0; i <= MAX_DELETING_DRIVES; i++) {
    operation.sum(keys.usage("p", `d${i}`, "files"), 0);
  }
  await db.commit(operation);
  for (let i = 0; i < MAX_DELETING_DRIVES; i++) {
    assertEquals(await store.projects.deleteDrive("p", `d${i}`), true);
  }
  const last = () => store.projects.deleteDrive("p", `d${MAX_DELETING_DRIVES}`);
  assertEquals((await assertRejects(last, BeingDeleted)).id, "d0");
  await store.sweeper.sweep();
  assertEquals(await last(), true);
});
