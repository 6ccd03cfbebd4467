import { assertEquals } from "@std/assert";
import { RateLimiter } from "./concurrency.ts";

/** A clock on which a pause takes no time. */
function virtualClock() {
  const clock = {
    time: 5000,
    now: () => clock.time,
    pause: (milliseconds: number) => {
      clock.time += milliseconds;
      return Promise.resolve();
    },
  };
  return clock;
}

Deno.test("Bytes take the time that their rate permits, and idle time is not saved up", async () => {
  const clock = virtualClock();
  const limiter = new RateLimiter(1000, clock);
  await limiter.take(500);
  await limiter.take(1500);
  assertEquals(clock.time, 7000);
  clock.time += 60_000;
  await limiter.take(1000);
  assertEquals(clock.time, 68_000);
});

Deno.test("Users at the same time share the rate", async () => {
  let waited = 0;
  const pause = (milliseconds: number) => {
    waited = Math.max(waited, milliseconds);
    return Promise.resolve();
  };
  const limiter = new RateLimiter(1000, { now: () => 0, pause });
  await Promise.all([1, 2, 3].map(() => limiter.take(1000)));
  assertEquals(waited, 3000);
});

Deno.test("Paced bytes arrive in small pieces, complete and in order", async () => {
  const clock = virtualClock();
  const bytes = Uint8Array.from({ length: 100_001 }, (_, i) => i % 251);
  const pieces: number[] = [];
  const received: number[] = [];
  for await (const piece of new RateLimiter(80_000, clock).pace(bytes)) {
    pieces.push(piece.byteLength);
    received.push(...piece);
  }
  assertEquals(Math.max(...pieces), 10_000);
  assertEquals(received, [...bytes]);
  assertEquals(Math.round(clock.time), 5000 + 1250);
});
