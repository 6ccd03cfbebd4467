import { assert, assertEquals, assertLess, assertNotEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { administer, ADMINISTERED, administrator } from "../support/admin.ts";
import { suite } from "../support/suite.ts";
import { changesSince, keepChanges } from "../support/store/changes.ts";
import {
  changeWebhook,
  feedProject,
  makeWebhook,
  type Message,
  Receiver,
  until,
  verified,
  webhookOf,
} from "../support/store/webhooks.ts";

const test = suite("Deliveries of webhooks", {
  ...ADMINISTERED,
  args: ["--allow-webhook", "127.0.0.0/8"],
});

test("Changes from its creation on are delivered, signed, in order, and as the feed has them.", async ({ server }) => {
  const project = await feedProject(server);
  const drive = project.drive("photos");
  await drive.put("before", "1");
  await using receiver = new Receiver();
  const { secret } = await makeWebhook(project, receiver.url);
  for (let i = 0; i < 20; i++) await drive.put(`a${i}`, "abc");
  const body = JSON.stringify({ names: ["a0"] });
  (await drive.send("DELETE", "/files", { body })).expect(200);
  await until(() => receiver.names.length >= 21, "all changes");
  const messages = receiver.deliveries.map((each) => verified(each, secret));
  for (const message of messages) {
    assertEquals(Object.keys(message), ["project_id", "drive_name", "changes"]);
    assertEquals([message.project_id, message.drive_name], [project.id, "photos"]);
    assert(message.changes.length >= 1 && message.changes.length <= 100);
  }
  const delivered = messages.flatMap(({ changes }) => changes);
  assertEquals(delivered, (await changesSince(drive)).slice(1));
  const shown = await until(async () => {
    const webhook = await webhookOf(project);
    return webhook.pending === 0 && webhook;
  }, "nothing is pending");
  assertEquals([shown.last_status, shown.failing_since, shown.last_error], [204, null, null]);
  assert(Date.now() - Date.parse(shown.last_delivery ?? "") < 60_000);
  assertEquals(shown.deliveries[0]?.status, 204);
});

test("A hundred changes of one drive at most are in a message.", async ({ server }) => {
  const project = await feedProject(server);
  await using receiver = new Receiver(() => new Response(null, { status: 500 }));
  const { id } = await makeWebhook(project, receiver.url);
  // The first message is made when all changes are there.
  (await changeWebhook(project, id, { enabled: false })).expect(200);
  const puts = Array.from({ length: 130 }, (_, i) => i);
  await Promise.all([
    ...puts.map((i) => project.drive("a").put(`${i}`, "1")),
    project.drive("b").put("x", "1"),
  ]);
  (await changeWebhook(project, id, { enabled: true })).expect(200);
  await until(() => receiver.deliveries.length > 0, "the first attempt");
  const failing = await webhookOf(project);
  assert(failing.pending >= 130, String(failing.pending));
  const messages: Message[] = [];
  receiver.answer = ({ text }) => {
    messages.push(JSON.parse(text));
    return new Response();
  };
  // Another address is tried at once.
  (await changeWebhook(project, id, { url: `${receiver.url}?again` })).expect(200);
  await until(async () => (await webhookOf(project)).pending === 0, "all changes");
  const accepted = messages.filter(({ drive_name }) => drive_name === "a");
  const names = accepted.flatMap(({ changes }) => changes.map(({ name }) => name));
  assertEquals(names.toSorted(), puts.map(String).toSorted());
  assert(accepted.some(({ changes }) => changes.length === 100));
  for (const { changes } of accepted) assertLess(changes.length, 101);
});

test("Drives, prefix and types choose what is delivered.", async ({ server }) => {
  const project = await feedProject(server);
  const [a, b] = [project.drive("a"), project.drive("b")];
  await using receiver = new Receiver();
  const filters = { drives: ["a"], name_prefix: "in/", types: ["delete", "put"] };
  const { id } = await makeWebhook(project, receiver.url, filters);
  await a.put("out", "1");
  await b.put("in/1", "1");
  await a.put("in/1", "1");
  const move = { items: [{ from: "in/1", to: "out2" }] };
  (await a.send("POST", "/files/move", { body: JSON.stringify(move) })).expect(200);
  await until(() => receiver.names.length >= 2, "both changes");
  await until(async () => (await webhookOf(project)).pending === 0, "nothing is pending");
  const changes = receiver.messages.flatMap(({ changes }) => changes);
  assertEquals(changes.map(({ type, name }) => `${type} ${name}`), ["put in/1", "delete in/1"]);
  // A drive that is added is told of from the creation of the webhook on.
  (await changeWebhook(project, id, { drives: ["a", "b"] })).expect(200);
  await until(() => receiver.names.includes("b/in/1"), "the other drive");
});

test("What fails is sent again after 5 s and after 10 s, the same message.", async ({ server }) => {
  const project = await feedProject(server);
  await using receiver = new Receiver(() => new Response("no", { status: 503 }));
  const { secret } = await makeWebhook(project, receiver.url);
  const drive = project.drive("photos");
  const before = Date.now();
  await drive.put("a", "1");
  await until(() => receiver.deliveries.length >= 1, "the first attempt");
  await drive.put("b", "1");
  const shown = await until(async () => {
    const webhook = await webhookOf(project);
    return webhook.failing_since !== null && webhook;
  }, "failing");
  assert(Date.parse(shown.failing_since ?? "") >= before - 1000);
  assertEquals([shown.enabled, shown.last_status, shown.pending], [true, 503, 2]);
  await until(() => receiver.deliveries.length >= 2, "the second attempt");
  receiver.answer = () => new Response();
  await until(() => receiver.names.includes("photos/b"), "the next message", 30_000);
  const [first, second, third, fourth] = receiver.deliveries;
  assert(first && second && third && fourth);
  for (const each of [second, third]) {
    assertEquals(each.text, first.text);
    assertEquals(each.headers.get("webhook-id"), first.headers.get("webhook-id"));
    verified(each, secret);
  }
  const pauses = [second.at - first.at, third.at - second.at];
  for (const [i, wanted] of [5000, 10_000].entries()) {
    const pause = pauses[i] ?? 0;
    assert(pause > wanted - 2500 && pause < 2 * wanted, pauses.join());
  }
  assertNotEquals(fourth.headers.get("webhook-id"), first.headers.get("webhook-id"));
  assertEquals(receiver.names, ["photos/a", "photos/a", "photos/a", "photos/b"]);
  await until(async () => (await webhookOf(project)).failing_since === null, "it works again");
});

test("410 disables at once: told by the audit log, the metrics and Health; PATCH enables.", async ({ server }) => {
  const project = await feedProject(server);
  await using receiver = new Receiver(() => new Response(null, { status: 410 }));
  const { id } = await makeWebhook(project, receiver.url, { name: "gone" });
  const drive = project.drive("photos");
  await drive.put("a", "1");
  const shown = await until(async () => {
    const webhook = await webhookOf(project);
    return !webhook.enabled && webhook;
  }, "it is disabled");
  assertEquals([shown.disabled_reason, shown.last_status, shown.pending], ["gone", 410, 1]);
  await drive.put("b", "1");
  await delay(500);
  assertEquals(receiver.deliveries.length, 1);
  const { events: [event] } = (await project.call("GET", "/events")).json as {
    events: { event: string; by: string; target: string }[];
  };
  assertEquals([event?.event, event?.by, event?.target], ["webhook.disabled", "server", "gone"]);
  const metrics = await administer(server, "GET", "/metrics", { as: administrator });
  const disabled = Number(/^kvdrive_webhooks_disabled_total (\d+)$/m.exec(metrics.text)?.[1]);
  assert(disabled >= 1, metrics.text);
  const status = (await administer(server, "GET", "/admin/v1/status")).expect(200).json as {
    warnings: string[];
  };
  assert(status.warnings.some((text) => text.includes('"gone"')), status.warnings.join());
  receiver.answer = () => new Response();
  const again = (await changeWebhook(project, id, { enabled: true })).expect(200);
  assertEquals((again.json as { enabled: boolean }).enabled, true);
  await until(() => receiver.names.length === 3, "what waited");
  assertEquals(receiver.names, ["photos/a", "photos/a", "photos/b"]);
});

test("Redirects are not followed.", async ({ server }) => {
  const project = await feedProject(server);
  await using target = new Receiver();
  await using receiver = new Receiver(() => Response.redirect(target.url, 302));
  await makeWebhook(project, receiver.url);
  await project.drive("photos").put("a", "1");
  const shown = await until(async () => {
    const webhook = await webhookOf(project);
    return webhook.failing_since !== null && webhook;
  }, "it counts as a failure");
  assertEquals([shown.last_status, target.deliveries.length], [302, 0]);
});

test("One that is off, or whose project keeps no changes, delivers nothing.", async ({ server }) => {
  const project = await feedProject(server);
  await using receiver = new Receiver();
  const { id } = await makeWebhook(project, receiver.url);
  (await changeWebhook(project, id, { enabled: false })).expect(200);
  const drive = project.drive("photos");
  await drive.put("a", "1");
  await delay(300);
  await keepChanges(project, 0);
  await drive.put("b", "1");
  await keepChanges(project, 1);
  (await changeWebhook(project, id, { enabled: true })).expect(200);
  await drive.put("c", "1");
  await until(() => receiver.names.length > 0, "a change");
  assertEquals(receiver.names, ["photos/c"]);
});
