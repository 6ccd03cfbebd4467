import { assert, assertEquals } from "@std/assert";
import {
  MAX_WRONG_KEYS,
  WRONG_KEY_DECAY,
  WRONG_KEY_FIRST_WAIT,
  WRONG_KEY_MAX_WAIT,
  WrongKeyLimiter,
} from "./wrong_keys.ts";

const FIRST_WAIT = WRONG_KEY_FIRST_WAIT / 1000;

/** Sends all wrong keys that a network may send without a wait. */
function useUp(keys: WrongKeyLimiter, address: string, now = 0): void {
  for (let i = 0; i < MAX_WRONG_KEYS; i++) assertEquals(keys.record(address, now), undefined);
}

/** The number of wrong keys that are accepted if one is sent every second. */
function answered(keys: WrongKeyLimiter, address: string, seconds: number, from = 0): number {
  let count = 0;
  for (let second = 0; second < seconds; second++) {
    if (keys.record(address, from + second * 1000) === undefined) count++;
  }
  return count;
}

Deno.test("after twenty wrong keys of a network each further one doubles the wait, up to five minutes", () => {
  const keys = new WrongKeyLimiter();
  useUp(keys, "192.0.2.1");
  const waits: number[] = [];
  for (let now = 0; waits.length < 12;) {
    const wait = keys.record("192.0.2.1", now) ?? 0;
    waits.push(wait);
    now += wait * 1000;
    assertEquals(keys.record("192.0.2.1", now - 1), 1);
    assertEquals(keys.record("192.0.2.1", now), undefined);
  }
  assertEquals(waits[0], FIRST_WAIT);
  assertEquals(waits, waits.toSorted((a, b) => a - b));
  assertEquals(waits.at(-1), WRONG_KEY_MAX_WAIT / 1000);
});

Deno.test("wrong keys during a wait do not extend it", () => {
  const keys = new WrongKeyLimiter();
  useUp(keys, "192.0.2.1");
  for (let i = 0; i < 1000; i++) assertEquals(keys.record("192.0.2.1", 1), FIRST_WAIT);
  assertEquals(keys.record("192.0.2.1", WRONG_KEY_FIRST_WAIT), undefined);
});

Deno.test("wrong keys are forgotten over time", () => {
  const keys = new WrongKeyLimiter();
  useUp(keys, "192.0.2.1");
  useUp(keys, "192.0.2.1", MAX_WRONG_KEYS * WRONG_KEY_DECAY);
  assertEquals(keys.record("192.0.2.1", MAX_WRONG_KEYS * WRONG_KEY_DECAY), FIRST_WAIT);
});

Deno.test("a network that guesses all day gets 20 answers, then one every five minutes", () => {
  const keys = new WrongKeyLimiter();
  const day = 24 * 3600;
  const count = answered(keys, "192.0.2.1", day);
  assert(count <= MAX_WRONG_KEYS + 5 + day * 1000 / WRONG_KEY_MAX_WAIT, `${count}`);
});

Deno.test("addresses of one IPv4 /24 or one IPv6 /64 count together", () => {
  const keys = new WrongKeyLimiter();
  for (let i = 0; i < MAX_WRONG_KEYS; i++) {
    assertEquals(keys.record(`10.0.0.${i}`, 0), undefined);
    assertEquals(keys.record(`2001:db8:0:7:${i}::1`, 0), undefined);
  }
  const waits = (address: string) => keys.record(address, 0) !== undefined;
  for (const address of ["10.0.0.255", "::ffff:10.0.0.99", "::ffff:a00:1"]) assert(waits(address));
  for (const address of ["2001:db8:0:7::1", "2001:DB8:0:7:ffff::9"]) assert(waits(address));
  for (const address of ["10.0.1.0", "2001:db8:0:8::1", "2001:db8::7", "unix"]) {
    assertEquals(waits(address), false, address);
  }
});

Deno.test("a wide network does not get the sum of the allowances of its networks", () => {
  const cases: [string, (i: number) => string, number][] = [
    ["/16", (i) => `10.1.${i % 256}.1`, 16 * MAX_WRONG_KEYS],
    ["/48", (i) => `2001:db8:1:${(i % 65536).toString(16)}::1`, 16 * MAX_WRONG_KEYS],
    ["/32", (i) => `2001:db8:${(i % 65536).toString(16)}::1`, 256 * MAX_WRONG_KEYS],
  ];
  for (const [width, address, allowance] of cases) {
    const keys = new WrongKeyLimiter();
    let count = 0;
    for (let i = 0; i < 3 * allowance; i++) if (keys.record(address(i), 0) === undefined) count++;
    assertEquals(count, allowance, width);
  }
});

Deno.test("networks with a few wrong keys do not displace one that has to wait", () => {
  const keys = new WrongKeyLimiter({ size: 16 });
  useUp(keys, "192.0.2.1");
  for (let i = 0; i < 1000; i++) keys.record(`${10 + i % 100}.${i >> 2}.0.1`, 0);
  assertEquals(keys.record("192.0.2.1", 0), FIRST_WAIT);
});

Deno.test("the number of remembered networks that have to wait is limited", () => {
  const keys = new WrongKeyLimiter({ size: 2 });
  for (const address of ["10.0.0.1", "10.0.1.1", "10.0.2.1"]) useUp(keys, address);
  const waits = ["10.0.1.1", "10.0.2.1", "10.0.0.1"].map((address) => keys.record(address, 0));
  assertEquals(waits, [FIRST_WAIT, FIRST_WAIT, undefined]);
});

Deno.test("the networks that have to wait are counted until their wait is over", () => {
  const keys = new WrongKeyLimiter();
  keys.record("192.0.2.1", 0);
  assertEquals(keys.countWaiting(0), 0);
  for (const address of ["198.51.100.1", "2001:db8::1"]) useUp(keys, address);
  assertEquals(keys.record("198.51.100.2", 0), FIRST_WAIT);
  assertEquals(keys.countWaiting(0), 2);
  assertEquals(keys.countWaiting(WRONG_KEY_FIRST_WAIT), 0);
});

Deno.test("wrong passwords of one subject delay no other, from any network around", () => {
  const passwords = new WrongKeyLimiter();
  for (let i = 0; i < MAX_WRONG_KEYS; i++) passwords.record("192.0.2.1", 0, "one");
  assertEquals(passwords.waitOf("192.0.2.9", 0, "one"), FIRST_WAIT);
  assertEquals(passwords.waitOf("192.0.2.9", 0, "other"), undefined);
  assertEquals(passwords.waitOf("192.0.3.1", 0, "one"), undefined);
  assertEquals(passwords.waitOf("192.0.2.1", 0), undefined);
});
