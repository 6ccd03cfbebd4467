import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { MIB } from "../support/bytes.ts";
import { Gate } from "../support/gate/gate.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { UpstreamApp } from "../support/gate/upstream_app.ts";
import { RawUpstream } from "../support/gate/upstream_raw.ts";
import { residentBytes } from "../support/server.ts";

/** Clients of the gate that may be connected at once: three quarters of all. */
const CONNECTIONS = 1500;
const SOON = 60_000;

Deno.test("When too many are connected, the one that has been idle for longest makes room.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.start();
  await gate.open(upstream.origin);
  const before = await residentBytes(gate.server.process.pid);
  const request = `GET ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const clients: RawClient[] = [];
  try {
    while (clients.length < CONNECTIONS) clients.push(await RawClient.connect(gate.port));
    // The last one is answered, so all are connected.
    await clients.at(-1)?.send(request);
    assertEquals((await clients.at(-1)?.readAnswer())?.body, "ok");
    using late = await RawClient.connect(gate.port);
    await late.send(request);
    assertEquals((await late.readAnswer()).body, "ok");
    const [first] = clients;
    assertEquals(await first?.readToEnd(), "");
    await clients.at(-1)?.send(request);
    assertEquals((await clients.at(-1)?.readAnswer())?.body, "ok");
    const grown = await residentBytes(gate.server.process.pid) - before;
    assert(grown < 200 * MIB, `${grown} bytes for callers who say nothing`);
  } finally {
    clients.forEach((client) => client[Symbol.dispose]());
  }
  (await gate.get("/")).expect(200);
});

Deno.test("Callers that disconnect at any moment leave nothing behind.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start();
  const key = await gate.protect(upstream.origin);
  const prefix = gate.prefix();
  const headers = `Host: localhost\r\nX-Api-Key: ${key}\r\n`;
  const requests = [
    `GET ${prefix}/events HTTP/1.1\r\n${headers}\r\n`,
    `GET ${prefix}/endless HTTP/1.1\r\n${headers}\r\n`,
    `GET ${prefix}/ws HTTP/1.1\r\n${headers}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    `POST ${prefix}/upload HTTP/1.1\r\n${headers}Content-Length: 100000\r\n\r\n${"x".repeat(99)}`,
    `POST ${prefix}/upload HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n`,
    `POST ${prefix}/early HTTP/1.1\r\n${headers}Content-Length: 100000\r\n\r\n${"x".repeat(99)}`,
    `GET ${prefix}/a HTTP/1.1\r\n${headers}\r\nGET ${prefix}/b HTTP/1.1\r\n${headers}\r\n`,
  ];
  const leave = async (request: string, at: number) => {
    using client = await RawClient.connect(gate.port);
    await client.send(request.slice(0, at));
    // Some leave at once, some when their answer has begun.
    const isAnswered = at === request.length && !request.includes("/upload");
    if (isAnswered && Math.random() < 0.5) await client.readHead();
  };
  for (const request of requests) {
    const whole = Array.from({ length: 20 }, () => leave(request, request.length));
    await Promise.all(whole);
    for (let at = 1; at < request.length; at += 7) await leave(request, at);
  }
  await deadline(upstream.events.reach(0), SOON);
  while (upstream.sockets.size > 0) await delay(50);
  for (let i = 0; i < 20; i++) {
    (await gate.get("/", { "X-Api-Key": key })).expect(200);
  }
  assertNotMatch(gate.server.text, /error/i);
});
