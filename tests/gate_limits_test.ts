import { assert, assertEquals } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { MIB } from "./support/bytes.ts";
import { Gate } from "./support/gate.ts";
import { RawClient } from "./support/gate_client.ts";
import { residentBytes } from "./support/resident.ts";
import { RawUpstream } from "./support/upstream_raw.ts";

/** Callers that may be connected at once. */
const CONNECTIONS = 2000;
const SOON = 20_000;

Deno.test("When too many are connected the next is sent away, until one leaves.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.start();
  await gate.open(upstream.origin);
  const before = await residentBytes(gate.server.process.pid);
  const clients: RawClient[] = [];
  try {
    while (clients.length < CONNECTIONS) clients.push(await RawClient.connect(gate.port));
    // The last one is answered, so all are connected.
    const request = `GET ${gate.prefix()}/ HTTP/1.1\r\nHost: a\r\n\r\n`;
    await clients.at(-1)?.send(request);
    assertEquals((await clients.at(-1)?.readAnswer())?.body, "ok");
    using refused = await RawClient.connect(gate.port);
    const answer = await refused.readAnswer();
    assertEquals([answer.status, answer.header("Retry-After")], [503, "1"]);
    assertEquals(Object.keys(JSON.parse(answer.body)), ["errors"]);
    assertEquals(await refused.readToEnd(), "");
    const grown = await residentBytes(gate.server.process.pid) - before;
    assert(grown < 200 * MIB, `${grown} bytes for callers who say nothing`);
  } finally {
    clients.forEach((client) => client[Symbol.dispose]());
  }
  await deadline(isServedAgain(gate), SOON);
});

async function isServedAgain(gate: Gate): Promise<void> {
  while (true) {
    using client = await RawClient.connect(gate.port);
    await client.send(`GET ${gate.prefix()}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    if ((await client.readAnswer()).status === 200) return;
    await delay(50);
  }
}
