import { assertEquals } from "@std/assert";
import { formatDuration, Speedometer } from "./speedometer.ts";

function clocked() {
  let now = 0;
  const meter = new Speedometer(() => now);
  return {
    meter,
    to: (time: number) => void (now = time),
    at(time: number, bytes: number) {
      now = time;
      meter.read(bytes);
    },
  };
}

Deno.test("The speed is an average of the last seconds", () => {
  const { at, meter } = clocked();
  at(0, 0);
  assertEquals(meter.speed, undefined);
  for (let second = 1; second <= 20; second++) at(second * 1000, second * 100);
  assertEquals(meter.speed, 100);
  for (let second = 21; second <= 40; second++) at(second * 1000, 2000 + (second - 20) * 400);
  assertEquals(meter.speed, 400);
});

Deno.test("The speed of a stalled transfer decreases, and a reduced count starts it again", () => {
  const { at, to, meter } = clocked();
  at(0, 0);
  at(1000, 1000);
  to(10_000);
  assertEquals(meter.speed, 100);
  at(10_500, 0);
  assertEquals(meter.speed, undefined);
});

Deno.test("Durations are told in one or two units", () => {
  assertEquals([0.2, 59.1, 95, 3600, 7500].map(formatDuration), [
    "1 s",
    "1 min",
    "2 min",
    "1 h",
    "2 h 5 min",
  ]);
});
