import { assert, assertEquals, assertMatch } from "@std/assert";
import { ProgressBar, type ProgressClock, progressLine, type Screen } from "./progress.ts";
import { textWidth } from "./text.ts";

/** A terminal of one line. */
class FakeScreen implements Screen {
  written: string[] = [];
  kept: string[] = [];
  width = 80;
  resized: (() => void) | undefined;

  write(text: string): void {
    this.written.push(text);
    if (text.endsWith("\n")) this.kept.push(this.shown + text);
  }

  columns(): number {
    return this.width;
  }

  onResize(listener: () => void): () => void {
    this.resized = listener;
    return () => this.resized = undefined;
  }

  /** The content of the line, which only the two sequences of the bar erase. */
  get shown(): string {
    const last = this.written.findLast((text) => text.startsWith("\r")) ?? "";
    return last.replace("\r\x1b[K", "").replace("\r\x1b[J", "").trimEnd();
  }
}

class FakeClock implements ProgressClock {
  time = 0;
  ticks = new Set<{ interval: number; due: number; tick: () => void }>();

  now(): number {
    return this.time;
  }

  every(interval: number, tick: () => void): () => void {
    const timer = { interval, due: this.time + interval, tick };
    this.ticks.add(timer);
    return () => this.ticks.delete(timer);
  }

  pass(milliseconds: number): void {
    for (let i = 0; i < milliseconds; i++) {
      this.time++;
      for (const timer of this.ticks) {
        if (timer.due > this.time) continue;
        timer.due += timer.interval;
        timer.tick();
      }
    }
  }
}

function setUp(): { screen: FakeScreen; clock: FakeClock; bar: ProgressBar } {
  const screen = new FakeScreen();
  const clock = new FakeClock();
  return { screen, clock, bar: new ProgressBar(screen, clock) };
}

Deno.test("The bar shows label, share, amount, rate and time left", () => {
  const { screen, clock, bar } = setUp();
  for (let done = 0; done <= 50; done++) {
    bar.show({ label: "cat.jpg", done: done * 1e6, total: 100e6 });
    clock.pass(100);
  }
  assertMatch(
    screen.shown,
    /^cat\.jpg {2}\[#+-+\] {3}50% {2}50 MB of 100 MB {2}(9\.\d|10) MB\/s {2}0:0[56] left$/,
  );
  bar[Symbol.dispose]();
  assertEquals(screen.shown, "");
});

Deno.test("The bar is drawn at most ten times a second, and shows the last state", () => {
  const { screen, clock, bar } = setUp();
  for (let done = 1; done <= 1000; done++) {
    bar.show({ label: "a", done, total: 1000 });
    clock.pass(1);
  }
  assert(screen.written.length <= 11, String(screen.written.length));
  clock.pass(100);
  assertMatch(screen.shown, /100% {2}1.0 kB of 1.0 kB/);
  bar[Symbol.dispose]();
});

Deno.test("The bar is redrawn when the terminal is resized", () => {
  const { screen, bar } = setUp();
  bar.show({ label: "x".repeat(200), done: 1, total: 2 });
  assertEquals(textWidth(screen.shown), 79);
  screen.width = 30;
  screen.resized?.();
  assertEquals(screen.written.at(-2), "\r\x1b[J");
  assert(textWidth(screen.shown) < 30, screen.shown);
  bar[Symbol.dispose]();
  assertEquals(screen.resized, undefined);
});

Deno.test("A line that is printed above the bar is kept", () => {
  const { screen, bar } = setUp();
  bar.show({ label: "a", done: 1, total: 2 });
  bar.printAbove(() => screen.write("something\n"));
  assertEquals(screen.kept, ["something\n"]);
  assertMatch(screen.shown, /^a /);
  bar[Symbol.dispose]();
});

Deno.test("Nothing is drawn before the first update and after disposal", () => {
  const { screen, clock, bar } = setUp();
  clock.pass(500);
  bar.printAbove(() => {});
  screen.resized?.();
  assertEquals(screen.written, []);
  bar[Symbol.dispose]();
  bar.show({ label: "a", done: 1 });
  clock.pass(500);
  assertEquals([screen.written, clock.ticks.size], [[], 0]);
});

Deno.test("Without a screen only printing has an effect", () => {
  const clock = new FakeClock();
  using bar = new ProgressBar(undefined, clock);
  bar.show({ label: "a", done: 1 });
  let printed = 0;
  bar.printAbove(() => printed++);
  assertEquals([printed, clock.ticks.size], [1, 0]);
});

Deno.test("No line is wider than the terminal", () => {
  const labels = ["", "a", "日本語の長いファイル名".repeat(9), "\x1b[31m\n", "👩‍👩‍👧".repeat(40)];
  const totals = [undefined, 0, 5, 1e15];
  const widths = [...Array(45).keys(), 79, 80, 130];
  for (const label of labels) {
    for (const total of totals) {
      for (const rate of [undefined, 0, 12.5, 1e12]) {
        for (const columns of widths) {
          const progress = { label, done: 5, ...(total !== undefined && { total }) };
          const line = progressLine(progress, rate, columns);
          assert(textWidth(line) <= columns, `${columns}: ${line}`);
          assert(!/\p{Cc}/u.test(line), line);
        }
      }
    }
  }
});
