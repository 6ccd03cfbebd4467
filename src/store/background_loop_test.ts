import { assertEquals } from "@std/assert";
import { BackgroundLoop } from "./background_loop.ts";

/** Work that waits until it is let go on, and counts its runs. */
class Work {
  runs = 0;
  #began = Promise.withResolvers<void>();
  #end = Promise.withResolvers<void>();

  readonly run = async (): Promise<void> => {
    this.runs++;
    this.#began.resolve();
    await this.#end.promise;
  };

  /** Waits until a run has begun. */
  async begun(): Promise<void> {
    await this.#began.promise;
    this.#began = Promise.withResolvers();
  }

  end(error?: Error): void {
    const { resolve, reject } = this.#end;
    this.#end = Promise.withResolvers();
    if (error === undefined) resolve();
    else reject(error);
  }
}

const HOUR = 3_600_000;

function fail(error: unknown): never {
  throw error;
}

Deno.test("A loop runs at once, again when it is woken, and one run at a time", async () => {
  const work = new Work();
  const loop = new BackgroundLoop(work.run, { interval: HOUR, onError: fail });
  loop.wake();
  loop.start();
  await work.begun();
  work.end();
  loop.wake();
  await work.begun();
  // Once more after this run, however often it is woken.
  for (let i = 0; i < 3; i++) loop.wake();
  assertEquals(work.runs, 2);
  work.end();
  await work.begun();
  assertEquals(work.runs, 3);
  work.end();
  await loop.stop();
  loop.wake();
  assertEquals(work.runs, 3);
});

Deno.test("A loop goes on after a failure, and runs at its interval", async () => {
  const work = new Work();
  const errors: unknown[] = [];
  const loop = new BackgroundLoop(work.run, {
    interval: 1,
    onError: (error) => void errors.push(error),
  });
  loop.start();
  const failure = new Error("once");
  await work.begun();
  work.end(failure);
  await work.begun();
  work.end();
  await work.begun();
  work.end();
  await loop.stop();
  assertEquals(errors, [failure]);
});

Deno.test("A loop that is stopped waits for its run and begins no other", async () => {
  const work = new Work();
  const loop = new BackgroundLoop(work.run, { interval: 0, onError: fail });
  loop.start();
  await work.begun();
  let stopped = false;
  const stopping = loop.stop().then(() => stopped = true);
  await Promise.resolve();
  assertEquals(stopped, false);
  work.end();
  await stopping;
  assertEquals(work.runs, 1);
});
