import { assert, assertEquals } from "@std/assert";
import { commonLimiter, NO_PEERS, type Peers } from "./peers.ts";

Deno.test("A wrong key counts at all processes, and is told to the others once", () => {
  const listeners: ((value: [string, string]) => void)[] = [];
  const told: unknown[] = [];
  const peers: Peers = {
    ...NO_PEERS,
    tell: (...message) => told.push(message),
    onTold: (_topic, listener) => listeners.push(listener as never),
  };
  const limiter = commonLimiter(peers, "wrong_key");
  for (let i = 0; i < 10; i++) {
    assertEquals(limiter.record("192.0.2.1"), undefined);
    listeners[0]?.(["192.0.2.2", ""]);
  }
  assert((limiter.record("192.0.2.3") ?? 0) > 0);
  assertEquals(told, new Array(10).fill(["wrong_key", ["192.0.2.1", ""]]));
});
