import { assertEquals, assertMatch } from "@std/assert";
import { Gate } from "../support/gate/gate.ts";
import { type RawAnswer, RawClient } from "../support/gate/raw_client.ts";
import { answerEach, RawUpstream } from "../support/gate/upstream_raw.ts";
import { lineOf } from "../support/log.ts";

const GENERATED = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The values of `X-Request-Id` in a head. */
function idsIn(lines: readonly string[]): string[] {
  return lines.filter((line) => /^x.request.id:/i.test(line))
    .map((line) => line.slice(line.indexOf(":") + 1).trim());
}

/** Sends a request with these header lines. Returns the answer, and the ids that the application received. */
async function ask(
  gate: Gate,
  upstream: RawUpstream,
  headers: readonly string[] = [],
): Promise<{ answer: RawAnswer; received: string[] }> {
  const before = upstream.received.length;
  using client = await RawClient.connect(gate.port);
  const head = [`GET ${gate.prefix()}/ HTTP/1.1`, "Host: localhost", ...headers, "", ""];
  await client.send(head.join("\r\n"));
  const answer = await client.readAnswer();
  return { answer, received: idsIn(upstream.received.slice(before).split("\r\n")) };
}

Deno.test("A forwarded answer, the application and the log have the caller's id.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.start();
  await gate.open(upstream.origin);
  const { answer, received } = await ask(gate, upstream, ["x-request-id: Caller-1"]);
  assertEquals([answer.body, idsIn(answer.lines), received], ["ok", ["Caller-1"], ["Caller-1"]]);
  assertEquals((await lineOf(gate.server, "Caller-1")).status, 200);
});

Deno.test("The gate generates an id if the caller sends none, or one that is not valid.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.start();
  const key = await gate.protect(upstream.origin);
  const known = `X-API-Key: ${key}`;
  const cases: string[][] = [
    [],
    ["X-Request-Id: with blanks"],
    ["X-Request-Id:"],
    [`X-Request-Id: ${"a".repeat(129)}`],
    ["X-Request-Id: one", "X-Request-Id: two"],
    [`X-Request-Id: a-${key}-b`],
    ["X_Request_Id: other-spelling"],
    ["X-Request-Id: \xe9"],
  ];
  const seen = new Set<string>();
  for (const headers of cases) {
    const { answer, received } = await ask(gate, upstream, [known, ...headers]);
    const [id = ""] = received;
    assertMatch(id, GENERATED);
    assertEquals([received, idsIn(answer.lines)], [[id], [id]], headers.join());
    assertEquals((await lineOf(gate.server, id)).status, 200);
    seen.add(id);
  }
  assertEquals(seen.size, cases.length);
});

Deno.test("An id that the application sets is kept, and no other is added.", async () => {
  const own = "HTTP/1.1 404 No\r\nx-request-id: {of the app}\r\nContent-Length: 2\r\n\r\nno";
  await using upstream = new RawUpstream(answerEach(own));
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  const { answer, received } = await ask(gate, upstream, ["X-Request-Id: mine"]);
  assertEquals([idsIn(answer.lines), received], [["{of the app}"], ["mine"]]);
  const unnamed = await ask(gate, upstream);
  assertEquals(idsIn(unnamed.answer.lines), ["{of the app}"]);
  assertMatch(unnamed.received.join(), GENERATED);
});

Deno.test("Only the final answer has an id, also one that changes the protocol.", async () => {
  const upgraded = "HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n";
  await using upstream = new RawUpstream(answerEach("HTTP/1.1 103 Early\r\n\r\n" + upgraded));
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  const headers = ["Connection: upgrade", "Upgrade: websocket", "X-Request-Id: socket"];
  const { answer, received } = await ask(gate, upstream, headers);
  assertEquals([answer.status, idsIn(answer.lines), received], [101, ["socket"], ["socket"]]);
});

Deno.test("An upload gets no id before its final answer.", async () => {
  await using upstream = new RawUpstream(async (connection, received) => {
    if (received.endsWith("abc")) {
      await connection.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 Done\r\n\r\n");
    }
  });
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  const head = [
    `PUT ${gate.prefix()}/ HTTP/1.1`,
    "Host: localhost",
    "Expect: 100-continue",
    "Content-Length: 3",
    "X-Request-Id: upload",
  ];
  await client.send(head.join("\r\n") + "\r\n\r\n");
  const interim = await client.readHead();
  assertEquals([interim.status, idsIn(interim.lines)], [100, []]);
  await client.send("abc");
  const answer = await client.readHead();
  assertEquals([answer.status, idsIn(answer.lines)], [204, ["upload"]]);
});
