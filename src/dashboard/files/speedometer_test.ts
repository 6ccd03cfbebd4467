import { assertEquals } from "@std/assert";
import { Speedometer } from "./speedometer.js";

function clocked(): {
  at(time: number, bytes: number): void;
  meter: Speedometer;
  to(t: number): void;
} {
  let now = 0;
  const meter = new Speedometer(() => now);
  return {
    meter,
    to: (time) => now = time,
    at(time, bytes) {
      now = time;
      meter.read(bytes);
    },
  };
}

Deno.test("The speed is an average of the last seconds and gives the remaining time", () => {
  const { at, meter } = clocked();
  at(0, 0);
  assertEquals([meter.speed, meter.remaining(10)], [undefined, undefined]);
  for (let second = 1; second <= 20; second++) at(second * 1000, second * 100);
  assertEquals([meter.speed, meter.remaining(1000)], [100, 10_000]);
  for (let second = 21; second <= 40; second++) at(second * 1000, 2000 + (second - 20) * 400);
  assertEquals(meter.speed, 400);
});

Deno.test("The speed of a stalled transfer decreases, and a reduced count restarts it", () => {
  const { at, to, meter } = clocked();
  at(0, 0);
  at(1000, 1000);
  to(10_000);
  assertEquals(meter.speed, 100);
  at(10_500, 0);
  assertEquals(meter.speed, undefined);
});
