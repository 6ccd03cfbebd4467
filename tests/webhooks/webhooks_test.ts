import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import {
  administer,
  ADMINISTERED,
  assertPrivate,
  fromNewAddress,
  Project,
  PROJECTS,
  withKey,
} from "../support/admin.ts";
import { assertErrorAnswer, suite } from "../support/suite.ts";
import { keepChanges } from "../support/store/changes.ts";
import {
  changeWebhook,
  feedProject,
  makeWebhook,
  Receiver,
  until,
  verified,
  webhookOf,
  webhooksOf,
} from "../support/store/webhooks.ts";

const test = suite("Webhooks as resources", {
  ...ADMINISTERED,
  args: ["--allow-webhook", "127.0.0.1", "--allow-webhook", "[::1]:4444"],
});

const PUBLIC = "https://hooks.example.com/kvdrive?a=1";

test("One is created with its secret, listed without, changed and deleted.", async ({ server }) => {
  const project = await feedProject(server);
  assertEquals(await webhooksOf(project), []);
  const filters = { drives: ["photos", "b"], name_prefix: "in/", types: ["put", "move"] };
  const body = { name: "index", url: PUBLIC, ...filters };
  const answer = (await project.call("POST", "/webhooks", { as: project.owner, body })).expect(201);
  assertPrivate(answer);
  const { secret, ...made } = answer.json as Awaited<ReturnType<typeof makeWebhook>>;
  assertMatch(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const { id, created, ...rest } = made;
  assert(Math.abs(Date.now() - Date.parse(created)) < 60_000);
  assertEquals(rest, {
    name: "index",
    url: PUBLIC,
    ...filters,
    enabled: true,
    disabled_reason: null,
    last_delivery: null,
    last_status: null,
    last_error: null,
    failing_since: null,
    next_attempt: null,
    changes_missed: null,
    pending: 0,
    deliveries: [],
  });
  assertEquals(await webhooksOf(project), [made]);
  const changes = { name: "other", url: "http://192.0.2.7/", drives: null, name_prefix: null };
  const changed = (await changeWebhook(project, id, { ...changes, types: null })).expect(200);
  assertEquals(changed.json, { ...made, ...changes, types: null });
  assertEquals((await changeWebhook(project, id, { enabled: false })).expect(200).json, {
    ...made,
    ...changes,
    types: null,
    enabled: false,
  });
  const deleted = await project.call("DELETE", `/webhooks/${id}`, { as: project.owner });
  assertEquals(deleted.expect(200).json, { id });
  assertEquals(await webhooksOf(project), []);
  for (const [method, path] of [["DELETE", ""], ["PATCH", ""], ["POST", "/test"]] as const) {
    const body = method === "PATCH" ? { enabled: true } : undefined;
    const gone = await project.call(method, `/webhooks/${id}${path}`, { body });
    assertEquals(gone.expect(404).code, "webhook_not_found");
  }
  const events = (await project.call("GET", "/events")).json as {
    events: { event: string; target: string }[];
  };
  assertEquals(
    events.events.filter(({ event }) => event.startsWith("webhook.")).map(({ event, target }) =>
      `${event} ${target}`
    ),
    [
      "webhook.deleted other",
      "webhook.disabled other",
      "webhook.changed other",
      "webhook.created index",
    ],
  );
});

test("They need changes that are kept.", async ({ server }) => {
  const project = await Project.make(server);
  const create = () =>
    project.call("POST", "/webhooks", { body: { name: "a", url: "https://hooks.example.com" } });
  assertEquals((await create()).expect(409).code, "changes_off");
  await keepChanges(project, 1);
  const { id } = (await create()).expect(201).json as { id: string };
  await keepChanges(project, 0);
  assertEquals((await create()).expect(409).code, "changes_off");
  assertEquals(
    (await changeWebhook(project, id, { enabled: true })).expect(409).code,
    "changes_off",
  );
  const tested = await project.call("POST", `/webhooks/${id}/test`);
  assertEquals(tested.expect(409).code, "changes_off");
  assertEquals((await webhooksOf(project)).length, 1);
  (await project.call("DELETE", `/webhooks/${id}`)).expect(200);
});

test("What makes no sense is refused, and changes nothing.", async ({ server }) => {
  const project = await feedProject(server);
  const right = { name: "a", url: "https://hooks.example.com" };
  const wrong: unknown[] = [
    {},
    { name: "a" },
    { url: right.url },
    { ...right, name: " " },
    { ...right, name: "x".repeat(129) },
    { ...right, url: null },
    { ...right, url: "ftp://hooks.example.com" },
    { ...right, url: "https://user:word@hooks.example.com" },
    { ...right, url: "https://hooks.example.com/#a" },
    { ...right, url: `https://hooks.example.com/${"x".repeat(2048)}` },
    { ...right, url: "/path" },
    { ...right, drives: [] },
    { ...right, drives: ["a/b"] },
    { ...right, name_prefix: "" },
    { ...right, types: ["write"] },
    { ...right, types: [] },
    { ...right, unknown: 1 },
    [],
    "{",
  ];
  for (const body of wrong) {
    const answer = (await project.call("POST", "/webhooks", { body })).expect(400);
    assertErrorAnswer(answer);
  }
  assertEquals(await webhooksOf(project), []);
  const { id } = await makeWebhook(project, right.url);
  const before = await webhooksOf(project);
  for (const body of [{}, { enabled: "yes" }, { name: null }, { url: "x" }, { id: "a" }]) {
    (await changeWebhook(project, id, body)).expect(400);
  }
  assertEquals(await webhooksOf(project), before);
  for (const id of ["x", "0".repeat(26), "%00", "a".repeat(3000)]) {
    (await project.call("DELETE", `/webhooks/${id}`)).expect(404);
  }
});

test("Addresses that are private, or of this machine, need to be allowed.", async ({ server }) => {
  const project = await feedProject(server);
  const refused = [
    "http://localhost:1/",
    "http://127.0.0.2/",
    "http://2130706434/",
    "http://0x7f.2/",
    "http://0/",
    "http://[::1]/",
    "http://[::1]:4443/",
    "http://[::ffff:127.0.0.2]/",
    "http://[::127.0.0.2]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[2002:c0a8:1::]/",
    "http://[fd00::1]/",
    "http://[fe80::1]/",
    "http://10.1.2.3/",
    "http://172.31.0.1/",
    "http://192.168.0.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://metadata.google.internal/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
  ];
  for (const url of refused) {
    const answer = await project.call("POST", "/webhooks", { body: { name: "a", url } });
    assertEquals(answer.expect(400).code, "invalid_field", url);
    assert(answer.errors.join().includes("--allow-webhook"), answer.text);
  }
  const { id } = await makeWebhook(project, "http://[::1]:4444/");
  (await changeWebhook(project, id, { url: "http://10.1.2.3/" })).expect(400);
  for (const url of ["http://127.0.0.1:9/", "http://198.51.100.7/"]) {
    await makeWebhook(project, url);
  }
});

test("A test is signed like a delivery, and answers what came back.", async ({ server }) => {
  const project = await feedProject(server);
  await using receiver = new Receiver(() => new Response("hello", { status: 202 }));
  const { id, secret } = await makeWebhook(project, receiver.url, { drives: ["photos"] });
  await changeWebhook(project, id, { enabled: false });
  const path = `/webhooks/${id}/test`;
  const answer = (await project.call("POST", path, { as: project.owner })).expect(200).json as {
    status: number;
    error: null;
    body: string;
    duration: number;
  };
  assertEquals([answer.status, answer.error, answer.body], [202, null, "hello"]);
  assert(answer.duration >= 0 && answer.duration < 10);
  const [delivery] = receiver.deliveries;
  assert(delivery !== undefined);
  assertEquals([delivery.method, delivery.path], ["POST", "/hook"]);
  assertMatch(delivery.headers.get("content-type") ?? "", /^application\/json/);
  const message = verified(delivery, secret);
  assertEquals([message.project_id, message.drive_name], [project.id, "photos"]);
  assertEquals(message.changes.map(({ type }) => type), ["delete"]);
  receiver.answer = () => Response.redirect("http://127.0.0.1:1/elsewhere", 307);
  assertEquals(((await project.call("POST", path)).json as { status: number }).status, 307);
  assertEquals(receiver.deliveries.length, 2);
  assertNotEquals(
    receiver.deliveries[0]?.headers.get("webhook-id"),
    receiver.deliveries[1]?.headers.get("webhook-id"),
  );
  const [{ deliveries, last_delivery } = await webhookOf(project)] = await webhooksOf(project);
  assertEquals([deliveries, last_delivery], [[], null]);
  await changeWebhook(project, id, { url: "http://127.0.0.1:9/" });
  const failed = (await project.call("POST", path)).expect(200).json as typeof answer;
  assertEquals([failed.status, failed.body], [null, ""] as never);
  assert(String(failed.error).length > 5);
});

test("A key needs the permissions, and webhooks are within its limits.", async ({ server }) => {
  const project = await feedProject(server);
  const whole = await makeWebhook(project, PUBLIC);
  const refuse = async (limits: unknown, body: Record<string, unknown>, code: string) => {
    const as = fromNewAddress(withKey((await project.makeKey(limits)).project_key));
    const answer = await project.call("POST", "/webhooks", {
      as,
      body: { name: "a", url: PUBLIC, ...body },
    });
    assertEquals(answer.expect(403).code, code);
  };
  await refuse({ permissions: ["list", "read"] }, {}, "missing_permission");
  await refuse({ permissions: ["admin"] }, {}, "missing_permission");
  const limits = { permissions: ["admin", "list"], drives: ["d"], name_prefix: "in/" };
  await refuse(limits, {}, "rights_exceeded");
  await refuse(limits, { drives: ["d"] }, "rights_exceeded");
  await refuse(limits, { drives: ["d", "e"], name_prefix: "in/" }, "rights_exceeded");
  await refuse({ expires_in: 1000 }, {}, "rights_exceeded");
  const as = withKey((await project.makeKey(limits)).project_key);
  const body = { name: "own", url: PUBLIC, drives: ["d"], name_prefix: "in/x" };
  const own = (await project.call("POST", "/webhooks", { as, body })).expect(201).json as {
    id: string;
  };
  const listed = (await project.call("GET", "/webhooks", { as })).expect(200).json as {
    webhooks: { id: string }[];
  };
  assertEquals(listed.webhooks.map(({ id }) => id), [own.id]);
  const change = (id: string, body: unknown) =>
    project.call("PATCH", `/webhooks/${id}`, { as, body });
  (await change(whole.id, { name: "x" })).expect(404);
  (await project.call("DELETE", `/webhooks/${whole.id}`, { as })).expect(404);
  (await change(own.id, { name_prefix: null })).expect(403);
  (await change(own.id, { name_prefix: "in/y" })).expect(200);
  const other = await feedProject(server);
  const foreign = { as: fromNewAddress(other.owner) };
  (await project.call("GET", "/webhooks", foreign)).expect(403);
});

test("A project has at most twenty.", async ({ server }) => {
  const project = await feedProject(server);
  for (let i = 0; i < 20; i++) await makeWebhook(project, PUBLIC);
  const body = { name: "a", url: PUBLIC };
  const more = await project.call("POST", "/webhooks", { body });
  assertEquals(more.expect(409).code, "too_many_webhooks");
  const [first] = await webhooksOf(project);
  (await project.call("DELETE", `/webhooks/${first?.id}`)).expect(200);
  (await project.call("POST", "/webhooks", { body })).expect(201);
});

test("A deleted project has none when it is created again.", async ({ server }) => {
  const project = await feedProject(server);
  await makeWebhook(project, PUBLIC);
  await project.drive("d").put("a", "1");
  (await project.call("DELETE", "")).expect(202);
  const again = await until(async () => {
    const body = { project_id: project.id };
    const answer = await administer(server, "POST", PROJECTS, { body });
    return answer.status === 201 && answer.json as { project_key: string };
  }, "the project is free again");
  assert(again.project_key !== "");
  assertEquals(await webhooksOf(new Project(server, project.id, again.project_key)), []);
});
