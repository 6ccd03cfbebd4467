import { assert, assertEquals } from "@std/assert";
import {
  type Clock,
  ConnectionTable,
  RESERVED_DESCRIPTORS,
  type TrackedConnection,
} from "./connection_table.ts";

class Connection implements TrackedConnection {
  isClosed = false;
  stalledSince: number | undefined;

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

/** Admits connections of these networks. */
function admitAll(connections: ConnectionTable, ...networks: string[]): Connection[] {
  return networks.map((network) => {
    const connection = new Connection();
    assert(connections.add(connection, network));
    return connection;
  });
}

function closed(connections: readonly Connection[]): boolean[] {
  return connections.map(({ isClosed }) => isClosed);
}

Deno.test("The connection that has been idle for longest makes room", () => {
  const connections = table();
  const all = admitAll(connections, "a", "b", "c", "d");
  const [first] = all;
  assert(first);
  connections.setBusy(first);
  connections.setIdle(first);
  admitAll(connections, "e");
  assertEquals(closed(all), [false, true, false, false]);
  assertEquals(connections.size, 4);
});

Deno.test("An idle connection of a proxy makes room after all others", () => {
  const connections = table({ maxPerNetwork: 4 });
  const all = admitAll(connections, "proxy", "a", "proxy", "b");
  const later: Connection[] = [];
  for (const wanted of [1, 3, 0]) {
    const [one] = admitAll(connections, "c");
    assert(one);
    connections.setBusy(one);
    later.push(one);
    assert(all[wanted]?.isClosed, `${wanted}`);
    assertEquals(connections.size, 4);
  }
  assertEquals(closed([...all, ...later]), [true, true, false, true, false, false, false]);
});

Deno.test("A request that makes progress never makes room", () => {
  const connections = table();
  const all = admitAll(connections, "a", "b", "c", "d");
  for (const one of all) connections.setBusy(one);
  assertEquals(connections.add(new Connection(), "e"), false);
  assertEquals(closed(all), [false, false, false, false]);
});

Deno.test("Where all are busy, the one that has been stalled for longest makes room", () => {
  const connections = table();
  const all = admitAll(connections, "a", "b", "c", "d");
  [30_000, 20_000, 50_000, undefined].forEach((since, index) => {
    const one = all[index];
    assert(one);
    one.stalledSince = since;
    connections.setBusy(one);
  });
  admitAll(connections, "e");
  assertEquals(closed(all), [false, true, false, false]);
});

Deno.test("A network that has too many connections makes room among its own", () => {
  const connections = table();
  const all = admitAll(connections, "a", "b", "b");
  admitAll(connections, "b");
  assertEquals(closed(all), [false, true, false]);
  const [, , second] = all;
  assert(second);
  connections.setBusy(second);
  const [third] = admitAll(connections, "b");
  assert(third);
  connections.setBusy(third);
  assertEquals(connections.add(new Connection(), "b"), false);
  assertEquals(connections.add(new Connection(), "c"), true);
});

Deno.test("A proxy, behind which are many clients, has no limit of its own", () => {
  const connections = table({ maxPerNetwork: 4 });
  const all = admitAll(connections, "proxy", "proxy", "proxy", "proxy");
  assertEquals(closed(all), [false, false, false, false]);
  admitAll(connections, "proxy");
  assertEquals(closed(all), [true, false, false, false]);
});

Deno.test("A connection that ended leaves its place", () => {
  const connections = table();
  const all = admitAll(connections, "a", "a");
  for (const one of all) connections.remove(one);
  for (const one of all) connections.remove(one);
  assertEquals(connections.size, 0);
  admitAll(connections, "a", "a");
});

Deno.test("Few descriptors allow few connections, and those to applications count", () => {
  const connections = table({ max: 1000, maxPerNetwork: 1000 });
  connections.limitDescriptors(RESERVED_DESCRIPTORS + 20);
  const all = admitAll(connections, ...Array.from({ length: 20 }, () => "a"));
  assertEquals(closed(all).filter(Boolean).length, 0);
  connections.addOther();
  assertEquals(closed(all).filter(Boolean).length, 1);
  connections.removeOther();
  admitAll(connections, "b");
  assertEquals(closed(all).filter(Boolean).length, 1);
  admitAll(connections, "b");
  assertEquals(closed(all).filter(Boolean).length, 2);
});
