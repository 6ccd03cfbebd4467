import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { hashSecret } from "../../rules/secrets.ts";
import { BeingDeleted, NoSuchProject } from "../engine/errors.ts";
import { KEY_CACHE_TTL } from "../engine/ttl_cache.ts";
import { countEntries, entriesWith } from "../testing/entries.ts";
import { otherProcess, sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";
import { MAX_TICKETS, type NewTicket, TICKET_TIME } from "./tickets.ts";

const ADMINISTRATOR = { hash: hashSecret("the token of the administrator") };
const CLIENT = { address: "", browser: "" };

async function ownerOf({ store }: TestStore): Promise<{ hash: string; project: string }> {
  const made = await store.keys.create("p");
  return { hash: hashSecret(made?.key.text ?? ""), project: "p" };
}

async function make(bench: TestStore, own: Partial<NewTicket> = {}): Promise<string> {
  const owner = own.owner ?? await ownerOf(bench);
  const wanted = { project: "p", drive: "d", names: ["a"], prefixes: ["b/"], ...own, owner };
  return (await bench.store.tickets.create(wanted))?.token ?? "none";
}

testOnAll("A ticket has its names for an hour, and the store has no token of it", async (bench) => {
  await withClock(async (forward) => {
    const token = await make(bench);
    assertMatch(token, /^[A-Za-z0-9]{32}$/);
    assertEquals(await entriesWith(bench, token), []);
    const ticket = await bench.store.tickets.find(token);
    if (ticket === undefined) throw new Error("It is not valid");
    assertEquals([ticket.names, ticket.prefixes, ticket.drive], [["a"], ["b/"], "d"]);
    forward(TICKET_TIME - 1);
    assertEquals(typeof await otherProcess(bench).store.tickets.find(token), "object");
    forward(1);
    assertEquals(await bench.store.tickets.find(token), undefined);
    await sweepLater(bench);
    assertEquals(await bench.store.tickets.find(token), undefined);
    assertEquals(await countEntries(bench, ["grant_of"]), 0);
    assertEquals(await bench.store.tickets.find("no ticket"), undefined);
  });
});

testOnAll("A ticket ends with its session, its key and its project", async (bench) => {
  const { store } = bench;
  const owner = await ownerOf(bench);
  const started = await store.signIns.start({ owner }, CLIENT);
  const ofSession = await make(bench, { owner, session: started?.session.hash ?? "" });
  const ofKey = await make(bench, { owner });
  assertEquals(typeof await store.tickets.find(ofSession), "object");
  const other = otherProcess(bench).store;
  await withClock(async (forward) => {
    assertEquals(typeof await other.tickets.find(ofSession), "object");
    await store.signIns.endAll(owner.hash);
    assertEquals(await store.tickets.find(ofSession), undefined);
    forward(KEY_CACHE_TTL);
    assertEquals(await other.tickets.find(ofSession), undefined);
    assertEquals(typeof await store.tickets.find(ofKey), "object");
  });
  const [key] = await store.keys.list("p");
  await store.keys.revoke("p", key?.prefix ?? "");
  assertEquals(await store.tickets.find(ofKey), undefined);
});

testOnAll(
  "A ticket of the administrator does not open a later project of the same id",
  async (bench) => {
    const { store } = bench;
    await store.adminToken.set(ADMINISTRATOR.hash);
    await store.projects.create("q", undefined);
    const token = await make(bench, { owner: ADMINISTRATOR, project: "q" });
    assertEquals(typeof await store.tickets.find(token), "object");
    const other = otherProcess(bench).store;
    await other.projects.delete("q");
    assertEquals(await other.tickets.find(token), undefined);
    await other.sweeper.sweep();
    assertEquals(await countEntries(bench, ["grant"]), 0);
    const unswept = await make(bench, { owner: ADMINISTRATOR });
    await store.adminToken.set(hashSecret("another"));
    assertEquals(await store.tickets.find(unswept), undefined);
  },
);

testOnAll("A ticket needs a project and a drive that is not being deleted", async (bench) => {
  await assertRejects(() => make(bench, { project: "none" }), NoSuchProject);
  const { sweeper } = bench.store;
  await bench.store.folders.create({ project: "p", drive: "d", name: "a/" });
  sweeper.stop();
  await bench.store.projects.deleteDrive("p", "d");
  await assertRejects(() => make(bench), BeingDeleted);
});

testOnAll(
  "A ticket has a thousand names of a usual length, and not of any length",
  async (bench) => {
    const { tickets } = bench.store;
    const owner = await ownerOf(bench);
    const usual = Array.from(
      { length: 1000 },
      (_, i) => `Fotos/2026/Ausflug ${i % 7}/IMG_${i}.jpg`,
    );
    const token = await make(bench, { owner, names: usual });
    const found = await tickets.find(token);
    assertEquals(typeof found === "object" ? found.names : [], usual);
    const random = () => crypto.getRandomValues(new Uint8Array(500)).join("");
    const hostile = Array.from({ length: 1000 }, random);
    assertEquals(await make(bench, { owner, names: hostile }), "none");
    const same = await make(bench, {
      owner,
      names: [],
      prefixes: Array(100).fill("\0".repeat(1024)),
    });
    assertEquals(typeof await tickets.find(same), "object");
  },
);

testOnAll("Beyond the number of tickets of a key, the oldest one ends", async (bench) => {
  const owner = await ownerOf(bench);
  const first = await make(bench, { owner });
  const second = await make(bench, { owner });
  for (let i = 1; i < MAX_TICKETS; i++) await make(bench, { owner });
  assertEquals(await bench.store.tickets.find(first), undefined);
  assertEquals(typeof await bench.store.tickets.find(second), "object");
  assertEquals(await countEntries(bench, ["grant"]), MAX_TICKETS);
});
