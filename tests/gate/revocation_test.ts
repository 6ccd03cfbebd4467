import { assert, assertEquals, assertLess } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { withKey } from "../support/admin.ts";
import { Folder } from "../support/command.ts";
import { Gate } from "../support/gate/gate.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { UpstreamApp } from "../support/gate/upstream_app.ts";
import { TestServer } from "../support/server.ts";

const SOON = 60_000;

/** "within 5 s in other server processes", also for what is open. */
const OTHER_PROCESS = 5_000;

async function openSocket(gate: Gate, key: string): Promise<WebSocket> {
  const socket = new WebSocket(gate.url("/ws").replace("http", "ws"), { headers: withKey(key) });
  await deadline(
    new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error("The socket did not open"));
    }),
    SOON,
  );
  return socket;
}

async function closing(socket: WebSocket): Promise<void> {
  await deadline(new Promise((resolve) => socket.onclose = resolve), SOON);
}

async function openEvents(gate: Gate, upstream: UpstreamApp, key: string): Promise<RawClient> {
  const client = await RawClient.connect(gate.port);
  await client.send(
    `GET ${gate.prefix()}/events HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${key}\r\n\r\n`,
  );
  await client.readHead();
  await deadline(upstream.events.reach(1), SOON);
  return client;
}

const CHANGES: Record<string, (gate: Gate) => Promise<void>> = {
  "Revoking a key": (gate) => gate.revoke("second"),
  "Removing the application": async (gate) => {
    (await gate.project.call("DELETE", "/apps/app")).expect(200);
  },
  "Removing the project": async (gate) => {
    (await gate.project.call("DELETE", "")).expect(202);
  },
};

for (const [name, change] of Object.entries(CHANGES)) {
  Deno.test(`${name} closes at once what it had opened, WebSockets and events too.`, async () => {
    await using upstream = new UpstreamApp();
    await using gate = await Gate.shared();
    await gate.protect(upstream.origin);
    const key = await gate.makeKey("second");
    const socket = await openSocket(gate, key);
    using events = await openEvents(gate, upstream, key);
    const closed = closing(socket);
    const started = Date.now();
    await change(gate);
    await closed;
    assertEquals(await events.readToEnd(), "");
    await deadline(upstream.events.reach(0), SOON);
    // What is not told is noticed after 3 s.
    assertLess(Date.now() - started, 2500);
    assert([401, 404].includes((await gate.get("/", withKey(key))).status));
  });
}

Deno.test("An owner's key that expires closes what it had opened.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  await gate.protect(upstream.origin);
  const started = Date.now();
  const { project_key } = await gate.project.makeKey({ expires_in: 4 });
  const socket = await openSocket(gate, project_key);
  await closing(socket);
  const took = Date.now() - started;
  assert(took > 3000 && took < 15_000, `${took} ms`);
  (await gate.get("/", withKey(project_key))).expect(401);
});

Deno.test("Revoking one key leaves those of others open.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  const key = await gate.protect(upstream.origin);
  await gate.makeKey("second");
  const socket = await openSocket(gate, key);
  await gate.revoke("second");
  const answer = new Promise<MessageEvent>((resolve) => socket.onmessage = resolve);
  // Long enough for several checks.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  socket.send("still here");
  assertEquals((await deadline(answer, SOON)).data, "still here");
  const closed = closing(socket);
  socket.close();
  await closed;
});

Deno.test("Switching access control on closes what strangers have open, and lets key holders stay.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  const key = await gate.protect(upstream.origin);
  await gate.switchAccess(false);
  const [holder, stranger] = await Promise.all([openSocket(gate, key), openSocket(gate, "")]);
  const closed = closing(stranger);
  await gate.switchAccess(true);
  await closed;
  assertEquals(holder.readyState, WebSocket.OPEN);
  const ended = closing(holder);
  holder.close();
  await ended;
});

Deno.test("A key that another process revokes is out within 5 s, WebSockets too.", async () => {
  await using folder = await Folder.make();
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start({ data: folder.path });
  const key = await gate.protect(upstream.origin);
  await using other = await TestServer.start({ data: folder.path });
  const socket = await openSocket(gate, key);
  const closed = closing(socket);
  const path = `/admin/v1/projects/${gate.project.id}/apps/app/keys/first`;
  const headers = withKey(gate.project.key);
  const response = await fetch(`${other.origin}${path}`, { method: "DELETE", headers });
  await response.body?.cancel();
  assertEquals(response.status, 200);
  const started = Date.now();
  await closed;
  assertLess(Date.now() - started, OTHER_PROCESS);
  (await gate.get("/", withKey(key))).expect(401);
});
