import { assertEquals, assertLess } from "@std/assert";
import { LOG_FLUSH_SIZE, LogWriter, MAX_LOG_QUEUE } from "./log.ts";

/** Takes bytes a few at a time, and only while it is not stalled. */
class Target {
  text = "";
  writes = 0;
  fails = false;
  #gate: Promise<void> = Promise.resolve();
  #open = () => {};

  stall(): void {
    this.#gate = new Promise((resolve) => this.#open = resolve);
  }

  go(): void {
    this.#open();
  }

  async write(bytes: Uint8Array): Promise<number> {
    this.writes++;
    await this.#gate;
    if (this.fails) throw new Deno.errors.BrokenPipe("closed");
    const taken = bytes.subarray(0, 50_000);
    this.text += new TextDecoder().decode(taken);
    return taken.length;
  }
}

function writerTo(target: Target): LogWriter {
  return new LogWriter(target, (count) => `${count} lost\n`);
}

Deno.test("Lines are written in batches and in order, none before opening", async () => {
  const target = new Target();
  const writer = writerTo(target);
  const lines = Array.from({ length: 1000 }, (_, i) => `line ${i}\n`);
  for (const line of lines.slice(0, 500)) writer.add(line);
  assertEquals(target.writes, 0);
  writer.open();
  for (const line of lines.slice(500)) writer.add(line);
  await writer.close();
  assertEquals([target.text, target.writes], [lines.join(""), 1]);
});

Deno.test("A large batch is written immediately", async () => {
  const target = new Target();
  const writer = writerTo(target);
  writer.open();
  const line = "x".repeat(1023) + "\n";
  for (let size = 0; size < LOG_FLUSH_SIZE; size += line.length) writer.add(line);
  assertEquals(target.writes, 1);
  await writer.close();
  assertEquals(target.text.length, LOG_FLUSH_SIZE);
});

Deno.test("A stalled reader costs at most the queue, and sees how many lines were dropped", async () => {
  const target = new Target();
  const writer = writerTo(target);
  writer.open();
  target.stall();
  const line = "x".repeat(1023) + "\n";
  const fitting = (MAX_LOG_QUEUE + LOG_FLUSH_SIZE) / line.length;
  for (let i = 0; i < fitting + 10; i++) writer.add(line);
  assertEquals(writer.dropped, 10);
  target.go();
  await writer.close();
  assertEquals(target.text.length, fitting * line.length + "10 lost\n".length);
  assertEquals(target.text.endsWith("10 lost\n"), true);
});

Deno.test("Closing does not wait long for a stalled reader", async () => {
  const target = new Target();
  const writer = writerTo(target);
  writer.open();
  target.stall();
  writer.add("never taken\n");
  const began = performance.now();
  await writer.close();
  assertLess(performance.now() - began, 20_000);
  assertEquals(target.text, "");
  target.go();
});

Deno.test("A reader that is gone only loses its lines", async () => {
  const target = new Target();
  const writer = writerTo(target);
  writer.open();
  target.fails = true;
  writer.add("one\n");
  writer.add("two\n");
  await writer.close();
  assertEquals(writer.dropped, 2);
});

Deno.test("Lines beside those of other processes are written whole, in small pieces", async () => {
  const pieces: string[] = [];
  const target = {
    write(bytes: Uint8Array) {
      pieces.push(new TextDecoder().decode(bytes));
      return Promise.resolve(bytes.byteLength);
    },
  };
  const writer = new LogWriter(target, () => "", 10);
  for (const line of ["1234\n", "6789\n", "123\n", "a line that is too long\n", "5\n"]) {
    writer.add(line);
  }
  writer.open();
  await writer.close();
  assertEquals(pieces, ["1234\n6789\n", "123\n", "a line that is too long\n", "5\n"]);
});
