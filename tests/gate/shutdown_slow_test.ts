import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { assertRefused, Folder, runCommand } from "../support/command.ts";
import { Gate } from "../support/gate/gate.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { UpstreamApp } from "../support/gate/upstream_app.ts";
import { RawUpstream } from "../support/gate/upstream_raw.ts";
import { TestServer } from "../support/server.ts";

const SOON = 45_000;

Deno.test("At the shutdown a running request gets its answer; idle connections and upgrades end.", async () => {
  const go = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  await using upstream = new RawUpstream(async (connection) => {
    asked.resolve();
    await go.promise;
    await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone");
  });
  await using app = new UpstreamApp();
  await using gate = await Gate.start();
  await gate.open(upstream.origin);
  await gate.open(app.origin, "sockets");
  using idle = await RawClient.connect(gate.port);
  using running = await RawClient.connect(gate.port);
  const socket = new WebSocket(gate.url("/ws", "sockets").replace("http", "ws"));
  await deadline(new Promise((resolve) => socket.onopen = resolve), SOON);
  const closed = new Promise((resolve) => socket.onclose = resolve);
  await running.send(`GET ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await deadline(asked.promise, SOON);
  gate.server.process.kill("SIGTERM");
  assertEquals(await idle.readToEnd(), "");
  await deadline(closed, SOON);
  go.resolve();
  const answer = await running.readAnswer();
  assertEquals([answer.body, answer.header("Connection")], ["done", "close"]);
  assertEquals((await deadline(gate.server.process.status, SOON)).code, 0);
});

Deno.test("Transfers that do not end are cut at the shutdown timeout.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start({ args: ["--shutdown-timeout", "1s"] });
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  await client.send(`GET ${gate.prefix()}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await client.readHead();
  const started = Date.now();
  gate.server.process.kill("SIGTERM");
  assertEquals((await deadline(gate.server.process.status, SOON)).code, 0);
  assertLess(Date.now() - started, 10_000);
  assertEquals(await client.readToEnd(), "");
});

Deno.test("With --apps-port 0 there is no gate.", async () => {
  await using server = await TestServer.start({ args: ["--apps-port", "0"] });
  assert(!server.text.includes("Applications"), server.text);
});

Deno.test("A port of the gate that is in use is reported.", async () => {
  await using folder = await Folder.make();
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;
  const args = ["serve", "--port", "0", "--apps-port", String(port), "--data", folder.at("data")];
  assertRefused(await runCommand(args), 1, new RegExp(`Cannot listen on 127.0.0.1:${port}`));
});

Deno.test("The server stores files although the default port of the gate is in use.", async () => {
  using _taken = takeUsualPort();
  await using server = await TestServer.start({ env: { KVDRIVE_APPS_PORT: "" } });
  assertMatch(server.text, /^Warning: Cannot listen on 127\.0\.0\.1:8001: .*see --apps-port\.$/m);
  assert(!server.text.includes("Applications are at"), server.text);
  const listed = await server.fetch("d", "/files");
  assertEquals(listed.status, 200, await listed.text());
});

/** Makes sure that the default port is in use: binds it if it is free. */
function takeUsualPort(): Disposable {
  try {
    return Deno.listen({ hostname: "127.0.0.1", port: 8001 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    return { [Symbol.dispose]: () => {} };
  }
}
