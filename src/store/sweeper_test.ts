import { assertEquals } from "@std/assert";
import { CHUNK, GARBAGE_GRACE, SWEEP_INTERVAL } from "../drive/limits.ts";
import { ChunkWriter } from "./chunk_writer.ts";
import { newVersion } from "./receive.ts";
import {
  assertKeys,
  bytes,
  keyKinds,
  place,
  put,
  read,
  sweepLater,
  testOnAll,
  withClock,
} from "./test_support.ts";

testOnAll(
  "Bytes of a writer that never came back are removed when its claim is over",
  async (bench) => {
    const writer = new ChunkWriter(bench.db, place("a"), newVersion(), 160);
    for (let i = 0; i < 30; i++) await writer.write(bytes(CHUNK));
    (await writer.finish("A".repeat(43) + "=")).end();
    await bench.store.sweeper.sweep();
    assertEquals(await keyKinds(bench), { chunk: 30, pending: 1, lease: 1 });
    await sweepLater(bench);
    await assertKeys(bench, {});
  },
);

testOnAll("Sweeping twice at once is harmless", async (bench) => {
  await put(bench, "a", bytes(20 * CHUNK));
  await put(bench, "a", bytes(30 * CHUNK, 2));
  await put(bench, "b", bytes(20 * CHUNK));
  await bench.store.files.delete(place("b"));
  await Promise.all([sweepLater(bench), sweepLater(bench), sweepLater(bench)]);
  assertEquals(await read(bench, "a"), bytes(30 * CHUNK, 2));
  await assertKeys(bench, { file: 1, chunk: 30, "usage files": 1, "usage bytes": 1 });
});

testOnAll("Replaced bytes stay for a while for readers in other processes", async (bench) => {
  await put(bench, "a", bytes(2 * CHUNK));
  await put(bench, "a", bytes(3 * CHUNK));
  await bench.store.sweeper.sweep();
  const counters = { file: 1, "usage files": 1, "usage bytes": 1 };
  await assertKeys(bench, { ...counters, chunk: 5, garbage: 1 });
  await sweepLater(bench);
  await assertKeys(bench, { ...counters, chunk: 3 });
});

testOnAll(
  "A clock that jumps takes replaced bytes from no reader in another process",
  async (bench) => {
    const swept = { file: 1, "usage files": 1, "usage bytes": 1 };
    const held = { ...swept, chunk: 5, garbage: 1 };
    const { sweeper } = bench.store;
    const sweepFor = async (forward: (ms: number) => void, time: number) => {
      for (let passed = 0; passed < time; passed += SWEEP_INTERVAL) {
        forward(SWEEP_INTERVAL);
        await sweeper.sweep();
      }
    };
    await withClock(async (forward, set) => {
      await sweeper.sweep();
      await put(bench, "a", bytes(2 * CHUNK));
      await put(bench, "a", bytes(3 * CHUNK));
      set(3_600_000);
      await sweepFor(forward, GARBAGE_GRACE - SWEEP_INTERVAL);
      await assertKeys(bench, held);
      await sweepFor(forward, 2 * SWEEP_INTERVAL);
      await assertKeys(bench, { ...swept, chunk: 3 });
      // After that the clock is believed.
      await put(bench, "a", bytes(2 * CHUNK));
      await sweepFor(forward, GARBAGE_GRACE + SWEEP_INTERVAL);
      await assertKeys(bench, { ...swept, chunk: 2 });
      // Set back, it only makes that later.
      await put(bench, "a", bytes(3 * CHUNK));
      set(-3_600_000);
      await sweepFor(forward, GARBAGE_GRACE + SWEEP_INTERVAL);
      await assertKeys(bench, held);
      forward(3_600_000);
      await sweepFor(forward, GARBAGE_GRACE + SWEEP_INTERVAL);
      await assertKeys(bench, { ...swept, chunk: 3 });
    });
  },
);

testOnAll("The store can be closed while it sweeps", async (bench) => {
  for (let i = 0; i < 5; i++) await put(bench, `n${i}`, bytes(50 * CHUNK));
  for (let i = 0; i < 5; i++) await bench.store.files.delete(place(`n${i}`));
  bench.store.sweeper.start();
  await bench.store.sweeper.stop();
  const { file = 0 } = await keyKinds(bench);
  assertEquals(file, 0);
});
