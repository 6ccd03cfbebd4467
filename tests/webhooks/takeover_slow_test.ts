import { assert, assertEquals, assertLess } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, Project } from "../support/admin.ts";
import { TestServer } from "../support/server.ts";
import { feedProject, makeWebhook, Receiver, until, webhookOf } from "../support/store/webhooks.ts";

const OPTIONS = { ...ADMINISTERED, args: ["--allow-webhook", "127.0.0.1"] };

Deno.test("Two servers on a store deliver once; one takes over when the other dies; a restart goes on", async () => {
  const data = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  await using receiver = new Receiver();
  try {
    const one = await TestServer.start({ ...OPTIONS, data });
    await using two = await TestServer.start({ ...OPTIONS, data });
    const project = await feedProject(one);
    await makeWebhook(project, receiver.url);
    const elsewhere = new Project(two, project.id, project.key);
    for (let i = 0; i < 20; i++) {
      await (i % 2 === 0 ? project : elsewhere).drive("photos").put(`${i}`, "1");
    }
    const names = Array.from({ length: 20 }, (_, i) => `photos/${i}`);
    await until(() => receiver.names.length >= 20, "all changes");
    await delay(1000);
    assertEquals(receiver.names, names);
    // The first one delivers: it was asked for the webhook.
    await one.stop("SIGKILL");
    const began = performance.now();
    await elsewhere.drive("photos").put("after", "1");
    await until(() => receiver.names.includes("photos/after"), "taken over", 40_000);
    assertLess(performance.now() - began, 30_000);
    assertEquals(receiver.names, [...names, "photos/after"]);
    receiver.answer = () => new Response(null, { status: 500 });
    await elsewhere.drive("photos").put("failing", "1");
    const failing = await until(async () => {
      const webhook = await webhookOf(elsewhere);
      return webhook.failing_since !== null && webhook;
    }, "failing");
    // One that ends in order lets the next one begin at once.
    await two.stop();
    receiver.answer = () => new Response();
    await using three = await TestServer.start({ ...OPTIONS, data });
    const again = new Project(three, project.id, project.key);
    assertEquals((await webhookOf(again)).failing_since, failing.failing_since);
    await until(
      () => receiver.names.filter((name) => name === "photos/failing").length === 2,
      "again",
    );
    const [first, second] = receiver.deliveries.slice(-2);
    assert(first && second);
    assertEquals(first.headers.get("webhook-id"), second.headers.get("webhook-id"));
    await until(async () => (await webhookOf(again)).failing_since === null, "it works again");
  } finally {
    await Deno.remove(data, { recursive: true });
  }
});
