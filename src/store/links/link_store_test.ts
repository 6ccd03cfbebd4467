import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { HOUR, MINUTE } from "../../rules/units.ts";
import { BeingDeleted, NoSuchProject, TooManyLinks } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { LinkKeyRecord } from "../engine/records.ts";
import { KEY_CACHE_TTL } from "../engine/ttl_cache.ts";
import { DRIVE, place } from "../testing/bodies.ts";
import {
  assertKeys,
  countReads,
  drivesOf,
  entriesWith,
  readSeparately,
} from "../testing/entries.ts";
import { put } from "../testing/files.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { until, withClock } from "../testing/time.ts";
import { type LinkInfo, MAX_LINKS, type NewLink, type OpenLink } from "./link_store.ts";

const ALL = { limit: 1000, last: "" };

async function create(
  { store }: TestStore,
  { lifetime, ...own }: Partial<NewLink> & { lifetime?: number } = {},
): Promise<LinkInfo> {
  const expires = lifetime === undefined ? undefined : Date.now() + lifetime;
  return await store.links.create(DRIVE, {
    target: { name: "a" },
    download: false,
    expires,
    ...own,
  });
}

/** The link of a token, which must be open. */
async function opened({ store }: TestStore, token: string): Promise<OpenLink> {
  const link = await store.links.find(token);
  assert(link !== undefined, "The link is not open");
  return link;
}

async function isOpen({ store }: TestStore, token: string): Promise<boolean> {
  return await store.links.find(token) !== undefined;
}

async function ids({ store }: TestStore, query = ALL): Promise<string[]> {
  return (await store.links.list(DRIVE.project, DRIVE.drive, query)).links.map(({ id }) => id);
}

testOnAll("A token opens its link, and the store does not hold it", async (bench) => {
  const link = await create(bench, { target: { prefix: "trip/" }, download: true });
  assertMatch(link.token, /^[\w-]{48}$/);
  const { id, record } = await opened(bench, link.token);
  assertEquals([id, record.prefix, record.drive, record.download], [link.id, "trip/", "d", true]);
  const code = link.token.slice(link.id.length);
  assertEquals(await entriesWith(bench, code), []);
  const [listed] = (await bench.store.links.list("p", "d", ALL)).links;
  assertEquals(listed?.token, link.token);
});

testOnAll("A token with another character opens nothing", async (bench) => {
  const { token } = await create(bench);
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === "A" ? "B" : "A";
    const changed = token.slice(0, at) + other + token.slice(at + 1);
    assertEquals(await bench.store.links.find(changed), undefined);
  }
  for (
    const text of ["", "x", token.slice(1), `${token}A`, token.toLowerCase(), "%00".repeat(20)]
  ) {
    assertEquals(await isOpen(bench, text), false);
  }
});

testOnAll("The first links of several processes share one signing key", async (bench) => {
  const other = otherProcess(bench);
  assertEquals(await isOpen(bench, "x"), false);
  const links = await Promise.all([bench, other, bench, other].map((one) => create(one)));
  for (const { token } of links) {
    assertEquals([await isOpen(bench, token), await isOpen(other, token)], [true, true]);
  }
  const { value } = await bench.db.reader.get<LinkKeyRecord>(keys.linkKey());
  assertEquals(atob(value?.secret ?? "").length, 32);
});

testOnAll(
  "Links are listed newest first, in pages, and only those of their drive",
  async (bench) => {
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.unshift((await create(bench)).id);
    await bench.store.links.create({ project: "p", drive: "e" }, {
      target: { name: "a" },
      download: false,
    });
    assertEquals(await ids(bench), made);
    assertEquals(await ids(bench, { limit: 2, last: "" }), made.slice(0, 2));
    assertEquals(await ids(bench, { limit: 2, last: made[1] ?? "" }), made.slice(2, 4));
    assertEquals(await ids(bench, { limit: 2, last: made[3] ?? "" }), made.slice(4));
    const { links } = bench.store;
    assertEquals((await links.list("p", "d", { limit: 5, last: "" })).more, false);
    assertEquals((await links.list("p", "d", { limit: 4, last: "" })).more, true);
    const accepts = ({ created }: { created: number }) => created < 0;
    assertEquals(await links.list("p", "d", { ...ALL, accepts }), { links: [], more: false });
  },
);

testOnAll("A revoked link is dead at once, and elsewhere within the cache time", async (bench) => {
  const other = otherProcess(bench);
  const { id, token } = await create(bench);
  let calls = 0;
  bench.store.revocations.onChange(() => void calls++);
  await withClock(async (forward) => {
    assertEquals([await isOpen(bench, token), await isOpen(other, token)], [true, true]);
    assertEquals(await bench.store.links.revoke("p", "e", id), false);
    assertEquals(await bench.store.links.revoke("p", "d", id), true);
    assertEquals(await isOpen(bench, token), false);
    forward(KEY_CACHE_TTL);
    assertEquals(await isOpen(other, token), false);
  });
  assertEquals(calls, 1);
  assertEquals(await bench.store.links.revoke("p", "d", id), false);
  await assertKeys(bench, { link_key: 1 });
});

testOnAll("Changed settings count at once, and elsewhere within the cache time", async (bench) => {
  const other = otherProcess(bench);
  const { id, token } = await create(bench, { lifetime: HOUR, maxDownloads: 1 });
  const target = { ...DRIVE, id };
  const { links } = bench.store;
  await links.countDownload(await opened(bench, token));
  assertEquals([await isOpen(bench, token), await isOpen(other, token)], [false, false]);
  const more = await links.change(target, { maxDownloads: 2, password: "geheim" });
  assertEquals([more?.token, more?.downloads, more?.maxDownloads], [token, 1, 2]);
  const { record } = await opened(bench, token);
  assert(record.password !== undefined && await links.passwords.matches("geheim", record.password));
  await withClock(async (forward) => {
    const proof = await links.proofOf(await opened(bench, token));
    await links.change(target, { maxDownloads: null, download: true });
    const kept = await opened(bench, token);
    assertEquals([await links.isProof(kept, proof), kept.record.download], [true, true]);
    await links.change(target, { password: "other" });
    assertEquals(await links.isProof(await opened(bench, token), proof), false);
    forward(KEY_CACHE_TTL);
    assertEquals((await opened(other, token)).record.maxDownloads, undefined);
    await links.change(target, { password: null });
    assertEquals((await opened(bench, token)).record.password, undefined);
    forward(KEY_CACHE_TTL);
    assertEquals((await opened(other, token)).record.password, undefined);
  });
  assertEquals(await links.change({ ...target, drive: "e" }, { download: false }), undefined);
  assertEquals(await links.change({ ...target, id: "x" }, { download: false }), undefined);
});

testOnAll("A new deadline replaces the earlier one in every process", async (bench) => {
  const other = otherProcess(bench);
  const { id, token } = await create(bench, { lifetime: HOUR });
  const target = { ...DRIVE, id };
  const { links } = bench.store;
  await withClock(async (forward) => {
    forward(HOUR - 1000);
    assertEquals([await isOpen(bench, token), await isOpen(other, token)], [true, true]);
    await links.change(target, { expires: Date.now() + 2 * HOUR });
    forward(2000);
    assertEquals(await isOpen(bench, token), true);
    // The other process believes that the link has expired, and must not delete it.
    await isOpen(other, token);
    await bench.store.sweeper.sweep();
    forward(KEY_CACHE_TTL);
    assertEquals([await isOpen(bench, token), await isOpen(other, token)], [true, true]);
    await links.change(target, { expires: Date.now() + MINUTE });
    forward(MINUTE);
    assertEquals(await isOpen(bench, token), false);
    assertEquals(await links.change(target, { expires: null }), undefined);
  });
  await until(async () => (await bench.db.reader.get(keys.link(id))).value === null);
  const endless = await create(bench, { lifetime: HOUR });
  await links.change({ ...DRIVE, id: endless.id }, { expires: null });
  await bench.store.sweeper.sweep(Date.now() + 3 * HOUR);
  assertEquals(await isOpen(bench, endless.token), true);
  await assertKeys(bench, { link_key: 1, link: 1, drive_link: 1 });
});

testOnAll("A download that is counted during a change is not lost", async (bench) => {
  const { id, token } = await create(bench);
  const { links } = bench.store;
  const link = await opened(bench, token);
  for (let i = 1; i <= 5; i++) {
    await links.countDownload(link);
    await Promise.all([
      links.get("p", "d", id),
      links.change({ ...DRIVE, id }, { download: i % 2 === 0 }),
    ]);
  }
  await links.get("p", "d", id);
  assertEquals((await links.get("p", "d", id))?.downloads, 5);
});

testOnAll("A link of a deleted drive stays dead when the drive is made again", async (bench) => {
  await put(bench, "a", new Uint8Array(1));
  const { token } = await create(bench);
  assertEquals(await isOpen(bench, token), true);
  await bench.store.projects.deleteDrive(DRIVE.project, DRIVE.drive);
  await bench.store.sweeper.sweep();
  await put(bench, "a", new Uint8Array(1));
  assertEquals(await isOpen(bench, token), false);
});

testOnAll("A link of a deleted bucket stays dead when the bucket is made again", async (bench) => {
  const { token } = await create(bench);
  assertEquals(await isOpen(bench, token), true);
  const { projects } = bench.store;
  await projects.createDrive(DRIVE.project, DRIVE.drive);
  assertEquals(await projects.deleteEmptyDrive(DRIVE.project, DRIVE.drive), "deleted");
  await projects.createDrive(DRIVE.project, DRIVE.drive);
  assertEquals(await isOpen(bench, token), false);
});

testOnAll("An expired link stays dead when the clock is set back", async (bench) => {
  const { token, id } = await create(bench, { lifetime: HOUR });
  await withClock(async (forward, set) => {
    forward(HOUR - MINUTE);
    assertEquals(await isOpen(bench, token), true);
    forward(MINUTE);
    assertEquals([await isOpen(bench, token), await ids(bench)], [false, []]);
    assertEquals(await bench.store.links.get("p", "d", id), undefined);
    set(-2 * HOUR);
    forward(KEY_CACHE_TTL);
    assertEquals(await isOpen(bench, token), false);
  });
  await until(async () => (await bench.db.reader.get(keys.link(id))).value === null);
  await assertKeys(bench, { link_key: 1 });
});

testOnAll("The sweeper deletes expired links", async (bench) => {
  const link = await create(bench, { lifetime: HOUR });
  const kept = await create(bench);
  await bench.store.links.countDownload(await opened(bench, link.token));
  await bench.store.links.close();
  await assertKeys(bench, { link_key: 1, link: 2, drive_link: 2, link_downloads: 1 });
  await bench.store.sweeper.sweep(Date.now() + HOUR);
  await assertKeys(bench, { link_key: 1, link: 1, drive_link: 1 });
  assertEquals(await ids(bench), [kept.id]);
});

testOnAll("A new signing key ends all links, and the sweeper deletes them", async (bench) => {
  const other = otherProcess(bench);
  const links = [await create(bench), await create(bench, { lifetime: HOUR })];
  await withClock(async (forward) => {
    for (const { token } of links) await isOpen(other, token);
    await bench.store.links.rotateKey();
    for (const { token } of links) assertEquals(await isOpen(bench, token), false);
    assertEquals(await ids(bench), []);
    forward(KEY_CACHE_TTL);
    for (const { token } of links) assertEquals(await isOpen(other, token), false);
  });
  const kept = await create(bench);
  await bench.store.sweeper.sweep(Date.now() + 1);
  assertEquals(await isOpen(bench, kept.token), true);
  await assertKeys(bench, { link_key: 1, link: 1, drive_link: 1 });
});

testOnAll("A limit of downloads is exact across processes", async (bench) => {
  const other = otherProcess(bench);
  const { token } = await create(bench, { maxDownloads: 5 });
  const attempts = Array.from({ length: 20 }, async (_, i) => {
    const one = i % 2 === 0 ? bench : other;
    const link = await one.store.links.find(token);
    return link !== undefined && await one.store.links.countDownload(link);
  });
  const served = (await Promise.all(attempts)).filter((isServed) => isServed);
  assertEquals(served.length, 5);
  assertEquals([await isOpen(bench, token), await isOpen(other, token)], [false, false]);
  assertEquals((await bench.store.links.list("p", "d", ALL)).links[0]?.downloads, 5);
});

testOnAll("Downloads without a limit are counted in memory, and stored soon", async (bench) => {
  const { token, id } = await create(bench);
  const link = await opened(bench, token);
  const { links } = bench.store;
  assertEquals(await countReads(bench, async () => void await links.countDownload(link)), 0);
  for (let i = 0; i < 9; i++) await links.countDownload(link);
  assertEquals((await links.get("p", "d", id))?.downloads, 10);
  assertEquals((await otherProcess(bench).store.links.get("p", "d", id))?.downloads, 10);
  await links.countDownload(link);
  const other = otherProcess(bench).store.links;
  await until(async () => (await other.get("p", "d", id))?.downloads === 11);
});

testOnAll("A download that ends after the revocation leaves no count", async (bench) => {
  const { token, id } = await create(bench);
  const link = await opened(bench, token);
  await bench.store.links.revoke("p", "d", id);
  await bench.store.links.countDownload(link);
  await bench.store.links.close();
  await assertKeys(bench, { link_key: 1 });
});

testOnAll("Every refusal reads as much of the store", async (bench) => {
  const { store, db } = bench;
  const unknown = await create(bench);
  await store.links.revoke("p", "d", unknown.id);
  const usedUp = await create(bench, { maxDownloads: 1 });
  await store.links.countDownload(await opened(bench, usedUp.token));
  const gone = await create(bench, { target: { name: "gone" } });
  const expiring = await create(bench, { lifetime: MINUTE });
  await isOpen(bench, gone.token);
  await isOpen(bench, expiring.token);
  let reads = 0;
  readSeparately(db);
  const { get } = db.reads;
  db.reads.get = ((...args: Parameters<typeof get>) => {
    reads++;
    return get.apply(db.reads, args);
  }) as typeof get;
  const readsOf = async (token: string) => {
    const before = reads;
    const link = await store.links.find(token);
    if (link !== undefined && await store.files.reader.open(place("gone")) === undefined) {
      await store.links.refuse(link);
    }
    return reads - before;
  };
  await withClock(async (forward) => {
    const counts = [
      await readsOf("x"),
      await readsOf(`${unknown.id}${"A".repeat(22)}`),
      await readsOf(unknown.token),
      await readsOf(usedUp.token),
      await readsOf(gone.token),
      await readsOf(gone.token),
    ];
    forward(MINUTE);
    // The project is read again after the time of the cache.
    await drivesOf(store, "p");
    counts.push(await readsOf(expiring.token), await readsOf(expiring.token));
    assertEquals(counts, [2, 2, 2, 2, 2, 2, 2, 2]);
  });
});

testOnAll("A password opens its link only, and its proof ends with it", async (bench) => {
  const { passwords } = bench.store.links;
  const one = await opened(bench, (await create(bench, { password: "geheim" })).token);
  const two = await opened(bench, (await create(bench, { password: "geheim" })).token);
  assert(one.record.password !== undefined && two.record.password !== undefined);
  assertNotEquals(one.record.password, two.record.password);
  assertEquals(await passwords.matches("geheim", one.record.password), true);
  for (const wrong of ["", "Geheim", "geheim ", "x".repeat(5000)]) {
    assertEquals(await passwords.matches(wrong, one.record.password), false);
  }
  assertEquals(await entriesWith(bench, "geheim"), []);
  const { links } = bench.store;
  await withClock(async (forward) => {
    const proof = await links.proofOf(one);
    assertEquals([await links.isProof(one, proof), await links.isProof(two, proof)], [true, false]);
    for (const text of ["", ".", "1.x", proof.replace(/^\d/, "9"), `${proof}x`]) {
      assertEquals(await links.isProof(one, text), false);
    }
    forward(12 * HOUR);
    assertEquals(await links.isProof(one, proof), false);
  });
});

testOnAll("Links end with their drive and their project", async (bench) => {
  const { store } = bench;
  await put(bench, "a", new Uint8Array(1));
  const { token } = await create(bench, { lifetime: HOUR });
  const { token: other } = await store.links.create({ project: "p", drive: "e" }, {
    target: { prefix: "" },
    download: false,
  });
  assertEquals(await isOpen(bench, token), true);
  await store.projects.deleteDrive("p", "d");
  assertEquals([await isOpen(bench, token), await isOpen(bench, other)], [false, true]);
  await assertRejects(() => create(bench), BeingDeleted);
  await store.sweeper.sweep();
  assertEquals(await ids(bench), []);
  await store.projects.delete("p");
  assertEquals(await isOpen(bench, other), false);
  await assertRejects(() => create(bench), NoSuchProject);
  await store.sweeper.sweep(Date.now() + 2 * HOUR);
  await assertKeys(bench, { link_key: 1 });
});

testOnAll("The number of links of a project is limited", async (bench) => {
  for (let i = 0; i < MAX_LINKS;) {
    const operation = new Operation();
    for (let j = 0; j < 500; j++) operation.set(keys.driveLink("p", "e", `link-${i++}`), {});
    await bench.db.commit(operation);
  }
  await assertRejects(() => create(bench), TooManyLinks);
});
