import { assert, assertEquals } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { MIB } from "../support/bytes.ts";
import { Gate } from "../support/gate/gate.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { RawUpstream } from "../support/gate/upstream_raw.ts";
import { residentBytes } from "../support/server.ts";

const SOON = 60_000;

/** Connections that the gate can have at most: it leaves a quarter to the other ports. */
const GATE_CONNECTIONS = 1500;

const UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\n";

/** Opens a WebSocket. @returns The status, and the connection. */
async function openTunnel(gate: Gate): Promise<{ status: number; client: RawClient }> {
  const client = await RawClient.connect(gate.port);
  await client.send(`GET ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}\r\n`);
  return { status: (await client.readHead()).status, client };
}

Deno.test("Idle WebSockets take no more than the gate's part of connections, descriptors and memory.", async () => {
  await using upstream = new RawUpstream((connection) =>
    connection.send(`HTTP/1.1 101 Go\r\n${UPGRADE}\r\n`)
  );
  await using gate = await Gate.start();
  await gate.open(upstream.origin);
  const { pid } = gate.server.process;
  const before = await residentBytes(pid);
  const open: RawClient[] = [];
  const statuses = new Map<number, number>();
  try {
    for (let count = 0; count < GATE_CONNECTIONS + 300; count += 25) {
      for (const one of await Promise.all(Array.from({ length: 25 }, () => openTunnel(gate)))) {
        statuses.set(one.status, (statuses.get(one.status) ?? 0) + 1);
        if (one.status === 101) open.push(one.client);
        else one.client[Symbol.dispose]();
      }
    }
    assertEquals(Object.fromEntries(statuses), { 101: GATE_CONNECTIONS, 503: 300 });
    assertEquals((await fetch(`${gate.server.origin}/readyz`)).status, 200);
    (await gate.project.call("GET", "/keys")).expect(200);
    const grown = await residentBytes(pid) - before;
    assert(grown < 150 * MIB, `${grown} bytes for WebSockets that say nothing`);
    if (Deno.build.os === "linux") {
      const descriptors = [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
      assert(descriptors < 2 * GATE_CONNECTIONS + 100, `${descriptors} descriptors`);
    }
  } finally {
    open.forEach((client) => client[Symbol.dispose]());
  }
  let after = await openTunnel(gate);
  for (; after.status === 503; after = await openTunnel(gate)) after.client[Symbol.dispose]();
  after.client[Symbol.dispose]();
});

Deno.test("When the gate is full, the WebSocket that has been silent for longest makes room.", async () => {
  await using upstream = new RawUpstream((connection) =>
    connection.send(`HTTP/1.1 101 Go\r\n${UPGRADE}\r\n`)
  );
  await using gate = await Gate.start({ args: ["--idle-timeout", "1s"] });
  await gate.open(upstream.origin);
  const open: RawClient[] = [];
  try {
    while (open.length < GATE_CONNECTIONS) {
      const some = await Promise.all(Array.from({ length: 25 }, () => openTunnel(gate)));
      open.push(...some.map(({ client }) => client));
    }
    await open[0]?.send("the first one is used");
    await delay(2500);
    await open[0]?.send("again");
    await delay(500);
    const late = await openTunnel(gate);
    open.push(late.client);
    assertEquals(late.status, 101);
    const ends = open.slice(1, 51).map((client) => client.readToEnd().then(() => "closed"));
    assertEquals(await deadline(Promise.any(ends), SOON), "closed");
    await open[0]?.send("and goes on");
    assertEquals((await open[0]?.readExactly(10))?.length, 10);
  } finally {
    open.forEach((client) => client[Symbol.dispose]());
  }
});
