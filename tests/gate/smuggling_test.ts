import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { Gate } from "../support/gate/gate.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { answerEach, RawUpstream } from "../support/gate/upstream_raw.ts";

/** A request inside of a request: if it ever reaches an application, the two sides saw different ends. */
const INNER = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";

interface Attack {
  name: string;
  /** Behind the request line and the Host. */
  rest: string;
  status: number;
  /** The whole request, where it does not begin as they all do. */
  whole?: (prefix: string) => string;
}

function head(name: string, status: number, ...lines: string[]): Attack {
  return { name, rest: [...lines, "", INNER].join("\r\n"), status };
}

function line(name: string, status: number, whole: (prefix: string) => string): Attack {
  return { name, rest: "", status, whole: (prefix) => `${whole(prefix)}${INNER}` };
}

const ATTACKS: Attack[] = [
  head("two lengths", 400, "Content-Length: 0", "Content-Length: 36"),
  head("two equal lengths", 400, "Content-Length: 36", "Content-Length: 36"),
  head("a list of lengths", 400, "Content-Length: 0, 36"),
  head("a signed length", 400, "Content-Length: +36"),
  head("a length and chunks", 400, "Content-Length: 36", "Transfer-Encoding: chunked"),
  head("chunks and a length", 400, "Transfer-Encoding: chunked", "Content-Length: 0"),
  head("two codings", 400, "Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
  head("a list of codings", 501, "Transfer-Encoding: identity, chunked"),
  head("a coding with a tab in it", 501, "Transfer-Encoding: chun\tked"),
  head("a coding with a control character", 400, "Transfer-Encoding: \x0bchunked"),
  head("a blank before the colon", 400, "Transfer-Encoding : chunked"),
  head("a blank before the name", 400, " Transfer-Encoding: chunked"),
  head("a folded header", 400, "X-A: b", " Transfer-Encoding: chunked"),
  head("a bare CR in a header", 400, "X-A: b\rTransfer-Encoding: chunked"),
  head("a bare LF in a header", 400, "X-A: b\nTransfer-Encoding: chunked"),
  head("NUL in a header", 400, "X-A: b\0"),
  head("NUL in a name", 400, "X\0A: b"),
  head("no colon", 400, "Transfer-Encoding chunked"),
  head("an empty name", 400, ": chunked"),
  head("two hosts", 400, "Host: b"),
  head("an unknown expectation", 417, "Expect: 200-ok", "Connection: close"),
  head("a huge header", 431, `X-A: ${"a".repeat(70_000)}`),
  head("a chunk with a bare LF", 400, "Transfer-Encoding: chunked", "", "0\n\n"),
  head("a chunk with a size that is none", 400, "Transfer-Encoding: chunked", "", "0x0", "", ""),
  head(
    "a chunk longer than its size",
    400,
    "Transfer-Encoding: chunked",
    "",
    "1",
    "ab",
    "0",
    "",
    "",
  ),
  line("no host", 400, (prefix) => `GET ${prefix}/ HTTP/1.1\r\n\r\n`),
  line("a host with a path", 400, (prefix) => `GET ${prefix}/ HTTP/1.1\r\nHost: a/b\r\n\r\n`),
  line("a host with a user", 400, (prefix) => `GET ${prefix}/ HTTP/1.1\r\nHost: a@b\r\n\r\n`),
  line(
    "an absolute target",
    400,
    (prefix) => `GET http://a${prefix}/ HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  ),
  line(
    "an absolute target of another host",
    400,
    () => "GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
  ),
  line("an authority", 400, () => "GET a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
  line("CONNECT", 405, () => "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
  line("TRACE", 405, (prefix) => `TRACE ${prefix}/ HTTP/1.1\r\nHost: localhost\r\n\r\n`),
  line(
    "an asterisk",
    404,
    () => "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
  ),
  line(
    "a blank in the target",
    400,
    (prefix) => `GET ${prefix}/ x HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  ),
  line(
    "a tab in the target",
    400,
    (prefix) => `GET ${prefix}/\tx HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  ),
  line("HTTP/0.9", 400, (prefix) => `GET ${prefix}/\r\n\r\n`),
  line("HTTP/2", 505, () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  line("a fragment", 400, (prefix) => `GET ${prefix}/#/../x HTTP/1.1\r\nHost: localhost\r\n\r\n`),
  line(
    "a huge target",
    414,
    (prefix) => `GET ${prefix}/${"a".repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  ),
  line("a bare LF everywhere", 400, (prefix) => `GET ${prefix}/ HTTP/1.1\nHost: localhost\n\n`),
  line(
    "chunks in HTTP/1.0",
    400,
    (prefix) => `POST ${prefix}/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n`,
  ),
];

Deno.test("Of a request that two could read in two ways nothing reaches an application.", async (t) => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  for (const { name, rest, status, whole } of ATTACKS) {
    await t.step(`${name}: ${status}`, async () => {
      using client = await RawClient.connect(gate.port);
      const start = `POST ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\n`;
      await client.send(whole?.(gate.prefix()) ?? start + rest);
      const answer = await client.readAnswer();
      assertEquals(answer.status, status, answer.body);
      assertEquals(Object.keys(JSON.parse(answer.body)), ["errors", "code"]);
      // After this refusal the connection is closed.
      assertEquals(await client.readToEnd(), "");
      assertNotMatch(upstream.received, /smuggled/);
    });
  }
  assertNotMatch(gate.server.text, /error/i);
});

Deno.test("The application receives exactly the body that the gate reads, in new framing.", async () => {
  await using upstream = new RawUpstream(async (connection, received) => {
    if (received.endsWith("0\r\n\r\n")) {
      await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
  });
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  const size = INNER.length.toString(16);
  await client.send(
    `POST ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n` +
      `3;x="y"\r\nabc\r\n00${size}\r\n${INNER}\r\n000\r\nX-Forwarded-For: forged\r\n\r\n`,
  );
  assertEquals((await client.readAnswer()).status, 200);
  const body = upstream.received.slice(upstream.received.indexOf("\r\n\r\n") + 4);
  assertEquals(body, `${(INNER.length + 3).toString(16)}\r\nabc${INNER}\r\n0\r\n\r\n`);
});

Deno.test("An upgrade to HTTP inside of HTTP is not passed on.", async () => {
  await using upstream = new RawUpstream(
    answerEach("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
  );
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  for (
    const protocol of ["h2c", "h2c;q=1", '"h2c"', "websocket, h2c", "websocket;q=1", "IRC/6.9"]
  ) {
    await client.send([
      `GET ${gate.prefix()}/ HTTP/1.1`,
      "Host: localhost",
      "Connection: Upgrade, HTTP2-Settings",
      `Upgrade: ${protocol}`,
      "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
      "",
      "",
    ].join("\r\n"));
    assertEquals((await client.readAnswer()).status, 200, protocol);
  }
  assertNotMatch(upstream.received, /h2c|HTTP2|Connection/i);
});

const CLIMBING = [
  "/..",
  "/../other/x",
  "/x/../../other/",
  "/%2e%2e/other/",
  "/.%2E/other/",
  "/%2e",
  "/./x",
  "/x/..%2f..%2fother",
  "/x%2f..",
  "/..%5cother",
  "/\\..\\other",
  "/x\\y",
  "/..;/other",
  "/..%3b/other",
];

Deno.test("No path leads out of an application, nor to another one.", async (t) => {
  await using upstream = new RawUpstream();
  await using other = new RawUpstream();
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  await gate.protect(other.origin, "other");
  for (const path of CLIMBING) {
    await t.step(`${path}: 400`, async () => {
      using client = await RawClient.connect(gate.port);
      await client.send(`GET ${gate.prefix()}${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      assertEquals((await client.readAnswer()).status, 400);
    });
  }
  assertEquals([upstream.received, other.received], ["", ""]);
  const before = ["/", "//", "/%2e/", "/%2e%2e/", "/x/../", "/%2f/"];
  for (const path of before) {
    await t.step(`${path} in front: not found`, async () => {
      using client = await RawClient.connect(gate.port);
      await client.send(`GET ${path}${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      assertEquals((await client.readAnswer()).status, 404);
    });
  }
  assertEquals([upstream.received, other.received], ["", ""]);
});

Deno.test("Behind its own host name an application gets every path as it came.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  await gate.open(upstream.origin, "app", "path.example.com");
  using client = await RawClient.connect(gate.port);
  const paths = ["/../x", "//x", "/%2e%2e/x", "/a\\b", `${gate.prefix()}/x`, "/.kvdriver"];
  for (const path of paths) {
    await client.send(`GET ${path} HTTP/1.1\r\nHost: PATH.example.com:1\r\n\r\n`);
    assertEquals((await client.readAnswer()).status, 200, path);
  }
  const targets = [...upstream.received.matchAll(/^GET (\S+) /gm)].map(([, target]) => target);
  assertEquals(targets, paths);
  assert(!upstream.received.includes("X-Forwarded-Prefix"));
});
