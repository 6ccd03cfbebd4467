import { assert, assertEquals } from "@std/assert";
import { Gate } from "../support/gate/gate.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { UpstreamApp } from "../support/gate/upstream_app.ts";
import { answerEach, RawUpstream, type UpstreamConnection } from "../support/gate/upstream_raw.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** Answers each request with its path. */
async function answerPath(connection: UpstreamConnection, received: string): Promise<void> {
  const path = /^GET (\S+) /gm;
  const last = [...received.matchAll(path)].at(-1)?.[1] ?? "";
  await connection.send(`HTTP/1.1 200 OK\r\nContent-Length: ${last.length}\r\n\r\n${last}`);
}

Deno.test("Requests that are sent in one go are answered in their order.", async () => {
  await using upstream = new RawUpstream(answerPath);
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  const count = 300;
  const paths = Array.from({ length: count }, (_, i) => `/${i}`);
  await client.send(
    paths.map((path) => `GET ${gate.prefix()}${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(""),
  );
  for (const path of paths) assertEquals((await client.readAnswer()).body, path);
  assertEquals(upstream.connections.length, 1);
});

Deno.test("The next request begins where the body ends.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  const head = `POST ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\n`;
  await client.send(
    `${head}Content-Length: 3\r\n\r\none` +
      `${head}Transfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n` +
      `${head}Content-Length: 5\r\n\r\nth`,
  );
  assertEquals(JSON.parse((await client.readAnswer()).body).body, "one");
  assertEquals(JSON.parse((await client.readAnswer()).body).body, "two");
  await client.send("ree");
  assertEquals(JSON.parse((await client.readAnswer()).body).body, "three");
});

Deno.test("A refusal keeps the connection open if the body was read.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  await gate.protect(upstream.origin);
  using client = await RawClient.connect(gate.port);
  const head = `POST ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\n`;
  for (const body of ["\r\n", "Content-Length: 3\r\n\r\nabc"]) {
    await client.send(head + body);
    const answer = await client.readAnswer();
    assertEquals([answer.status, answer.header("Connection")], [401, undefined]);
  }
  await client.send(`${head}Content-Length: 1000\r\n\r\nabc`);
  const answer = await client.readAnswer();
  assertEquals([answer.status, answer.header("Connection")], [401, "close"]);
  assertEquals(await client.readToEnd(), "");
  assertEquals(upstream.received, "");
});

Deno.test("Connection: close ends the connection behind the answer.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  await client.send(
    `GET ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\nConnection: Close\r\n\r\n`,
  );
  assertEquals((await client.readAnswer()).header("Connection"), "close");
  assertEquals(await client.readToEnd(), "");
});

Deno.test("A connection that the application closes between requests loses no answer.", async () => {
  await using upstream = new RawUpstream(async (connection) => {
    await connection.send(OK);
    // As an application does whose time for idle connections is over just now.
    connection.close();
  });
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  for (let i = 0; i < 50; i++) (await gate.get("/")).expect(200);
  for (let i = 0; i < 50; i++) {
    const response = await gate.fetch("/", { method: "POST", body: "x" });
    await response.body?.cancel();
    assertEquals(response.status, 200);
  }
});

Deno.test("A request is sent again over a new connection only if that is safe.", async () => {
  /** Answers the first request of a connection and breaks off at the second. */
  const counts = new Map<UpstreamConnection, number>();
  await using upstream = new RawUpstream(async (connection) => {
    const count = (counts.get(connection) ?? 0) + 1;
    counts.set(connection, count);
    if (count === 1) await connection.send(OK);
    else connection.close();
  });
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  (await gate.get("/")).expect(200);
  (await gate.get("/")).expect(200);
  assertEquals(upstream.received.match(/^GET /gm)?.length, 3);
  const response = await gate.fetch("/", { method: "POST" });
  await response.body?.cancel();
  assertEquals(response.status, 502);
  assertEquals(upstream.received.match(/^POST /gm)?.length, 1);
});

Deno.test("Bytes that an application sends without a request are discarded.", async () => {
  const poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
  // The connection stays open, so only the gate can decide not to use it again.
  await using upstream = new RawUpstream((connection) => connection.send(OK + poison));
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  for (let i = 0; i < 20; i++) assertEquals((await gate.get("/")).text, "ok");
});

Deno.test("Expect: 100-continue is answered after authorization and not forwarded.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  const key = await gate.protect(upstream.origin);
  using client = await RawClient.connect(gate.port);
  const head = (name: string) =>
    `POST ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${name}\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\n`;
  await client.send(head(key));
  assertEquals((await client.readHead()).status, 100);
  await client.send("abc");
  const echo = JSON.parse((await client.readAnswer()).body);
  assertEquals([echo.body, Object.fromEntries(echo.headers)["expect"]], ["abc", undefined]);
  await client.send(head("wrong"));
  assertEquals((await client.readAnswer()).status, 401);
});

Deno.test("An application that does not begin its answer in time is 504.", async () => {
  await using upstream = new RawUpstream(() => {});
  await using gate = await Gate.start({ args: ["--apps-timeout", "1s"] });
  await gate.open(upstream.origin);
  const started = Date.now();
  const answer = (await gate.get("/")).expect(504);
  assert(Date.now() - started >= 1000);
  assert(!answer.text.includes("127.0.0.1"), answer.text);
  const response = await gate.fetch("/", { method: "POST", body: "x".repeat(100_000) });
  await response.body?.cancel();
  assertEquals(response.status, 504);
});

Deno.test("Once it has begun, an answer may take as long as it likes.", async () => {
  await using upstream = new RawUpstream(async (connection) => {
    await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no");
    await new Promise((resolve) => setTimeout(resolve, 4000));
    await connection.send("k");
  });
  await using gate = await Gate.start({ args: ["--apps-timeout", "2s"] });
  await gate.open(upstream.origin);
  assertEquals((await gate.get("/")).expect(200).text, "ok");
});

Deno.test("A begun answer and a WebSocket end when no byte passes for --apps-idle-timeout.", async () => {
  const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const ticks: UpstreamConnection[] = [];
  await using upstream = new RawUpstream(async (connection, received) => {
    if (!received.endsWith("\r\n\r\n")) return;
    if (received.includes("Upgrade")) await connection.send(`HTTP/1.1 101 Go\r\n${upgrade}\r\n`);
    else await connection.send(chunked);
    if (received.includes("/ticking ")) ticks.push(connection);
  });
  await using gate = await Gate.start({ args: ["--apps-idle-timeout", "4s"] });
  await gate.open(upstream.origin);
  const open = async (path: string, headers = "") => {
    const client = await RawClient.connect(gate.port);
    await client.send(`GET ${gate.prefix()}${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
    await client.readHead();
    return client;
  };
  using silent = await open("/silent");
  using socket = await open("/silent", upgrade);
  using ticking = await open("/ticking");
  using talking = await open("/ticking", upgrade);
  const since = performance.now();
  let isOver = false;
  const ends = Promise.all([silent.readToEnd(), socket.readToEnd()]).then(() => {
    isOver = true;
    return performance.now() - since;
  });
  // The application speaks on one connection, the caller on the other.
  while (!isOver || performance.now() - since < 9000) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await ticks[0]?.send("1\r\nx\r\n");
    await talking.send("y");
  }
  const time = await ends;
  assert(time > 3500 && time < 20_000, `${time} ms`);
  await Promise.all([upstream.connections[0]?.ended, upstream.connections[1]?.ended]);
  await ticks[1]?.send("last");
  assertEquals(await ticking.readChunk(), "x");
  assertEquals(await talking.readExactly(4), "last");
});

Deno.test("A caller that stalls within a body gets 408 and is disconnected.", async () => {
  await using upstream = new RawUpstream(() => {});
  await using gate = await Gate.start({ args: ["--idle-timeout", "1s"] });
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  await client.send(
    `POST ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc`,
  );
  const answer = await client.readAnswer();
  assertEquals([answer.status, answer.header("Connection")], [408, "close"]);
  await upstream.connections[0]?.ended;
});

Deno.test("A body with malformed chunks is 400, and the application gets no complete body.", async () => {
  await using upstream = new RawUpstream(answerEach(""));
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  await client.send(
    `POST ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`,
  );
  await client.send("nonsense\r\n");
  assertEquals((await client.readAnswer()).status, 400);
  await upstream.connections[0]?.ended;
  assert(!upstream.received.endsWith("0\r\n\r\n"), upstream.received);
});

Deno.test("An HTTP client gets its answers through a few connections.", async () => {
  await using upstream = new RawUpstream(answerEach(OK));
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  for (let i = 0; i < 100; i++) assertEquals((await gate.get(`/${i}`)).text, "ok");
  assertEquals(upstream.connections.length, 1);
  await Promise.all(Array.from({ length: 40 }, async () => (await gate.get("/")).expect(200)));
  assert(upstream.connections.length <= 41, `${upstream.connections.length} connections`);
});

for (
  const [what, method, head] of [
    ["a response to HEAD", "HEAD", "200 OK\r\nContent-Length: LENGTH"],
    ["a response to HEAD in chunks", "HEAD", "200 OK\r\nTransfer-Encoding: chunked"],
    ["a response to HEAD without a length", "HEAD", "200 OK"],
    ["204 with a length", "GET", "204 No Content\r\nContent-Length: LENGTH"],
    ["304 with a length", "GET", "304 Not Modified\r\nContent-Length: LENGTH"],
    ["304 in chunks", "GET", "304 Not Modified\r\nTransfer-Encoding: chunked"],
  ] as const
) {
  Deno.test(`A body that follows ${what} late does not answer the next request.`, async () => {
    const body = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    await using upstream = new RawUpstream(async (connection, received) => {
      const isFirst = received.split("\r\n\r\n").length === 2;
      const isBodiless = /^\S+ \S*\/bodiless /.test(received);
      if (isFirst && isBodiless) {
        await connection.send(`HTTP/1.1 ${head.replace("LENGTH", `${body.length}`)}\r\n\r\n`);
        // The body arrives when the gate has no more reason to expect it.
      } else await connection.send(isBodiless ? body : OK);
    });
    await using gate = await Gate.shared();
    await gate.open(upstream.origin);
    using client = await RawClient.connect(gate.port);
    await client.send(`${method} ${gate.prefix()}/bodiless HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await client.readAnswer(method);
    for (let i = 0; i < 3; i++) assertEquals((await gate.get("/")).text, "ok");
  });
}

Deno.test("After 204 and 304 without a length, the connection to the application is used again.", async () => {
  for (const status of ["204 No Content", "304 Not Modified"]) {
    await using upstream = new RawUpstream(answerEach(`HTTP/1.1 ${status}\r\n\r\n`));
    await using gate = await Gate.shared();
    await gate.open(upstream.origin);
    for (let i = 0; i < 3; i++) await gate.get("/");
    assertEquals(upstream.connections.length, 1);
  }
});
