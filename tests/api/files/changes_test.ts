import { assert, assertEquals, assertLess, assertMatch, assertNotEquals } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { ADMINISTERED, Project, waitForRunning } from "../../support/admin.ts";
import { MIN_PART, patternBytes } from "../../support/bytes.ts";
import {
  askChanges,
  changesSince,
  cursorOf,
  EventStream,
  keepChanges,
  pageOf,
  replayed,
  textsOf,
} from "../../support/store/changes.ts";
import { Drive, query, uploadParts } from "../../support/drive.ts";
import { TestServer } from "../../support/server.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("The feed of changes", ADMINISTERED);

const SOON = 60_000;

/** What a change of another caller may take to arrive, with room for a busy machine. */
const DELIVERED = 10_000;

/** A drive of a new project that keeps changes. */
async function makeDrive({ server }: Drive, days = 7): Promise<{ project: Project; drive: Drive }> {
  const project = await Project.make(server);
  if (days > 0) await keepChanges(project, days);
  return { project, drive: project.drive("photos") };
}

async function post(drive: Drive, path: string, body: unknown, status: number): Promise<void> {
  (await drive.send("POST", path, { body: JSON.stringify(body) })).expect(status);
}

test("It is off at first, and the project shows and sets its days.", async (anyone) => {
  const { project, drive } = await makeDrive(anyone, 0);
  const days = async () =>
    ((await project.call("GET", "")).json as { change_days?: number }).change_days;
  assertEquals(await days(), undefined);
  const off = (await askChanges(drive, { since: "0" })).expect(409);
  assertEquals(off.code, "changes_off");
  assertErrorAnswer(off);
  const set = (change_days: unknown) =>
    project.call("PATCH", "", { as: project.owner, body: { change_days } });
  for (const wrong of [-1, 91, 1.5, "7", null]) (await set(wrong)).expect(400);
  assertEquals(await days(), undefined);
  (await set(90)).expect(200);
  assertEquals(await days(), 90);
  const events = (await project.call("GET", "/events")).text;
  assert(events.includes("change_days=90"), events);
});

test("Every way to change a name is told once, in order.", async (anyone) => {
  const { project, drive } = await makeDrive(anyone);
  const since = await cursorOf(drive);
  await drive.put("a", "abc", { "Content-Type": "x/y" });
  await drive.put("a", "abcd");
  await uploadParts(drive, "large", [patternBytes(MIN_PART), patternBytes(10)]);
  await post(drive, "/files/copy", { from: "a", to: "b" }, 201);
  await post(drive, "/files/move", { from: "b", to: "c" }, 200);
  await post(
    drive,
    "/files/move",
    { items: [{ from: "a", to: "d" }, { from: "c", to: "e" }] },
    200,
  );
  await post(drive, "/files/move", { from: "d", to: "d", to_drive: "other" }, 200);
  await drive.send("PATCH", `/files${query({ name: "e" })}`, {
    body: JSON.stringify({ content_type: "v/w" }),
  });
  await project.call("PATCH", "", { body: { trash_days: 5 } });
  await drive.delete(["e", "none"]);
  const trash = (await drive.send("GET", "/trash")).json as { items: { id: string }[] };
  await post(drive, "/trash/restore", { ids: [trash.items[0]?.id] }, 200);
  const changes = await changesSince(drive, since);
  assertEquals(textsOf(changes), [
    "put a",
    "put a",
    "put large",
    "put b",
    "move b -> c",
    "move a -> d",
    "move c -> e",
    "delete d",
    "put e",
    "delete e",
    "put e",
  ]);
  assertEquals(textsOf(await changesSince(project.drive("other"))), ["put d"]);
  const [first, second] = changes;
  assertEquals([first?.size, first?.content_type], [3, "x/y"]);
  assertEquals(second?.size, 4);
  const allowed = ["id", "at", "type", "name", "from", "etag", "size", "content_type"];
  for (const change of changes) {
    assertMatch(change.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert(Object.keys(change).every((field) => allowed.includes(field)), JSON.stringify(change));
    assertEquals(change.etag === undefined, change.type === "delete");
  }
  assertEquals(new Set(changes.map(({ id }) => id)).size, changes.length);
  const listing = (await drive.send("GET", "/files?details=true")).json as {
    files: { name: string; etag: string }[];
  };
  const versions = new Map(listing.files.map(({ name, etag }) => [name, etag]));
  assertEquals(replayed(changes), versions);
});

test("A file that expires is deleted, and so are those of a drive.", async (anyone) => {
  const { project, drive } = await makeDrive(anyone);
  await drive.send("POST", `/files${query({ name: "brief", expires_in: 3 })}`, { body: "x" });
  await drive.put("long", "x");
  const since = await cursorOf(drive);
  const end = Date.now() + SOON;
  let texts: string[] = [];
  while (texts.length === 0 && Date.now() < end) {
    texts = textsOf((await pageOf(drive, { since, wait: 5 })).changes);
  }
  assertEquals(texts, ["delete brief"]);
  (await project.call("DELETE", "/drives/photos")).expect(202);
  const rest = await pageOf(drive, { since: await cursorBefore(drive, 2), wait: 20 });
  assertEquals(textsOf(rest.changes).at(-1), "delete long");
});

/** The cursor after so many changes of a drive, from the oldest on. */
async function cursorBefore(drive: Drive, count: number): Promise<string> {
  return (await pageOf(drive, { since: "0", limit: count + 1 })).last;
}

test("Pages follow each other, and limit counts up to 1000.", async (anyone) => {
  const { drive } = await makeDrive(anyone);
  await Promise.all(Array.from({ length: 120 }, (_, i) => drive.put(`${i}`, "x")));
  const all = await changesSince(drive);
  assertEquals(all.length, 120);
  assertEquals(await changesSince(drive, "0", 7), all);
  assertEquals((await pageOf(drive, { since: "0" })).changes.length, 100);
  const page = await pageOf(drive, { since: "0", limit: 119 });
  assertEquals([page.more, page.last], [true, page.changes.at(-1)?.id]);
  assertEquals((await pageOf(drive, { since: "0", limit: 120 })).more, false);
  assertEquals((await pageOf(drive, { since: "0", limit: 5000 })).changes.length, 120);
  const { id = "" } = all[118] ?? {};
  assertEquals((await pageOf(drive, { since: id })).changes, all.slice(119));
});

test("What is no cursor, no limit or no wait is refused.", async (anyone) => {
  const { drive } = await makeDrive(anyone);
  await drive.put("a", "x");
  const cursor = await cursorOf(drive);
  const wrong = [
    ...["x", "1", "-1", "00", " ", `${cursor}x`, cursor.slice(1), "é".repeat(500)]
      .map((since) => ({ since })),
    ...["0", "-1", "x", "1.5"].map((limit) => ({ limit })),
    ...["61", "-1", "x", "1.5", "1e1"].map((wait) => ({ wait })),
  ];
  for (const parameters of wrong) {
    const answer = (await askChanges(drive, parameters)).expect(400);
    assertErrorAnswer(answer);
  }
  (await drive.send("GET", "/changes?since=0&since=0")).expect(400);
  const stream = EventStream.open(drive, {}, { "Last-Event-ID": "nonsense" });
  (await stream.refusal()).expect(400);
  (await drive.send("POST", "/changes")).expect(405);
  (await drive.send("GET", "/changes", { key: null })).expect(401);
});

test("Turned off and on again, it has forgotten, and older cursors are gone.", async (anyone) => {
  const { project, drive } = await makeDrive(anyone);
  const before = await cursorOf(drive);
  await drive.put("a", "x");
  const after = await cursorOf(drive);
  assertNotEquals(before, after);
  await keepChanges(project, 0);
  (await askChanges(drive, { since: after })).expect(409);
  await keepChanges(project, 3);
  for (const since of [before, after]) {
    const answer = (await askChanges(drive, { since })).expect(410);
    assertEquals(answer.code, "changes_expired");
  }
  assertEquals(await changesSince(drive), []);
  await keepChanges(project, 30);
  await drive.put("b", "x");
  assertEquals(textsOf(await changesSince(drive)), ["put b"]);
});

test("A key that may not list, or not this drive, hears nothing.", async (anyone) => {
  const { project, drive } = await makeDrive(anyone);
  const without = await project.makeKey({ permissions: ["read", "write", "delete"] });
  const elsewhere = await project.makeKey({ drives: ["other"] });
  for (const { project_key } of [without, elsewhere]) {
    (await drive.send("GET", "/changes?since=0", { key: project_key })).expect(403);
  }
});

test("A key with a prefix hears of its names only, and its cursors tell no more.", async (anyone) => {
  const { project, drive } = await makeDrive(anyone);
  const key = await project.makeKey({ name_prefix: "mine/" });
  const mine = new Drive(drive.server, drive.name, { project: project.id, key: key.project_key });
  const start = await pageOf(mine);
  await drive.put("other", "x");
  assertEquals(await pageOf(mine), start);
  await drive.put("mine/a", "x");
  const first = await pageOf(mine, { since: "0" });
  assertEquals(textsOf(first.changes), ["put mine/a"]);
  for (let i = 0; i < 3; i++) await drive.put(`other ${i}`, "x");
  assertEquals(await pageOf(mine, { since: "0" }), first);
  const { last: since } = first;
  assertEquals(await pageOf(mine, { since }), { changes: [], last: since, more: false });
  const waited = await pageOf(mine, { since, wait: 1 });
  assertEquals(waited, { changes: [], last: since, more: false });
  await post(drive, "/files/move", { from: "other", to: "mine/b" }, 200);
  await post(drive, "/files/move", { from: "mine/b", to: "mine/c" }, 200);
  await post(drive, "/files/move", { from: "mine/a", to: "away" }, 200);
  const { changes } = await pageOf(mine, { since });
  assertEquals(textsOf(changes), ["put mine/b", "move mine/b -> mine/c", "delete mine/a"]);
  assert(!JSON.stringify(changes).includes("away"), JSON.stringify(changes));
});

test("A waiting caller is answered by the next change, or after its time.", async (anyone) => {
  const { drive } = await makeDrive(anyone);
  const since = await cursorOf(drive);
  let began = Date.now();
  assertEquals(await pageOf(drive, { since, wait: 1 }), { changes: [], last: since, more: false });
  assert(Date.now() - began >= 900);
  assertEquals((await pageOf(drive, { since, wait: 0 })).changes, []);
  const waiting = Promise.all(
    Array.from({ length: 20 }, () => pageOf(drive, { since, wait: 60 })),
  );
  await delay(300);
  began = Date.now();
  await drive.put("a", "x");
  for (const { changes } of await waiting) assertEquals(textsOf(changes), ["put a"]);
  assertLess(Date.now() - began, DELIVERED);
  began = Date.now();
  assertEquals(textsOf((await pageOf(drive, { since, wait: 60 })).changes), ["put a"]);
  assertLess(Date.now() - began, DELIVERED);
});

test("A stream of events has each change as it is made, and continues.", async (anyone) => {
  const { drive } = await makeDrive(anyone);
  await drive.put("before", "x");
  await using stream = EventStream.open(drive);
  const head = await stream.head();
  assertEquals(head.status, 200);
  assertMatch(head.headers.get("content-type") ?? "", /^text\/event-stream/);
  const cursor = (await stream.block())?.id ?? "";
  assertEquals(await changesSince(drive, cursor), []);
  await drive.put("a\n\r\nb", "x");
  const first = await deadline(stream.change(), SOON);
  assertEquals([first?.type, first?.name], ["put", "a\n\r\nb"]);
  const { changes } = await pageOf(drive, { since: cursor });
  assertEquals(changes, [first]);
  await drive.delete(["before"]);
  assertEquals((await deadline(stream.change(), SOON))?.type, "delete");
  await using again = EventStream.open(drive, { since: "0" }, { "Last-Event-ID": first?.id ?? "" });
  assertEquals((await deadline(again.change(), SOON))?.type, "delete");
  await using all = EventStream.open(drive, { since: "0" });
  for (const name of ["before", "a\n\r\nb", "before"]) {
    assertEquals((await deadline(all.change(), SOON))?.name, name);
  }
});

test("A key that is revoked hears no more.", async (anyone) => {
  const { project, drive } = await makeDrive(anyone);
  const key = await project.makeKey({ name: "brief" });
  const owner = { project: project.id, key: key.project_key };
  const brief = new Drive(drive.server, drive.name, owner);
  await using stream = EventStream.open(brief);
  await stream.block();
  const waiting = askChanges(brief, { since: await cursorOf(brief), wait: 60 });
  await drive.put("a", "x");
  await deadline(stream.change(), SOON);
  (await waiting).expect(200);
  const second = askChanges(brief, { since: await cursorOf(brief), wait: 60 });
  await delay(200);
  (await project.call("DELETE", `/keys/${key.prefix}`)).expect(200);
  await drive.put("secret", "x");
  assertEquals(await deadline(stream.change(), SOON), undefined);
  (await second).expect(401);
});

test("So many callers of a project wait, and more are told to come back.", async (anyone) => {
  const { project, drive } = await makeDrive(anyone);
  const since = await cursorOf(drive);
  const callers = Array.from({ length: 257 }, () => askChanges(drive, { since, wait: 60 }));
  // All but one wait for a minute.
  const more = (await deadline(Promise.race(callers), SOON)).expect(503);
  assert(more.headers.has("Retry-After"));
  assertEquals(more.code, "too_many_waiting");
  assertEquals((await pageOf(drive, { since })).changes, []);
  const { drive: other } = await makeDrive(anyone);
  const another = pageOf(other, { since: await cursorOf(other), wait: 60 });
  await delay(200);
  await other.put("b", "x");
  assertEquals((await another).changes.length, 1);
  await drive.put("a", "x");
  const others = (await Promise.all(callers)).filter((answer) => answer !== more);
  assertEquals(others.length, 256);
  for (const answer of others) {
    assertEquals((answer.expect(200).json as { changes: unknown[] }).changes.length, 1);
  }
  await project.call("DELETE", "");
});

test("A caller that leaves makes room for another.", async (anyone) => {
  const { drive } = await makeDrive(anyone);
  const since = await cursorOf(drive);
  const leave = new AbortController();
  const path = drive.server.url(
    "photos",
    `/changes${query({ since, wait: 60 })}`,
    drive.owner.project,
  );
  const calls = Array.from(
    { length: 257 },
    () => fetch(path, { headers: { "X-Api-Key": drive.owner.key }, signal: leave.signal }),
  );
  // All but one wait for a minute.
  const first = await deadline(Promise.race(calls), SOON);
  assertEquals(first.status, 503);
  await first.body?.cancel();
  leave.abort();
  await Promise.allSettled(calls);
  const end = Date.now() + SOON;
  let status = 503;
  while (status === 503 && Date.now() < end) {
    status = (await askChanges(drive, { since, wait: 1 })).status;
  }
  assertEquals(status, 200);
});

Deno.test("A shutdown ends the callers that wait.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  const { drive } = await makeDrive(new Drive(server, "photos"));
  const since = await cursorOf(drive);
  const stream = EventStream.open(drive, { since });
  await stream.block();
  const waiting = pageOf(drive, { since, wait: 60 });
  // With the stream and the request that asks for it.
  await waitForRunning(server, "other", 3);
  const began = Date.now();
  assertEquals((await server.stop()).code, 0);
  assertLess(Date.now() - began, 10_000);
  assertEquals((await waiting).changes, []);
  assertEquals(await stream.change(), undefined);
});
