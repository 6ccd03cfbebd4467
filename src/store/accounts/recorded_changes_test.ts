import { assert, assertEquals, assertRejects } from "@std/assert";
import { hashSecret, newS3Key } from "../../rules/secrets.ts";
import { SECOND } from "../../rules/units.ts";
import { AlreadyExists } from "../engine/errors.ts";
import { prefixes } from "../engine/keys.ts";
import { ALL_EVENTS, countEntries, eventsOf, serverEventsOf } from "../testing/entries.ts";
import { put } from "../testing/files.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import type { Actor } from "./events.ts";

const ACTOR: Actor = { by: "k3JxQ0aB", address: "192.0.2.7" };

/** Runs some work and returns the keys that each of its operations touches. */
async function operationsOf(
  { db }: TestStore,
  work: () => Promise<unknown>,
): Promise<Set<string>[]> {
  const { commit } = db;
  const operations: Set<string>[] = [];
  db.commit = (operation) => {
    operations.push(operation.touched);
    return commit.call(db, operation);
  };
  try {
    await work();
  } finally {
    db.commit = commit;
  }
  return operations;
}

interface Change {
  prepare?: (bench: TestStore) => Promise<unknown>;
  change: (bench: TestStore) => Promise<unknown>;
  /** The kind of entry that the change is about. */
  kind: string;
  events: (string | RegExp)[];
}

const makeApp = (access: boolean) => ({ store }: TestStore) =>
  store.apps.create("p", "web", { access });

const CHANGES: Record<string, Change> = {
  "a new key": {
    change: ({ store }) => store.keys.create("p", { name: "laptop", actor: ACTOR }),
    kind: "project_key",
    events: [/^key\.created \w{8}$/],
  },
  "a revoked key": {
    prepare: ({ store }) => store.keys.create("p"),
    change: async ({ store }) => {
      const [key] = await store.keys.list("p");
      await store.keys.revoke("p", key?.prefix ?? "", { actor: ACTOR });
    },
    kind: "project_key",
    events: [/^key\.revoked \w{8}$/],
  },
  "a new S3 key": {
    change: ({ store }) => store.s3Keys.create("p", { name: "backup", actor: ACTOR }),
    kind: "s3_key",
    events: [/^s3_key\.created KV[A-Z0-9]{18}$/],
  },
  "a revoked S3 key": {
    prepare: ({ store }) => store.s3Keys.create("p"),
    change: async ({ store }) => {
      const [key] = await store.s3Keys.list("p");
      await store.s3Keys.revoke("p", key?.accessKeyId ?? "", { actor: ACTOR });
    },
    kind: "s3_key",
    events: [/^s3_key\.revoked KV[A-Z0-9]{18}$/],
  },
  "a new application": {
    change: ({ store }) => store.apps.create("p", "web", { access: true }, ACTOR),
    kind: "app",
    events: ["app.created web", "access.enabled web"],
  },
  "a changed application": {
    prepare: makeApp(true),
    change: ({ store }) =>
      store.apps.update("p", "web", { upstream: "http://a", host: "a.b.c", access: true }, ACTOR),
    kind: "app",
    events: ["app.changed web"],
  },
  "access control switched on": {
    prepare: makeApp(false),
    change: ({ store }) => store.apps.update("p", "web", { access: true }, ACTOR),
    kind: "app",
    events: ["access.enabled web"],
  },
  "access control switched off": {
    prepare: makeApp(true),
    change: ({ store }) => store.apps.update("p", "web", { access: false }, ACTOR),
    kind: "app",
    events: ["access.disabled web"],
  },
  "a deleted application": {
    prepare: makeApp(true),
    change: ({ store }) => store.apps.delete("p", "web", ACTOR),
    kind: "app",
    events: ["app.deleted web"],
  },
  "a new key of an application": {
    prepare: makeApp(true),
    change: ({ store }) => store.appKeys.create("p", "web", { name: "ci" }, ACTOR),
    kind: "app_key",
    events: [/^app_key\.created web\/\w{8}$/],
  },
  "a revoked key of an application": {
    prepare: async (bench) => {
      await makeApp(true)(bench);
      await bench.store.appKeys.create("p", "web", { name: "ci" });
    },
    change: ({ store }) => store.appKeys.revoke("p", "web", "ci", ACTOR),
    kind: "app_key",
    events: [/^app_key\.revoked web\/\w{8}$/],
  },
  "a quota and a domain": {
    change: ({ store }) => store.projects.update("p", { maxBytes: 7, hostSuffix: "b.c" }, ACTOR),
    kind: "project",
    events: ["quota.changed max_bytes=7", "host_suffix.changed host_suffix=b.c"],
  },
  "a removed quota": {
    prepare: ({ store }) => store.projects.update("p", { maxBytes: 7, hostSuffix: "b.c" }),
    change: ({ store }) => store.projects.update("p", { maxBytes: null, hostSuffix: "b.c" }, ACTOR),
    kind: "project",
    events: ["quota.changed max_bytes=null"],
  },
  "the trash": {
    change: ({ store }) => store.projects.update("p", { trashDays: 30 }, ACTOR),
    kind: "project",
    events: ["trash.changed trash_days=30"],
  },
  "a deleted drive": {
    prepare: (bench) => put(bench, "a", new Uint8Array(9)),
    change: ({ store }) => store.projects.deleteDrive("p", "d", ACTOR),
    kind: "removal",
    events: ["drive.deleted d"],
  },
};

for (const [name, { prepare, change, kind, events }] of Object.entries(CHANGES)) {
  testOnAll(`The operation of ${name} records it in both logs`, async (bench) => {
    await prepare?.(bench);
    const before = (await eventsOf(bench)).length;
    const operations = await operationsOf(bench, () => change(bench));
    const recorded = (await eventsOf(bench)).slice(before);
    assertEquals(recorded.length, events.length, recorded.join());
    for (const [i, expected] of events.entries()) {
      const matches = expected instanceof RegExp
        ? expected.test(recorded[i] ?? "")
        : expected === recorded[i];
      assert(matches, `${recorded[i]} instead of ${expected}`);
    }
    const page = await bench.store.events.list("p", { limit: events.length, last: "" });
    const copies = await bench.store.events.listServer({ limit: events.length, last: "" });
    assertEquals(copies.events, page.events.map((event) => ({ ...event, project: "p" })));
    for (const { id, by, address, at } of page.events) {
      assertEquals([by, address], [ACTOR.by, ACTOR.address]);
      assert(Math.abs(at - Date.now()) < 30 * SECOND);
      const together = [`["${kind}",`, `["event","p","${id}"]`, `["server_event","${id}"]`];
      const isOne = operations.some((touched) =>
        together.every((start) => [...touched].some((key) => key.startsWith(start)))
      );
      assert(isOne, "The event is not in the operation of the change");
    }
  });
}

testOnAll("A sign-in is recorded with its session, by the key", async (bench) => {
  const { store } = bench;
  await store.apps.create("p", "web", {});
  const made = await store.keys.create("p");
  const hash = hashSecret(made?.key.text ?? "");
  const operations = await operationsOf(
    bench,
    () => store.sessions.start("p", "web", hash, "192.0.2.7"),
  );
  const { events: [event] } = await store.events.list("p", ALL_EVENTS);
  assertEquals(
    [event?.event, event?.target, event?.by, event?.address],
    ["gate.signed_in", "web", made?.prefix, "192.0.2.7"],
  );
  assertEquals(operations.length, 1);
});

testOnAll("What changes nothing, or is refused, is not recorded", async (bench) => {
  const { store } = bench;
  await store.apps.create("p", "web", { upstream: "http://a" });
  await put(bench, "a", new Uint8Array(9));
  await store.projects.deleteDrive("p", "d");
  const before = await serverEventsOf(bench);
  await store.keys.revoke("p", "unknown0");
  await store.s3Keys.revoke("p", newS3Key().accessKeyId);
  await store.appKeys.revoke("p", "web", "unknown");
  await store.apps.update("p", "web", { access: false, upstream: "http://a", host: null });
  await store.apps.update("p", "unknown", { access: true });
  await store.apps.delete("p", "unknown");
  await store.projects.update("p", { maxBytes: null, hostSuffix: null });
  await store.projects.update("unknown", { maxBytes: 7 });
  await store.projects.deleteDrive("p", "d");
  await store.projects.deleteDrive("p", "unknown");
  await store.projects.delete("unknown");
  await assertRejects(() => store.apps.create("p", "web", {}), AlreadyExists);
  await assertRejects(() => store.projects.create("p", undefined), AlreadyExists);
  assertEquals(await serverEventsOf(bench), before);
});

testOnAll("The events of a project end with it, and the server's stay", async (bench) => {
  const { store } = bench;
  const { key } = await store.projects.create("gone", undefined, undefined, ACTOR);
  const prefix = key.text.slice("gone_".length).slice(0, 8);
  assertEquals(await eventsOf(bench, "gone"), ["project.created", `key.created ${prefix}`]);
  await store.projects.delete("gone", ACTOR);
  await store.sweeper.sweep();
  assertEquals(await eventsOf(bench, "gone"), []);
  assertEquals(await serverEventsOf(bench), [
    "project.created gone ",
    `key.created gone ${prefix}`,
    "project.deleted gone ",
  ]);
  await store.projects.create("gone", undefined);
  assertEquals((await eventsOf(bench, "gone")).length, 2);
});

testOnAll("A change that a deletion of the project overtakes is not recorded", async (bench) => {
  const { store, db } = bench;
  const made = await store.keys.create("p");
  await store.projects.create("q", undefined);
  await store.projects.create("r", undefined);
  const s3 = await store.s3Keys.create("r");
  await store.apps.create("q", "web", { access: true });
  await store.appKeys.create("q", "web", { name: "ci" });
  const { getMany } = db.reader;
  const other = otherProcess(bench).store;
  const revocations = [
    ["p", () => store.keys.revoke("p", made?.prefix ?? "")],
    ["q", () => store.appKeys.revoke("q", "web", "ci")],
    ["r", () => store.s3Keys.revoke("r", s3?.accessKeyId ?? "")],
  ] as const;
  // One after the other: the second of two at once might commit before the deletion.
  for (const [project, revoke] of revocations) {
    db.reader.getMany = async (...args: Parameters<typeof getMany>) => {
      const found = await getMany.apply(db.reader, args);
      db.reader.getMany = getMany;
      await other.projects.delete(project);
      return found as never;
    };
    assertEquals(await revoke(), false);
  }
  await store.sweeper.sweep();
  for (const [project] of revocations) {
    assertEquals(await countEntries(bench, prefixes.all("event", project)), 0);
  }
  const revoked = (await serverEventsOf(bench)).filter((event) => event.includes("revoked"));
  assertEquals(revoked, []);
});

testOnAll("A renewed token is recorded once, not at each start", async (bench) => {
  const { adminToken } = bench.store;
  await adminToken.setFirst("one");
  await adminToken.setFirst("two");
  await adminToken.set("one");
  await adminToken.set("three");
  const renewed = "admin_token.renewed  admin";
  assertEquals(await serverEventsOf(bench), [renewed, renewed]);
  const { events: [event] } = await bench.store.events.listServer(ALL_EVENTS);
  assertEquals([event?.by, event?.address], ["command line", ""]);
});
