import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { hashSecret } from "../../rules/secrets.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../rules/units.ts";
import { keys, prefixes } from "../engine/keys.ts";
import type { Credential } from "../engine/records.ts";
import { KEY_CACHE_TTL } from "../engine/ttl_cache.ts";
import { assertKeys, countEntries, countReads, entriesWith } from "../testing/entries.ts";
import { otherProcess, sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import { until, withClock } from "../testing/time.ts";
import {
  BROWSER_SESSION_TIME,
  type BrowserSession,
  MAX_BROWSER_SESSIONS,
  MAX_SIGN_IN_CODES,
  SIGN_IN_CODE_TIME,
} from "./sign_ins.ts";

const CLIENT = { address: "192.0.2.7", browser: "Firefox on Linux" };
const TOKEN = "the token of the administrator";
const ADMINISTRATOR = { hash: hashSecret(TOKEN) };

/** Makes a project key, or sets the administrator's token. */
async function credentialOf(
  { store }: TestStore,
  expires?: number,
): Promise<Credential & { project: string; prefix: string }> {
  const made = await store.keys.create("p", { limits: expires === undefined ? {} : { expires } });
  return { hash: hashSecret(made?.key.text ?? ""), project: "p", prefix: made?.prefix ?? "" };
}

async function start(
  { store }: TestStore,
  owner: Credential,
): Promise<BrowserSession & { token: string }> {
  const { hash, project } = owner;
  const credential = project === undefined ? { hash } : { hash, project };
  const started = await store.signIns.start({ owner: credential }, CLIENT);
  if (started === undefined) throw new Error("The session was not started");
  return { token: started.token, ...started.session };
}

testOnAll("A session stands for its key, and the store has no token of it", async (bench) => {
  const { signIns } = bench.store;
  const owner = await credentialOf(bench);
  const { token, hash, record } = await start(bench, owner);
  assertMatch(token, /^[A-Za-z0-9]{32}$/);
  assertEquals(hash, hashSecret(token));
  assertEquals(await entriesWith(bench, token), []);
  const found = await signIns.find(hash);
  assertEquals([found?.key?.project, found?.key?.prefix], ["p", owner.prefix]);
  assertEquals([record.address, record.browser], [CLIENT.address, CLIENT.browser]);
  // The last use of the project key is stored in the background.
  await until(() => !bench.db.isCommitting);
  assertEquals(await countReads(bench, () => signIns.find(hash)), 0);
  for (const other of [token, record.id, owner.hash, ""]) {
    assertEquals(await signIns.find(other), undefined);
  }
  const { events: [event] } = await bench.store.events.list("p", { limit: 1, last: "" });
  assertEquals([event?.event, event?.by, event?.target], [
    "dashboard.signed_in",
    owner.prefix,
    record.id,
  ]);
});

testOnAll("A session of the administrator ends with the token", async (bench) => {
  const { adminToken, signIns } = bench.store;
  assertEquals(await signIns.start({ owner: ADMINISTRATOR }, CLIENT), undefined);
  await adminToken.set(ADMINISTRATOR.hash);
  const { hash } = await start(bench, ADMINISTRATOR);
  assertEquals((await signIns.find(hash))?.key, undefined);
  await adminToken.set(ADMINISTRATOR.hash);
  assertNotEquals(await signIns.find(hash), undefined);
  await adminToken.set(hashSecret("another"));
  assertEquals(await signIns.find(hash), undefined);
  // Also with the former token, and for a process that has not seen the other one.
  const unseen = await otherProcess(bench);
  await adminToken.set(ADMINISTRATOR.hash);
  assertEquals(await unseen.store.signIns.find(hash), undefined);
  assertEquals(await countEntries(bench, ["grant"]), 0);
});

testOnAll("A session ends with its key and with its project", async (bench) => {
  const { store } = bench;
  const owner = await credentialOf(bench);
  const revoked = await start(bench, owner);
  await store.keys.revoke("p", owner.prefix);
  assertEquals(await store.signIns.find(revoked.hash), undefined);
  assertEquals(
    await store.signIns.start({ owner: { hash: owner.hash, project: "p" } }, CLIENT),
    undefined,
  );
  const ended = await start(bench, await credentialOf(bench));
  await store.projects.delete("p");
  assertEquals(await store.signIns.find(ended.hash), undefined);
  await store.sweeper.sweep();
  for (const prefix of [["grant"], prefixes.all("grant_of")]) {
    assertEquals(await countEntries(bench, prefix), 0);
  }
});

testOnAll("A session for another project than that of its key does not start", async (bench) => {
  const { hash } = await credentialOf(bench);
  await bench.store.projects.create("q", undefined);
  for (const project of ["q", "none"]) {
    assertEquals(await bench.store.signIns.start({ owner: { hash, project } }, CLIENT), undefined);
  }
  // Without a project it is taken as the administrator's token.
  assertEquals(await bench.store.signIns.start({ owner: { hash } }, CLIENT), undefined);
});

testOnAll(
  "A session ends 30 days after its last use, and a use is stored once an hour",
  async (bench) => {
    const { signIns } = bench.store;
    const owner = await credentialOf(bench);
    await withClock(async (forward) => {
      const { hash } = await start(bench, owner);
      for (let day = 0; day < 3; day++) {
        forward(29 * DAY);
        assertNotEquals(await signIns.find(hash), undefined);
        await until(() => !bench.db.isCommitting);
        const reads = await countReads(bench, () => signIns.find(hash));
        assertEquals(reads <= 2, true);
        const [{ lastUsed = 0, expires = 0 } = {}] = await signIns.list(owner.hash);
        assertEquals([lastUsed, expires], [Date.now(), Date.now() + BROWSER_SESSION_TIME]);
      }
      forward(HOUR - 1);
      await signIns.find(hash);
      await until(() => !bench.db.isCommitting);
      assertEquals((await signIns.list(owner.hash))[0]?.lastUsed, Date.now() - HOUR + 1);
      forward(BROWSER_SESSION_TIME - HOUR + 1);
      assertEquals(await signIns.list(owner.hash), []);
      assertEquals(await signIns.find(hash), undefined);
      assertEquals(await countEntries(bench, ["grant"]), 0);
    });
  },
);

testOnAll("A session ends no later than its key", async (bench) => {
  await withClock(async (forward) => {
    const owner = await credentialOf(bench, Date.now() + 2 * HOUR);
    const { hash, record } = await start(bench, owner);
    assertEquals(record.expires, Date.now() + 2 * HOUR);
    forward(HOUR + MINUTE);
    assertNotEquals(await bench.store.signIns.find(hash), undefined);
    await until(() => !bench.db.isCommitting);
    assertEquals((await bench.store.signIns.list(owner.hash))[0]?.expires, record.expires);
    forward(HOUR);
    assertEquals(await bench.store.signIns.find(hash), undefined);
  });
});

testOnAll("An expired session does not come back when the clock is set back", async (bench) => {
  const { signIns } = bench.store;
  const owner = await credentialOf(bench);
  await withClock(async (forward, set) => {
    const { hash } = await start(bench, owner);
    set(BROWSER_SESSION_TIME);
    assertEquals(await signIns.find(hash), undefined);
    set(-BROWSER_SESSION_TIME);
    forward(KEY_CACHE_TTL);
    assertEquals(await signIns.find(hash), undefined);
    assertEquals(await otherProcess(bench).store.signIns.find(hash), undefined);
  });
});

testOnAll(
  "An ended session is gone at once here, and within the cache time elsewhere",
  async (bench) => {
    const { signIns } = bench.store;
    const other = otherProcess(bench).store.signIns;
    const owner = await credentialOf(bench);
    await withClock(async (forward) => {
      const sessions = [
        await start(bench, owner),
        await start(bench, owner),
        await start(bench, owner),
      ];
      const [first, second, third] = sessions;
      for (const { hash } of sessions) assertNotEquals(await other.find(hash), undefined);
      if (first !== undefined) await signIns.end(first);
      assertEquals(await signIns.endAll(owner.hash, second?.record.id), 1);
      assertEquals(await signIns.endAll(hashSecret("another"), third?.record.id), 0);
      assertEquals((await signIns.list(owner.hash)).map(({ id }) => id), [third?.record.id]);
      assertEquals(await signIns.isStillValid(third?.hash ?? "", 0), true);
      forward(KEY_CACHE_TTL);
      for (const { hash } of sessions.slice(0, 2)) {
        assertEquals(await signIns.find(hash), undefined);
        assertEquals(await other.find(hash), undefined);
      }
      assertEquals(await signIns.endAll(owner.hash), 1);
      assertEquals(await signIns.isStillValid(third?.hash ?? "", 0), false);
      // A request that is older than the cache time makes another process look again.
      assertEquals(await other.isStillValid(third?.hash ?? "", KEY_CACHE_TTL + SECOND), false);
    });
  },
);

testOnAll("Beyond the number of sessions of a key, the oldest one ends", async (bench) => {
  const [owner, stranger] = [await credentialOf(bench), await credentialOf(bench)];
  const kept = await start(bench, stranger);
  const started = [];
  for (let i = 0; i < MAX_BROWSER_SESSIONS + 2; i++) started.push(await start(bench, owner));
  const { signIns } = bench.store;
  const ids = started.slice(2).reverse().map(({ record }) => record.id);
  assertEquals((await signIns.list(owner.hash)).map(({ id }) => id), ids);
  assertEquals(await signIns.find(started[1]?.hash ?? ""), undefined);
  assertNotEquals(await signIns.find(kept.hash), undefined);
});

testOnAll("Nothing is left of a session after its deadline", async (bench) => {
  await bench.store.adminToken.set(ADMINISTRATOR.hash);
  await withClock(async (forward) => {
    const { hash } = await start(bench, ADMINISTRATOR);
    await bench.store.signIns.createCode("administrator");
    forward(2 * HOUR);
    await bench.store.signIns.find(hash);
    await until(() => !bench.db.isCommitting);
    forward(BROWSER_SESSION_TIME);
    await sweepLater(bench);
    await sweepLater(bench);
    await assertKeys(bench, { admin_token: 1 });
    assertEquals(await countEntries(bench, ["garbage"]), 0);
  });
});

testOnAll("A code signs in once, of all processes", async (bench) => {
  const { adminToken, signIns } = bench.store;
  await adminToken.set(ADMINISTRATOR.hash);
  const owner = await credentialOf(bench);
  const other = otherProcess(bench).store.signIns;
  for (const credential of ["administrator", { hash: owner.hash, project: "p" }] as const) {
    const made = await signIns.createCode(credential);
    assertMatch(made?.code ?? "", /^once_[A-Za-z0-9]{32}$/);
    assertEquals(await entriesWith(bench, made?.code ?? ""), []);
    const code = hashSecret(made?.code ?? "");
    const attempts = [signIns, other, signIns, other].map((one) => one.start({ code }, CLIENT));
    const started = (await Promise.all(attempts)).filter((one) => one !== undefined);
    assertEquals(started.length, 1);
    const prefix = credential === "administrator" ? undefined : owner.prefix;
    assertEquals(started[0]?.session.key?.prefix, prefix);
    assertEquals(await other.start({ code }, CLIENT), undefined);
    assertEquals(await countEntries(bench, ["grant", "code"]), 0);
  }
});

testOnAll("A code ends after 15 minutes, and with its credential", async (bench) => {
  const { store } = bench;
  const owner = await credentialOf(bench);
  const make = async () => {
    const made = await store.signIns.createCode({ hash: owner.hash, project: "p" });
    return { code: hashSecret(made?.code ?? "") };
  };
  await withClock(async (forward) => {
    const late = await make();
    forward(SIGN_IN_CODE_TIME);
    assertEquals(await store.signIns.start(late, CLIENT), undefined);
    const inTime = await make();
    forward(SIGN_IN_CODE_TIME - 1);
    assertNotEquals(await store.signIns.start(inTime, CLIENT), undefined);
    const revoked = await make();
    await store.keys.revoke("p", owner.prefix);
    assertEquals(await store.signIns.start(revoked, CLIENT), undefined);
    assertEquals(await store.signIns.createCode({ hash: owner.hash, project: "p" }), undefined);
  });
  assertEquals(await store.signIns.createCode("administrator"), undefined);
});

testOnAll("Beyond the number of codes of a key, the oldest one ends", async (bench) => {
  const { hash } = await credentialOf(bench);
  const codes = [];
  for (let i = 0; i <= MAX_SIGN_IN_CODES; i++) {
    codes.push(
      hashSecret((await bench.store.signIns.createCode({ hash, project: "p" }))?.code ?? ""),
    );
  }
  const [first = "", second = ""] = codes;
  assertEquals(await bench.store.signIns.start({ code: first }, CLIENT), undefined);
  assertNotEquals(await bench.store.signIns.start({ code: second }, CLIENT), undefined);
});

testOnAll("A token of one kind is none of another", async (bench) => {
  const { store, db } = bench;
  const owner = await credentialOf(bench);
  const session = await start(bench, owner);
  assertEquals(await store.signIns.start({ code: session.hash }, CLIENT), undefined);
  assertEquals(await store.sessions.find(session.hash), undefined);
  assertEquals(await store.tickets.find(session.token), undefined);
  const { code = "" } = await store.signIns.createCode({ hash: owner.hash, project: "p" }) ?? {};
  assertEquals(await store.signIns.find(hashSecret(code)), undefined);
  assertEquals((await db.reader.get(keys.grant("ticket", hashSecret(code)))).value, null);
});
