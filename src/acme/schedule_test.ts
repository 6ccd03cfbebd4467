import { assert, assertEquals } from "@std/assert";
import { DAY, HOUR, MINUTE, SECOND } from "../rules/units.ts";
import { clockPause, renewalTime, retryDelay, suggestedTime, windowInterval } from "./schedule.ts";

const NOW = Date.parse("2026-11-22T00:00:00Z");

function validFor(lifetime: number): { notBefore: number; notAfter: number } {
  return { notBefore: NOW, notAfter: NOW + lifetime };
}

Deno.test("A certificate is renewed after two thirds of any lifetime", () => {
  for (
    const [lifetime, age] of [[90 * DAY, 60 * DAY], [6 * DAY, 4 * DAY], [
      MINUTE,
      40 * SECOND,
    ]] as const
  ) {
    assertEquals(renewalTime(validFor(lifetime)) - NOW, age);
  }
});

Deno.test("The first retry follows within 5 s, and delays double up to an hour", () => {
  for (const random of [0, 0.5, 1]) {
    const delays = Array.from({ length: 20 }, (_, index) => retryDelay(index + 1, random));
    assert((delays[0] ?? 0) <= 5 * SECOND && (delays[0] ?? 0) > SECOND);
    for (const [index, delay] of delays.entries()) {
      const before = delays[index - 1];
      assert(delay <= HOUR);
      assert(before === undefined || delay === HOUR || delay === 2 * before);
    }
    assertEquals(delays.at(-1), HOUR);
  }
  assertEquals(retryDelay(5000), HOUR);
});

Deno.test("A suggestion makes a renewal earlier, but neither later nor immediate", () => {
  const month = validFor(30 * DAY);
  assertEquals(suggestedTime(month, NOW + 5 * DAY), NOW + 5 * DAY);
  assertEquals(suggestedTime(month, NOW + 25 * DAY), NOW + 20 * DAY);
  assertEquals(suggestedTime(month, Infinity), NOW + 20 * DAY);
  assertEquals(suggestedTime(month, NOW - YEAR), NOW + 0.3 * DAY);
});

const YEAR = 365 * DAY;

Deno.test("The authority is asked for the time of renewal as often as it wants, within bounds", () => {
  const month = validFor(30 * DAY);
  assertEquals(windowInterval(month), 6 * HOUR);
  assertEquals(windowInterval(month, HOUR), HOUR);
  assertEquals(windowInterval(month, 0), MINUTE);
  assertEquals(windowInterval(month, YEAR), DAY);
  assertEquals(windowInterval(validFor(MINUTE), SECOND), 6 * SECOND);
});

Deno.test("With a wrong clock, the pause is a third of the lifetime and a day at most", () => {
  assertEquals(clockPause(validFor(MINUTE)), 20 * SECOND);
  assertEquals(clockPause(validFor(90 * DAY)), DAY);
});
