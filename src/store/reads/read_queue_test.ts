import { assertEquals, assertRejects } from "@std/assert";
import { withKv } from "../testing/stores.ts";
import { MAX_GET_MANY, ReadQueue, READS_IN_FLIGHT } from "./read_queue.ts";

/** Returns the same store, the number of keys of each read, and the maximum of reads in flight. */
function watched(kv: Deno.Kv): { kv: Deno.Kv; reads: number[]; most: () => number } {
  const reads: number[] = [];
  let running = 0;
  let most = 0;
  const getMany = async <T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: Deno.KvKey }],
  ) => {
    reads.push(keys.length);
    most = Math.max(most, ++running);
    try {
      return await kv.getMany<T>(keys);
    } finally {
      running--;
    }
  };
  const proxy = new Proxy(kv, {
    get: (target, name) => name === "getMany" ? getMany : Reflect.get(target, name),
  });
  return { kv: proxy, reads, most: () => most };
}

Deno.test("Concurrent reads are merged, and each gets its own entries", async () => {
  await withKv(async (kv) => {
    for (let i = 0; i < 100; i++) await kv.set(["n", i], i);
    const { kv: counted, reads, most } = watched(kv);
    const queue = new ReadQueue(counted);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => queue.get<[number, number]>([["n", i], ["m", i]])),
    );
    for (const [i, [first, second]] of answers.entries()) {
      assertEquals([first.value, second.value], [i, null]);
    }
    assertEquals(reads, Array.from({ length: 20 }, () => MAX_GET_MANY));
    assertEquals(most(), READS_IN_FLIGHT);
  });
});

Deno.test("A failed read fails for its callers and not for the next one", async () => {
  await withKv(async (kv) => {
    const queue = new ReadQueue(kv);
    const tooLong = ["x".repeat(4000)];
    const together = [queue.get<[unknown]>([tooLong]), queue.get<[unknown]>([["a"]])];
    for (const read of together) await assertRejects(() => read, TypeError);
    const [after] = await queue.get<[unknown]>([["a"]]);
    assertEquals(after.value, null);
  });
});
