import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { type KeyLimits, Rights } from "../../rules/rights.ts";
import { hashSecret } from "../../rules/secrets.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../rules/units.ts";
import { NoSuchProject, S3KeysUnavailable } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { KEY_CACHE_TTL } from "../engine/ttl_cache.ts";
import { Store } from "../store.ts";
import { countReads, entriesWith, versionstampsOf } from "../testing/entries.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { until, withClock } from "../testing/time.ts";
import type { NewKey } from "./key_entries.ts";
import { givenS3SecretKey } from "./s3_secrets.ts";

interface Made {
  accessKeyId: string;
  secret: string;
}

async function makeKey({ store }: TestStore, key: NewKey = {}): Promise<Made> {
  const made = await store.s3Keys.create("p", key);
  assert(made !== undefined);
  return made;
}

async function opened({ store }: TestStore, { accessKeyId }: Made): Promise<string | undefined> {
  return (await store.s3Keys.find(accessKeyId))?.project;
}

function expiringIn(life: number): NewKey {
  return { limits: { expires: Date.now() + life } };
}

async function lastUse({ store }: TestStore, { accessKeyId }: Made): Promise<number | undefined> {
  const listed = await store.s3Keys.list("p");
  return listed.find((key) => key.accessKeyId === accessKeyId)?.lastUsed;
}

const useVersions = (bench: TestStore) => versionstampsOf(bench, "s3_key_use");

testOnAll("An S3 key has its secret and the limits with which it was created", async (bench) => {
  const limits: KeyLimits = {
    permissions: ["read", "list"],
    drives: ["d", "é"],
    namePrefix: "in/",
    expires: Date.now() + DAY,
  };
  const made = await makeKey(bench, { name: "backup", limits });
  assertMatch(made.accessKeyId, /^KV[A-Z0-9]{18}$/);
  for (const { store } of [bench, otherProcess(bench)]) {
    const { accessKeyId, secret } = made;
    const rights = new Rights(limits);
    const found = await store.s3Keys.find(accessKeyId);
    assertEquals(found, { project: "p", accessKeyId, secret, rights, deleting: [] });
    const [listed] = await store.s3Keys.list("p");
    assertEquals([listed?.name, listed?.rights, listed?.isUsable], ["backup", rights, true]);
  }
});

testOnAll("The secret of an S3 key is nowhere in the store", async (bench) => {
  const made = [await makeKey(bench), await makeKey(bench, { name: "second" })];
  const listed = await bench.store.s3Keys.list("p");
  assertEquals(listed.map(({ accessKeyId }) => accessKeyId).toSorted(), idsOf(made));
  for (const { secret } of made) {
    assertEquals(await entriesWith(bench, secret), []);
    assertEquals(await entriesWith(bench, btoa(secret)), []);
    assert(!JSON.stringify(listed).includes(secret));
  }
});

function idsOf(made: Made[]): string[] {
  return made.map(({ accessKeyId }) => accessKeyId).toSorted();
}

testOnAll("A project that does not exist has no S3 keys", async ({ store }) => {
  assertEquals(await store.s3Keys.create("other"), undefined);
  assertEquals(await store.s3Keys.list("other"), []);
  assertEquals(await store.s3Keys.revoke("other", "KV".padEnd(20, "A")), false);
});

testOnAll("An id that no S3 key can have costs no read", async (bench) => {
  const { s3Keys } = bench.store;
  const ids = ["", "KV", "AKIAIOSFODNN7EXAMPLE", "KV".padEnd(5000, "A"), "KV😀".padEnd(20, "A")];
  for (const id of ids) {
    const look = async () => assertEquals(await s3Keys.find(id), undefined);
    assertEquals(await countReads(bench, look), 0);
    assertEquals(await s3Keys.revoke("p", id), false);
  }
});

testOnAll("A repeated look-up of an S3 key costs no read", async (bench) => {
  const { accessKeyId } = await makeKey(bench);
  const ask = () =>
    Promise.all(Array.from({ length: 50 }, () => bench.store.s3Keys.find(accessKeyId)));
  assert(await countReads(bench, ask) <= 3);
  // The last use is stored in the background.
  await until(() => !bench.db.isCommitting);
  assertEquals(await countReads(bench, ask), 0);
});

testOnAll("A revoked S3 key opens nothing at once, and the others stay", async (bench) => {
  const { store } = bench;
  const [gone, kept] = [await makeKey(bench), await makeKey(bench)];
  for (const key of [gone, kept]) assertEquals(await opened(bench, key), "p");
  let calls = 0;
  store.revocations.onChange(() => void calls++);
  const { accessKeyId } = gone;
  assertEquals(await store.s3Keys.isStillValid(accessKeyId, "p", 0), true);
  assertEquals(await store.s3Keys.isStillValid(accessKeyId, "other", 0), false);
  assertEquals(await store.s3Keys.revoke("other", accessKeyId), false);
  await store.projects.create("q", undefined);
  assertEquals(await store.s3Keys.revoke("q", accessKeyId), false);
  assertEquals(await store.s3Keys.revoke("p", accessKeyId), true);
  assertEquals(calls, 1);
  assertEquals([await opened(bench, gone), await opened(bench, kept)], [undefined, "p"]);
  assertEquals(await store.s3Keys.isStillValid(accessKeyId, "p", 0), false);
  assertEquals(await store.s3Keys.revoke("p", accessKeyId), false);
  assertEquals((await store.s3Keys.list("p")).length, 1);
  await until(() => !bench.db.isCommitting);
  assertEquals(await useVersions(bench).then(({ length }) => length), 1);
});

testOnAll(
  "Another process accepts a revoked S3 key for the cache time and no longer",
  async (bench) => {
    const other = otherProcess(bench);
    const key = await makeKey(bench);
    await withClock(async (forward) => {
      assertEquals(await opened(other, key), "p");
      await bench.store.s3Keys.revoke("p", key.accessKeyId);
      forward(KEY_CACHE_TTL - 1);
      assertEquals([await opened(bench, key), await opened(other, key)], [undefined, "p"]);
      assertEquals(await other.store.s3Keys.isStillValid(key.accessKeyId, "p", 0), true);
      const late = KEY_CACHE_TTL + 1;
      assertEquals(await other.store.s3Keys.isStillValid(key.accessKeyId, "p", late), false);
      assertEquals(await opened(other, key), undefined);
    });
  },
);

testOnAll("A revoked S3 key stays revoked for look-ups that run meanwhile", async (bench) => {
  for (let i = 0; i < 20; i++) {
    const key = await makeKey(bench);
    const looking = Array.from({ length: 5 }, () => opened(bench, key));
    await bench.store.s3Keys.revoke("p", key.accessKeyId);
    await Promise.all(looking);
    assertEquals(await opened(bench, key), undefined);
  }
  await until(() => !bench.db.isCommitting);
  assertEquals(await useVersions(bench), []);
});

testOnAll("An S3 key is revoked only within the drives and names of the caller", async (bench) => {
  const { s3Keys } = bench.store;
  const { accessKeyId } = await makeKey(bench, { limits: { drives: ["d"] } });
  const others = [{ drives: ["e"] }, { drives: ["d"], namePrefix: "a/" }];
  for (const limits of others) {
    const within = new Rights(limits);
    assertEquals(await s3Keys.revoke("p", accessKeyId, { within }), false);
  }
  const within = new Rights({ drives: ["d", "e"] });
  assertEquals(await s3Keys.revoke("p", accessKeyId, { within }), true);
});

testOnAll("An S3 key opens its project until it expires", async (bench) => {
  const other = otherProcess(bench);
  await withClock(async (forward, set) => {
    const key = await makeKey(bench, expiringIn(10 * SECOND));
    forward(10 * SECOND - 1);
    assertEquals([await opened(bench, key), await opened(other, key)], ["p", "p"]);
    forward(1);
    assertEquals([await opened(bench, key), await opened(other, key)], [undefined, undefined]);
    assertEquals(await bench.store.s3Keys.list("p"), []);
    assertEquals(await bench.store.s3Keys.revoke("p", key.accessKeyId), false);
    set(-10 * SECOND);
    forward(KEY_CACHE_TTL);
    assertEquals(await opened(other, key), undefined);
    assertEquals(await useVersions(bench), []);
  });
});

testOnAll("The sweeper deletes an expired S3 key with all that belongs to it", async (bench) => {
  const key = await makeKey(bench, expiringIn(HOUR));
  const kept = await makeKey(bench, expiringIn(10 * DAY));
  assertEquals([await opened(bench, key), await opened(bench, kept)], ["p", "p"]);
  await until(async () => (await useVersions(bench)).length === 2);
  await bench.store.sweeper.sweep(Date.now() + HOUR);
  for (const kind of ["s3_key", "s3_key_of", "s3_key_use"] as const) {
    const entries = bench.db.reader.list({ prefix: prefixes.all(kind) });
    const ids = await Array.fromAsync(entries, ({ key }) => String(key.at(-1)));
    assertEquals(ids, [kept.accessKeyId]);
  }
});

testOnAll("The hour of the last use of an S3 key is stored once an hour", async (bench) => {
  const other = otherProcess(bench);
  await withClock(async (forward, set) => {
    set(HOUR - Date.now() % HOUR);
    const hour = Date.now();
    const key = await makeKey(bench);
    assertEquals(await lastUse(bench, key), undefined);
    forward(10 * MINUTE);
    for (const each of [bench, other, bench]) await opened(each, key);
    assertEquals(await lastUse(bench, key), hour);
    const first = await useVersions(bench);
    forward(45 * MINUTE);
    for (const each of [bench, other, otherProcess(bench)]) await opened(each, key);
    assertEquals(await useVersions(bench), first);
    forward(5 * MINUTE);
    await opened(other, key);
    await until(async () => await lastUse(bench, key) === hour + HOUR);
  });
});

testOnAll("A key that was revoked or has expired creates no S3 key", async (bench) => {
  const { keys: projectKeys, s3Keys } = bench.store;
  await withClock(async (forward) => {
    const made = await projectKeys.create("p", expiringIn(SECOND));
    const by = hashSecret(made?.key.text ?? "");
    assert(await s3Keys.create("p", { by }) !== undefined);
    forward(SECOND);
    for (const each of [by, hashSecret("p_unknown")]) {
      await assertRejects(() => s3Keys.create("p", { by: each }), NoSuchProject);
    }
  });
});

/** Returns a process on the same store that encrypts with another key, and what it reports. */
function processWith(
  { db }: TestStore,
  byte?: number,
): { bench: TestStore; reports: string[] } {
  const reports: string[] = [];
  const store = new Store(db, {
    s3SecretKey: byte === undefined ? undefined : givenS3SecretKey(new Uint8Array(32).fill(byte)),
    onError: (error) => reports.push(error instanceof Error ? error.message : String(error)),
  });
  return { bench: { db, store }, reports };
}

testOnAll(
  "Without the encryption key, S3 keys are refused, but can be listed and revoked",
  async (bench) => {
    const made = [await makeKey(bench), await makeKey(bench)];
    for (const byte of [undefined, 8]) {
      const { bench: other, reports } = processWith(bench, byte);
      for (let i = 0; i < 2; i++) {
        for (const key of made) assertEquals(await opened(other, key), undefined);
        const listed = await other.store.s3Keys.list("p");
        assertEquals(listed.map(({ isUsable }) => isUsable), made.map(() => false));
      }
      const expected = byte === undefined
        ? /^This server has no secret to encrypt S3 keys with: .*--s3-secret-file or KVDRIVE_S3_SECRET$/
        : /^S3 keys cannot be used: their secrets were encrypted with another secret/;
      assertEquals(reports.length, 1, reports.join());
      assertMatch(reports[0] ?? "", expected);
      for (const { secret } of made) assert(!reports.join().includes(secret));
      assertEquals(await other.store.s3Keys.revoke("p", made.pop()?.accessKeyId ?? ""), true);
    }
    assertEquals(await bench.store.s3Keys.list("p"), []);
    const { bench: without } = processWith(bench);
    await assertRejects(() => without.store.s3Keys.create("p"), S3KeysUnavailable);
    const { events } = await bench.store.events.list("p", { limit: 10, last: "" });
    assertEquals(events.length, 4);
  },
);

testOnAll("The record of an S3 key is useless under another id or project", async (bench) => {
  const { db, store } = bench;
  await store.projects.create("q", undefined);
  const [one, two] = [await makeKey(bench), await makeKey(bench)];
  const record = async (id: string) => {
    const { value } = await db.reader.get<Record<string, unknown>>(keys.s3Key(id));
    assert(value !== null);
    return value;
  };
  const [first, second] = [await record(one.accessKeyId), await record(two.accessKeyId)];
  const attacks: [string, Record<string, unknown>][] = [
    // The records are swapped, the project is another, and the secret is cut, empty or missing.
    [one.accessKeyId, second],
    [two.accessKeyId, first],
    [one.accessKeyId, { ...first, project: "q" }],
    [one.accessKeyId, { ...first, secret: { iv: "", text: "" } }],
    [one.accessKeyId, { ...first, secret: { iv: "!", text: 7 } }],
    [one.accessKeyId, { ...first, secret: undefined }],
  ];
  for (const [id, value] of attacks) {
    await db.commit(new Operation().set(keys.s3Key(id), value));
    const { bench: fresh, reports } = processWith(bench, 7);
    assertEquals(await fresh.store.s3Keys.find(id), undefined);
    assertEquals(reports.length, 1);
  }
  await db.commit(new Operation().set(keys.s3Key(one.accessKeyId), first));
  const { store: fresh } = processWith(bench, 7).bench;
  assertEquals((await fresh.s3Keys.find(one.accessKeyId))?.secret, one.secret);
});
