import { assert, assertEquals } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { withKey } from "../support/admin.ts";
import { MIB } from "../support/bytes.ts";
import { Gate } from "../support/gate/gate.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { UpstreamApp } from "../support/gate/upstream_app.ts";
import { RawUpstream } from "../support/gate/upstream_raw.ts";
import { assertBoundedMemory } from "../support/server.ts";

const GIB = 1024 * MIB;
const SOON = 60_000;

Deno.test("A stalled reader stops the sender and uses no memory.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  await assertBoundedMemory(gate.server, async () => {
    const clients = await Promise.all(
      Array.from({ length: 8 }, () => RawClient.connect(gate.port)),
    );
    for (const client of clients) {
      await client.send(`GET ${gate.prefix()}/endless HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await client.readHead();
    }
    // Other requests run, long enough for much data to pass if nothing stopped it.
    for (let i = 0; i < 300; i++) (await gate.get("/")).expect(200);
    clients.forEach((client) => client[Symbol.dispose]());
  });
});

Deno.test("Events arrive one by one, and the application sees when their reader has left.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  const key = await gate.protect(upstream.origin);
  using client = await RawClient.connect(gate.port);
  await client.send(
    `GET ${gate.prefix()}/events HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${key}\r\n\r\n`,
  );
  const head = await client.readHead();
  assertEquals(head.header("Content-Type"), "text/event-stream");
  await deadline(upstream.events.reach(1), SOON);
  for (const text of ["one", "two", "three"]) {
    upstream.events.send(text);
    assertEquals(await client.readChunk(), `data: ${text}\n\n`);
  }
  await client.end();
  await deadline(upstream.events.reach(0), SOON);
});

Deno.test("The application notices when a waiting caller disconnects.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  {
    using client = await RawClient.connect(gate.port);
    await client.send(`GET ${gate.prefix()}/never HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await deadline(upstream.asked, SOON);
  }
  await deadline(upstream.left, SOON);
});

Deno.test("The application notices when a caller disconnects within a body.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  for (const framing of ["Content-Length: 100", "Transfer-Encoding: chunked"]) {
    using client = await RawClient.connect(gate.port);
    await client.send(
      `POST ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n4\r\nabcd\r\n`,
    );
    await client.readAnswer();
    await client.end();
    const connection = upstream.connections.at(-1);
    assert(connection !== undefined);
    await deadline(connection.ended, SOON);
    assert(!connection.received.endsWith("0\r\n\r\n"), connection.received);
  }
});

Deno.test("An application may answer before it has read the body, and the caller hears it.", async () => {
  const answer = "HTTP/1.1 413 Too much\r\nContent-Length: 2\r\n\r\nno";
  await using upstream = new RawUpstream(async (connection) => {
    await connection.send(answer);
    connection.close();
  });
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  await client.send(
    `POST ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${GIB}\r\n\r\nabc`,
  );
  const got = await client.readAnswer();
  assertEquals([got.status, got.body, got.header("Connection")], [413, "no", "close"]);
});

Deno.test("Request and answer go both ways at the same time.", async () => {
  await using upstream = new RawUpstream(async (connection, received) => {
    const [, body = ""] = received.split("\r\n\r\n");
    if (body === "") {
      await connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    } else await connection.send(`1\r\n${body.at(-1)}\r\n`);
    if (body.length === 3) await connection.send("0\r\n\r\n");
  });
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  await client.send(
    `POST ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n`,
  );
  assertEquals((await client.readHead()).status, 200);
  for (const letter of "abc") {
    await client.send(letter);
    assertEquals(await client.readChunk(), letter);
  }
  assertEquals(await client.readChunk(), "");
});

Deno.test("WebSockets carry texts and bytes of any size both ways.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  const key = await gate.protect(upstream.origin);
  const socket = new WebSocket(gate.url("/ws").replace("http", "ws"), { headers: withKey(key) });
  socket.binaryType = "arraybuffer";
  const next = () =>
    new Promise<MessageEvent>((resolve, reject) => {
      socket.onmessage = resolve;
      socket.onerror = () => reject(new Error("The socket broke"));
    });
  await deadline(new Promise((resolve) => socket.onopen = resolve), SOON);
  for (const message of ["hello", "\u{1F600}".repeat(100_000)]) {
    const answer = next();
    socket.send(message);
    assertEquals((await deadline(answer, SOON)).data === message, true);
  }
  const bytes = crypto.getRandomValues(new Uint8Array(65_536));
  const answer = next();
  socket.send(bytes);
  assertEquals(new Uint8Array((await deadline(answer, SOON)).data), bytes);
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  socket.close(4001, "done");
  assertEquals((await deadline(closed, SOON)).code, 4001);
});

Deno.test("A changed protocol passes bytes as they are, each side up to its end.", async () => {
  await using upstream = new RawUpstream(async (connection, received) => {
    const [, more = ""] = received.split("\r\n\r\n");
    if (more === "") {
      await connection.send(
        "HTTP/1.1 101 Go\r\nUpgrade: WebSocket\r\nConnection: upgrade\r\n\r\nfirst ",
      );
    } else await connection.send(more.toUpperCase());
  });
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  // What is sent before the protocol has changed is for the new one.
  await client.send(
    `GET ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nearly`,
  );
  const head = await client.readHead();
  assertEquals([head.status, head.header("Upgrade"), head.header("Connection")], [
    101,
    "websocket",
    "Upgrade",
  ]);
  assertEquals(await client.readExactly(11), "first EARLY");
  await client.end();
  assertEquals(await client.readToEnd(), "");
  const [connection] = upstream.connections;
  await deadline(connection?.ended ?? Promise.reject(), SOON);
});

Deno.test("An application that does not want to change the protocol answers as ever.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  for (let i = 0; i < 2; i++) {
    await client.send(
      `GET ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    assertEquals((await client.readAnswer()).body, "ok");
  }
});
