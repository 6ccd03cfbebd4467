import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import {
  administer,
  ADMINISTERED,
  administrator,
  assertPrivate,
  type AuditEvent,
  type Caller,
  Project,
  PROJECTS,
  SECONDS,
} from "../../support/admin.ts";
import { Folder } from "../../support/command.ts";
import { newAddress, PROJECT_ID, TestServer } from "../../support/server.ts";
import { StoreCommands } from "../../support/store/commands.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("The audit logs", ADMINISTERED);

const SERVER_EVENTS = "/admin/v1/events";

interface EventList {
  events: AuditEvent[];
  paging?: { size: number; last: string };
}

async function readEvents(
  server: { origin: string },
  path: string,
  as?: Caller,
): Promise<EventList> {
  const answer = await administer(server, "GET", path, as === undefined ? {} : { as });
  assertPrivate(answer.expect(200));
  return answer.json as EventList;
}

async function eventsOf(project: Project, query = ""): Promise<AuditEvent[]> {
  return (await readEvents(project.server, `${project.path}/events${query}`)).events;
}

/** An event without its id and its time, which are checked. */
function checked(event: AuditEvent | undefined): string[] {
  assert(event !== undefined);
  const names = ["id", "at", "event", "by", "address", "target"];
  assertEquals(Object.keys(event), names);
  assertMatch(event.at, SECONDS);
  assert(Math.abs(Date.now() - Date.parse(event.at)) < 60_000, event.at);
  assertNotEquals(event.id, "");
  return [event.event, event.by, event.address, event.target];
}

interface Change {
  method: string;
  path: string;
  body?: unknown;
  /** The events in the order in which they are made, each with its target. */
  events: (readonly [event: string, target: string])[];
  /** Whether only the administrator may do it. */
  isAdministrators?: true;
}

/** Changes of one project, one after the other. `{prefix}` stands for the prefix in the answer, or in that before. */
const CHANGES: Change[] = [
  { method: "POST", path: "/keys", body: {}, events: [["key.created", "{prefix}"]] },
  { method: "DELETE", path: "/keys/{prefix}", events: [["key.revoked", "{prefix}"]] },
  { method: "POST", path: "/apps", body: { name: "web" }, events: [["app.created", "web"]] },
  {
    method: "POST",
    path: "/apps",
    body: { name: "safe", access: { enabled: true } },
    events: [["app.created", "safe"], ["access.enabled", "safe"]],
  },
  {
    method: "PATCH",
    path: "/apps/web",
    body: { upstream: "http://127.0.0.1:1" },
    events: [["app.changed", "web"]],
    isAdministrators: true,
  },
  {
    method: "PUT",
    path: "/apps/web/access",
    body: { enabled: true },
    events: [["access.enabled", "web"]],
  },
  {
    method: "POST",
    path: "/apps/web/keys",
    body: { name: "ci" },
    events: [["app_key.created", "web/{prefix}"]],
  },
  { method: "DELETE", path: "/apps/web/keys/ci", events: [["app_key.revoked", "web/{prefix}"]] },
  {
    method: "PUT",
    path: "/apps/web/access",
    body: { enabled: false },
    events: [["access.disabled", "web"]],
  },
  { method: "DELETE", path: "/apps/web", events: [["app.deleted", "web"]] },
  {
    method: "PATCH",
    path: "",
    body: { max_bytes: 1_000_000, host_suffix: "Apps.example.com" },
    events: [
      ["quota.changed", "max_bytes=1000000"],
      ["host_suffix.changed", "host_suffix=apps.example.com"],
    ],
    isAdministrators: true,
  },
  {
    method: "PATCH",
    path: "",
    body: { max_bytes: null, max_files: 70 },
    events: [["quota.changed", "max_bytes=null"], ["quota.changed", "max_files=70"]],
    isAdministrators: true,
  },
  {
    method: "PATCH",
    path: "",
    body: { trash_days: 30, name: "Renamed" },
    events: [["project.renamed", "name=Renamed"], ["trash.changed", "trash_days=30"]],
  },
  { method: "DELETE", path: "/drives/photos", events: [["drive.deleted", "photos"]] },
];

for (const who of ["the owner", "the administrator"] as const) {
  test(`What ${who} changes is recorded with the caller and the address.`, async ({ server }) => {
    const project = await Project.make(server);
    await project.drive("photos").put("cat.jpg", "cat");
    const ownPrefix = project.key.slice(project.id.length + 1).slice(0, 8);
    let prefix = "";
    for (const { method, path, body, events, isAdministrators } of CHANGES) {
      const isOwner = who === "the owner" && isAdministrators !== true;
      const address = newAddress();
      const credentials = isOwner ? project.owner : administrator;
      const as = { ...credentials, "X-Forwarded-For": address };
      const target = path.replace("{prefix}", prefix);
      const answer = await project.call(method, target, { as, body });
      assert(answer.status < 300, answer.text);
      prefix = (answer.json as { prefix?: string }).prefix ?? prefix;
      const by = isOwner ? ownPrefix : "admin";
      const expected = events.map(([event, text]) => {
        return [event, by, address, text.replace("{prefix}", prefix)];
      }).reverse();
      const limit = `?limit=${events.length}`;
      assertEquals((await eventsOf(project, limit)).map(checked), expected);
      const all = await readEvents(server, SERVER_EVENTS + limit);
      const ofServer = expected.map(([event = "", by = "", address = "", text]) => {
        return [event, by, address, `${project.id}/${text}`];
      });
      assertEquals(all.events.map(checked), ofServer);
    }
  });
}

test("What happens to a link is recorded with its id.", async ({ server }) => {
  const project = await Project.make(server);
  const links = `/v1/${project.id}/photos/links`;
  const send = async (method: string, path: string, body?: unknown) =>
    (await administer(server, method, path, { as: project.owner, body })).json as { id: string };
  const { id } = await send("POST", links, { name: "a" });
  await send("PATCH", `${links}/${id}`, { download: true });
  await send("DELETE", `${links}/${id}`);
  const recorded = (await eventsOf(project, "?limit=3")).map((
    { event, target },
  ) => [event, target]);
  assertEquals(recorded, [["link.revoked", id], ["link.changed", id], ["link.created", id]]);
});

test("A project begins with its own creation, and ends in the server's log.", async ({ server }) => {
  const as = { ...administrator, "X-Forwarded-For": newAddress() };
  const made = (await administer(server, "POST", PROJECTS, { as })).expect(201);
  const { project_id: id, prefix } = made.json as { project_id: string; prefix: string };
  const path = `${PROJECTS}/${id}`;
  const address = as["X-Forwarded-For"];
  const { events } = await readEvents(server, `${path}/events`);
  assertEquals(events.map(checked), [
    ["key.created", "admin", address, prefix],
    ["project.created", "admin", address, id],
  ]);
  (await administer(server, "DELETE", path, { as })).expect(202);
  assertErrorAnswer((await administer(server, "GET", `${path}/events`)).expect(404));
  const all = (await readEvents(server, SERVER_EVENTS)).events
    .filter(({ target }) => target.split("/")[0] === id);
  assertEquals(all.map(checked), [
    ["project.deleted", "admin", address, id],
    ["key.created", "admin", address, `${id}/${prefix}`],
    ["project.created", "admin", address, id],
  ]);
});

test("Reads, refused calls and changes of nothing are not recorded.", async ({ server }) => {
  const project = await Project.make(server);
  await project.makeApp({ name: "web", upstream: "http://127.0.0.1:1" });
  const before = (await readEvents(server, SERVER_EVENTS)).events;
  const calls: [string, string, unknown, number][] = [
    ["GET", "", undefined, 200],
    ["GET", "/keys", undefined, 200],
    ["GET", "/events", undefined, 200],
    ["POST", "/keys", { name: 1 }, 400],
    ["DELETE", "/keys/unknown0", undefined, 404],
    ["POST", "/apps", { name: "web" }, 409],
    ["PATCH", "/apps/web", { upstream: "http://127.0.0.1:1" }, 200],
    ["PUT", "/apps/web/access", { enabled: false }, 200],
    ["POST", "/apps/web/keys", { name: "ci" }, 409],
    ["DELETE", "/apps/web/keys/ci", undefined, 404],
    ["PATCH", "", { max_bytes: null }, 200],
    ["DELETE", "/drives/unknown", undefined, 404],
  ];
  for (const [method, path, body, status] of calls) {
    (await project.call(method, path, { body })).expect(status);
  }
  (await project.call("PATCH", "", { as: project.owner, body: { max_bytes: 1 } })).expect(403);
  assertEquals((await readEvents(server, SERVER_EVENTS)).events, before);
});

test("No secret is in a log.", async ({ server }) => {
  const project = await Project.make(server);
  const app = await project.makeProtectedApp("web");
  const { api_key } = await project.makeAppKey(app, { name: "ci" });
  const made = (await project.call("POST", "/keys")).expect(201).json as { project_key: string };
  const log = JSON.stringify(await eventsOf(project)) +
    JSON.stringify(await readEvents(server, SERVER_EVENTS));
  for (const secret of [project.key, made.project_key, api_key]) {
    // The first eight characters are the prefix.
    const end = secret.slice(secret.search(/[_.]/) + 9);
    assert(end.length >= 23 && !log.includes(end), "A secret is in the log");
  }
});

test("Pages lead through all events once, the newest first.", async ({ server }) => {
  const project = await Project.make(server);
  for (let i = 0; i < 9; i++) await project.makeApp({ name: `app-${i}` });
  const all = await eventsOf(project);
  assertEquals(all.length, 11);
  assertEquals(all.map(({ id }) => id), all.map(({ id }) => id).toSorted().toReversed());
  for (const path of [`${project.path}/events`, SERVER_EVENTS]) {
    const { events: whole } = await readEvents(server, path);
    // Other tests fill the server's log.
    const small = path === SERVER_EVENTS ? [Math.ceil(whole.length / 5)] : [1, 4];
    for (const limit of [...small, whole.length - 1, whole.length, whole.length + 1, 1_000_000]) {
      const walked: AuditEvent[] = [];
      for (let last = "";;) {
        const query = `?limit=${limit}&last=${encodeURIComponent(last)}`;
        const { events, paging } = await readEvents(server, path + query);
        walked.push(...events);
        if (walked.length >= whole.length) {
          assertEquals(paging, undefined);
          break;
        }
        assertEquals(paging, { size: limit, last: events.at(-1)?.id ?? "" });
        last = paging?.last ?? "";
      }
      assertEquals(walked, whole);
    }
  }
  const past = await readEvents(server, `${project.path}/events?last=0`);
  assertEquals(past, { events: [] });
});

test("A page has at most a thousand events.", async ({ server }) => {
  const project = await Project.make(server);
  // At once, which is quicker than one after the other.
  await Promise.all(Array.from({ length: 8 }, async (_, i) => {
    const app = await project.makeApp({ name: `app-${i}` });
    for (let round = 0; round < 65; round++) {
      for (const enabled of [true, false]) {
        (await project.call("PUT", `${app}/access`, { body: { enabled } })).expect(200);
      }
    }
  }));
  for (const query of ["", "?limit=1000", "?limit=5000"]) {
    const { events, paging } = await readEvents(server, `${project.path}/events${query}`);
    assertEquals([events.length, paging?.size], [1000, 1000]);
    const rest = await readEvents(server, `${project.path}/events?last=${paging?.last}`);
    assertEquals([rest.events.length, rest.paging], [50, undefined]);
  }
});

for (const query of ["limit=0", "limit=-1", "limit=x", "limit=1.5", "limit=", "limit=1&limit=2"]) {
  test(`?${query} is 400.`, async ({ server }) => {
    const project = await Project.make(server);
    for (const path of [`${project.path}/events`, SERVER_EVENTS]) {
      assertErrorAnswer((await administer(server, "GET", `${path}?${query}`)).expect(400));
    }
    const asOwner = { as: project.owner };
    assertErrorAnswer((await project.call("GET", `/events?${query}`, asOwner)).expect(400));
    assertErrorAnswer(
      (await administer(server, "GET", `${SERVER_EVENTS}?${query}`, asOwner)).expect(403),
    );
  });
}

test("Each project has a log of its own.", async ({ server }) => {
  const [one, two] = [await Project.make(server), await Project.make(server)];
  await one.makeApp({ name: "only" });
  const path = `${one.path}/events`;
  assertErrorAnswer((await administer(server, "GET", path, { as: two.owner })).expect(403));
  assertEquals((await eventsOf(two)).length, 2);
  const owned = await readEvents(server, path, one.owner);
  assertEquals(owned, await readEvents(server, path));
  assertEquals(owned.events.map(({ event }) => event), [
    "app.created",
    "key.created",
    "project.created",
  ]);
});

Deno.test("What the command line changes is recorded as such.", async () => {
  await using folder = await Folder.make();
  const commands = new StoreCommands(folder.at("data"));
  await commands.run("project", "create", "--id", "shop");
  await commands.text("project", "change", "shop", "--max-bytes", "1GB");
  const token = (await commands.json<{ admin_token: string }>("admin-token", "reset", "--yes"))
    .admin_token;
  const env = { KVDRIVE_ADMIN_TOKEN: "" };
  await using server = await TestServer.start({ data: folder.at("data"), env });
  const as = { Authorization: `Bearer ${token}` };
  const { events } = await readEvents(server, SERVER_EVENTS, as);
  const seen = events.map(({ event, by, address, target }) => {
    assertEquals([by, address], ["command line", ""]);
    return [event, target.split("/")[0]];
  });
  assertEquals(seen, [
    ["key.created", PROJECT_ID],
    ["project.created", PROJECT_ID],
    ["admin_token.renewed", "admin"],
    ["quota.changed", "shop"],
    ["key.created", "shop"],
    ["project.created", "shop"],
  ]);
});

Deno.test("A log survives a restart, which adds nothing to it.", async () => {
  await using folder = await Folder.make();
  const options = { ...ADMINISTERED, data: folder.at("data") };
  const logs: EventList[] = [];
  for (let i = 0; i < 2; i++) {
    await using server = await TestServer.start(options);
    logs.push(await readEvents(server, SERVER_EVENTS));
  }
  assertEquals(logs[0]?.events.length, 3);
  assertEquals(logs[1], logs[0]);
});
