import { assert, assertEquals } from "@std/assert";
import { HOUR, MINUTE } from "../../rules/units.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { Store } from "../store.ts";
import { bytes, place } from "../testing/bodies.ts";
import { keyKinds } from "../testing/entries.ts";
import { put, upload } from "../testing/files.ts";
import { testOnAll } from "../testing/stores.ts";
import { Compactor } from "./compactor.ts";
import { BackgroundLoop } from "./background_loop.ts";

function fail(error: unknown): never {
  throw error;
}

/** A compactor that runs until it is stopped. */
class EndlessCompactor extends Compactor {
  readonly begun = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<void>();

  override async run(): Promise<void> {
    this.begun.resolve();
    await this.#stopped.promise;
  }

  override stop(): void {
    this.#stopped.resolve();
  }
}

testOnAll("Neither deletions nor garbage collection wait for compaction", async (bench) => {
  const compactor = new EndlessCompactor(["unused"]);
  const store = new Store(bench.db, { onError: fail, compactor });
  store.sweeper.start();
  await compactor.begun.promise;
  await put(bench, "a", bytes(CHUNK_SIZE + 1));
  const id = await upload(bench, place("b"), [CHUNK_SIZE + 1]);
  await store.uploads.abort(place("b"), id);
  await store.projects.deleteDrive("p", "d");
  const isDone = async () => {
    const { removal = 0, chunk = 0 } = await keyKinds(bench);
    // The chunks of the deleted file stay for readers in other processes.
    return removal === 0 && chunk === 2;
  };
  const end = performance.now() + 20_000;
  while (!await isDone() && performance.now() < end) store.sweeper.wake();
  assert(await isDone());
  await store.sweeper.stop();
});

testOnAll("The store can be closed during a sweep", async (bench) => {
  for (let i = 0; i < 5; i++) await put(bench, `n${i}`, bytes(50 * CHUNK_SIZE));
  for (let i = 0; i < 5; i++) await bench.store.files.delete(place(`n${i}`));
  bench.store.sweeper.start();
  await bench.store.sweeper.stop();
  const { file = 0 } = await keyKinds(bench);
  assertEquals(file, 0);
});

/** Work that waits for `end`, and counts its runs. */
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

Deno.test("A loop runs at once and again when it is woken, one run at a time", async () => {
  const work = new Work();
  const loop = new BackgroundLoop(work.run, { interval: HOUR, onError: fail });
  loop.wake();
  loop.start();
  await work.begun();
  work.end();
  loop.wake();
  await work.begun();
  // However often it is woken during a run, one more run follows.
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

Deno.test("A loop continues after a failure and runs at its interval", async () => {
  const work = new Work();
  const errors: unknown[] = [];
  const loop = new BackgroundLoop(work.run, {
    interval: 1,
    onError: (error) => void errors.push(error),
  });
  // Pauses alone do not keep a program running.
  const alive = setTimeout(() => fail(new Error("The loop stands still")), MINUTE);
  loop.start();
  const failure = new Error("once");
  await work.begun();
  work.end(failure);
  await work.begun();
  work.end();
  await work.begun();
  work.end();
  await loop.stop();
  clearTimeout(alive);
  assertEquals(errors, [failure]);
});

Deno.test("Stopping a loop waits for its run and starts no other", async () => {
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
