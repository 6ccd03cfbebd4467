import { assert, assertEquals } from "@std/assert";
import {
  type Clock,
  ConnectionTable,
  type PortGroup,
  RESERVED_DESCRIPTORS,
  type TrackedConnection,
} from "./connection_table.ts";

class FakeConnection implements TrackedConnection {
  isClosed = false;
  stalledSince: number | undefined;
  idleSince: number | undefined;

  check(): void {}

  close(): void {
    this.isClosed = true;
  }
}

function table({ max = 4, maxPerNetwork = 2, now = 100_000 } = {}): ConnectionTable {
  const clock = { now, onTick() {} } as unknown as Clock;
  const networkOf = (address: string) => address === "proxy" ? undefined : address;
  return new ConnectionTable({ clock, networkOf, stallTime: 60_000, max, maxPerNetwork });
}

/** Adds a connection from each network. */
function addAll(connections: ConnectionTable, ...networks: string[]): FakeConnection[] {
  return networks.map((network) => addTo(connections, "server", network));
}

function addTo(connections: ConnectionTable, group: PortGroup, network: string): FakeConnection {
  const connection = new FakeConnection();
  assert(connections.add(connection, network, group));
  return connection;
}

/** Adds connections whose requests make progress. */
function addBusy(connections: ConnectionTable, group: PortGroup, ...networks: string[]): void {
  for (const network of networks) connections.setBusy(addTo(connections, group, network));
}

function refuses(connections: ConnectionTable, group: PortGroup, network: string): boolean {
  return !connections.add(new FakeConnection(), network, group);
}

function closed(connections: readonly FakeConnection[]): boolean[] {
  return connections.map(({ isClosed }) => isClosed);
}

Deno.test("At the limit, the longest idle connection is closed", () => {
  const connections = table();
  const all = addAll(connections, "a", "b", "c", "d");
  const [first] = all;
  assert(first);
  connections.setBusy(first);
  connections.setIdle(first);
  addAll(connections, "e");
  assertEquals(closed(all), [false, true, false, false]);
  assertEquals(connections.size, 4);
});

Deno.test("Idle connections of a proxy are closed last", () => {
  const connections = table({ maxPerNetwork: 4 });
  const all = addAll(connections, "proxy", "a", "proxy", "b");
  const later: FakeConnection[] = [];
  for (const wanted of [1, 3, 0]) {
    const [one] = addAll(connections, "c");
    assert(one);
    connections.setBusy(one);
    later.push(one);
    assert(all[wanted]?.isClosed, `${wanted}`);
    assertEquals(connections.size, 4);
  }
  assertEquals(closed([...all, ...later]), [true, true, false, true, false, false, false]);
});

Deno.test("A request that makes progress is never closed", () => {
  const connections = table();
  const all = addAll(connections, "a", "b", "c", "d");
  for (const one of all) connections.setBusy(one);
  assertEquals(connections.add(new FakeConnection(), "e", "server"), false);
  assertEquals(closed(all), [false, false, false, false]);
});

Deno.test("If all connections are busy, the longest stalled one is closed", () => {
  const connections = table();
  const all = addAll(connections, "a", "b", "c", "d");
  [30_000, 20_000, 50_000, undefined].forEach((since, index) => {
    const one = all[index];
    assert(one);
    one.stalledSince = since;
    connections.setBusy(one);
  });
  addAll(connections, "e");
  assertEquals(closed(all), [false, true, false, false]);
});

Deno.test("A network at its limit loses one of its own connections", () => {
  const connections = table();
  const all = addAll(connections, "a", "b", "b");
  addAll(connections, "b");
  assertEquals(closed(all), [false, true, false]);
  const [, , second] = all;
  assert(second);
  connections.setBusy(second);
  const [third] = addAll(connections, "b");
  assert(third);
  connections.setBusy(third);
  assertEquals(connections.add(new FakeConnection(), "b", "server"), false);
  assertEquals(connections.add(new FakeConnection(), "c", "server"), true);
});

Deno.test("A network at its limit never costs another network a stalled connection", () => {
  const connections = table();
  const all = addAll(connections, "a", "b", "b");
  for (const [i, connection] of all.entries()) {
    connections.setBusy(connection);
    connection.stalledSince = i;
  }
  addAll(connections, "b");
  assertEquals(closed(all), [false, true, false]);
});

Deno.test("A proxy has no limit per network", () => {
  const connections = table({ maxPerNetwork: 4 });
  const all = addAll(connections, "proxy", "proxy", "proxy", "proxy");
  assertEquals(closed(all), [false, false, false, false]);
  addAll(connections, "proxy");
  assertEquals(closed(all), [true, false, false, false]);
});

Deno.test("A removed connection frees its place", () => {
  const connections = table();
  const all = addAll(connections, "a", "a");
  for (const one of all) connections.remove(one);
  for (const one of all) connections.remove(one);
  assertEquals(connections.size, 0);
  addAll(connections, "a", "a");
});

Deno.test("Connections that are open when free descriptors are counted add to the limit", () => {
  const connections = table({ max: 1000, maxPerNetwork: 1000 });
  const early = addAll(connections, ...Array.from({ length: 10 }, () => "a"));
  connections.addSocket("server");
  connections.limitDescriptors(RESERVED_DESCRIPTORS + 20);
  const all = [...early, ...addAll(connections, ...Array.from({ length: 20 }, () => "a"))];
  assertEquals(closed(all).filter(Boolean).length, 0);
  addAll(connections, "b");
  assertEquals(closed(all).filter(Boolean).length, 1);
});

Deno.test("Scarce descriptors limit connections, including those to applications", () => {
  const connections = table({ max: 1000, maxPerNetwork: 1000 });
  connections.limitDescriptors(RESERVED_DESCRIPTORS + 20);
  const all = addAll(connections, ...Array.from({ length: 20 }, () => "a"));
  assertEquals(closed(all).filter(Boolean).length, 0);
  assert(connections.makeSocketRoom("gate"));
  connections.addSocket("gate");
  assertEquals(closed(all).filter(Boolean).length, 1);
  connections.removeSocket("gate");
  addAll(connections, "b");
  assertEquals(closed(all).filter(Boolean).length, 1);
  addAll(connections, "b");
  assertEquals(closed(all).filter(Boolean).length, 2);
});

Deno.test("The gate leaves a quarter of all connections to the other ports", () => {
  const connections = table({ max: 8, maxPerNetwork: 8 });
  addBusy(connections, "gate", "a", "b", "c", "d", "e", "f");
  assert(refuses(connections, "gate", "g"));
  addBusy(connections, "server", "g", "h");
  assert(refuses(connections, "server", "i"));
});

Deno.test("The gate leaves a quarter of a network's connections to the other ports", () => {
  const connections = table({ max: 100, maxPerNetwork: 4 });
  addBusy(connections, "gate", "a", "a", "a", "b");
  assert(refuses(connections, "gate", "a"));
  addBusy(connections, "server", "a");
  assert(refuses(connections, "server", "a"));
  addBusy(connections, "gate", "b");
});

Deno.test("The gate leaves a quarter of scarce descriptors to the other ports", () => {
  const connections = table({ max: 1000, maxPerNetwork: 1000 });
  connections.limitDescriptors(RESERVED_DESCRIPTORS + 20);
  for (let count = 0; count < 7; count++) {
    addBusy(connections, "gate", "a");
    assert(connections.makeSocketRoom("gate"));
    connections.addSocket("gate");
  }
  addBusy(connections, "gate", "a");
  assert(!connections.makeSocketRoom("gate"));
  assert(refuses(connections, "gate", "b"));
  addBusy(connections, "server", "a", "a", "b", "b", "b");
  assert(refuses(connections, "server", "c"));
});

Deno.test("At its part, the gate closes its own connection that has been stalled longest", () => {
  const connections = table({ max: 8, maxPerNetwork: 8 });
  const [other] = addAll(connections, "x");
  const all = ["a", "b", "c", "d", "e", "f"].map((network, index) => {
    const connection = addTo(connections, "gate", network);
    connections.setBusy(connection);
    connection.stalledSince = 10_000 - index;
    return connection;
  });
  addTo(connections, "gate", "g");
  assertEquals(closed(all), [false, false, false, false, false, true]);
  assertEquals(other?.isClosed, false);
});

Deno.test("Clients that arrive together close stalled connections and not each other", () => {
  const connections = table({ max: 8, maxPerNetwork: 8 });
  const tunnels = ["a", "b", "c", "d", "e", "f"].map((network) => {
    const connection = addTo(connections, "gate", network);
    connections.setBusy(connection);
    connection.stalledSince = 10_000;
    return connection;
  });
  const burst = ["g", "h", "i", "j"].map((network) => addTo(connections, "gate", network));
  assertEquals(closed(burst), [false, false, false, false]);
  assertEquals(closed(tunnels).filter(Boolean).length, 4);
  for (const one of tunnels) one.stalledSince = undefined;
  addTo(connections, "gate", "k");
  assertEquals(closed(burst), [true, false, false, false]);
});

Deno.test("Processes divide the limits, so that all together stay within them", () => {
  const clock = { now: 0, onTick() {} } as unknown as Clock;
  const limits = { clock, networkOf: (address: string) => address, stallTime: 60_000 };
  const connections = new ConnectionTable({ ...limits, max: 7, maxPerNetwork: 5, processes: 2 });
  addBusy(connections, "server", "a", "a");
  assert(refuses(connections, "server", "a"));
  addBusy(connections, "server", "b");
  assert(refuses(connections, "server", "c"));
});
