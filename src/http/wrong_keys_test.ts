import { assertEquals } from "@std/assert";
import { MAX_WRONG_KEYS, WRONG_KEY_WINDOW } from "../drive/limits.ts";
import { WrongKeys } from "./wrong_keys.ts";

const NOW = 1_700_000_000_000;

function noteAll(keys: WrongKeys, address: string, times = MAX_WRONG_KEYS, now = NOW): void {
  for (let i = 0; i < times; i++) keys.note(address, now);
}

Deno.test("The first twenty wrong keys of an address are no reason to wait, the next ones are", () => {
  const keys = new WrongKeys();
  assertEquals(keys.refused("10.0.0.1", NOW), undefined);
  noteAll(keys, "10.0.0.1", MAX_WRONG_KEYS - 1);
  assertEquals(keys.refused("10.0.0.1", NOW), undefined);
  keys.note("10.0.0.1", NOW);
  assertEquals(keys.refused("10.0.0.1", NOW), WRONG_KEY_WINDOW / 1000);
});

Deno.test("The wait ends when the oldest of the last twenty is over a minute ago", () => {
  const keys = new WrongKeys();
  keys.note("10.0.0.1", NOW);
  noteAll(keys, "10.0.0.1", MAX_WRONG_KEYS - 1, NOW + 30_000);
  assertEquals(keys.refused("10.0.0.1", NOW + 30_000), 30);
  assertEquals(keys.refused("10.0.0.1", NOW + WRONG_KEY_WINDOW - 1), 1);
  assertEquals(keys.refused("10.0.0.1", NOW + WRONG_KEY_WINDOW), undefined);
  keys.note("10.0.0.1", NOW + WRONG_KEY_WINDOW);
  assertEquals(keys.refused("10.0.0.1", NOW + WRONG_KEY_WINDOW), 30);
});

Deno.test("Another address does not wait, except in the same IPv6 network", () => {
  const keys = new WrongKeys();
  noteAll(keys, "10.0.0.1");
  noteAll(keys, "2001:db8:0:7::1");
  const waits = (address: string) => keys.refused(address, NOW) !== undefined;
  assertEquals(["10.0.0.1", "::ffff:10.0.0.1", "::ffff:a00:1"].map(waits), [true, true, true]);
  assertEquals(["10.0.0.2", "::ffff:10.0.0.2", "unix"].map(waits), [false, false, false]);
  assertEquals(["2001:db8:0:7::1", "2001:DB8:0:7:ffff::9"].map(waits), [true, true]);
  assertEquals(["2001:db8:0:8::1", "2001:db8::7"].map(waits), [false, false]);
});

Deno.test("Only so many addresses are remembered: the one noted longest ago makes room", () => {
  const keys = new WrongKeys(2);
  noteAll(keys, "10.0.0.1");
  noteAll(keys, "10.0.0.2");
  keys.note("10.0.0.1", NOW);
  keys.note("10.0.0.3", NOW);
  assertEquals(keys.refused("10.0.0.1", NOW), 60);
  assertEquals(keys.refused("10.0.0.2", NOW), undefined);
});
