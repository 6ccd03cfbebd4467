import { assertEquals, assertRejects } from "@std/assert";
import { SECOND } from "../../rules/units.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { withKv } from "../testing/stores.ts";
import { until } from "../testing/time.ts";
import { Reachability, REMOTE_READS } from "./reachability.ts";
import { remoteReader } from "./remote_connection.ts";

/** Never resolves. */
const silence = () => new Promise<never>(() => {});

Deno.test("A result or a defect in time is passed on unchanged", async () => {
  const reachability = new Reachability(silence);
  assertEquals(await reachability.within(30 * SECOND, () => Promise.resolve(7)), 7);
  for (const ours of [new TypeError("Too many mutations"), new RangeError("over a limit")]) {
    const work = () => Promise.reject(ours);
    assertEquals(await reachability.within(30 * SECOND, work).catch((error) => error), ours);
  }
  assertEquals(reachability.isAway, false);
});

Deno.test("A network error becomes StoreUnavailable with its cause", async () => {
  const reachability = new Reachability(silence);
  const cause = new Error("KV Connect failed to call … (status=401 Unauthorized)");
  const error = await assertRejects(
    () => reachability.within(30 * SECOND, () => Promise.reject(cause)),
    StoreUnavailable,
  );
  assertEquals(error.cause, cause);
});

Deno.test("After a timeout all calls fail until a probe is answered", async () => {
  const answer = Promise.withResolvers<void>();
  let probes = 0;
  const reachability = new Reachability(() => {
    probes++;
    return answer.promise;
  });
  await assertRejects(() => reachability.within(1, silence), StoreUnavailable);
  let asked = 0;
  for (let i = 0; i < 100; i++) {
    const work = () => Promise.resolve(asked++);
    await assertRejects(() => reachability.within(30 * SECOND, work), StoreUnavailable);
  }
  assertEquals([asked, probes, reachability.isAway], [0, 1, true]);
  answer.resolve();
  await until(() => !reachability.isAway);
  assertEquals(await reachability.within(30 * SECOND, () => Promise.resolve(7)), 7);
  reachability[Symbol.dispose]();
});

Deno.test("A failed probe is repeated", async () => {
  let probes = 0;
  const reachability = new Reachability(() =>
    ++probes < 2 ? Promise.reject(new Error("not yet")) : Promise.resolve()
  );
  await assertRejects(() => reachability.within(1, silence), StoreUnavailable);
  await until(() => !reachability.isAway);
  assertEquals(probes, 2);
  reachability[Symbol.dispose]();
});

Deno.test("The number of reads in flight is limited", async () => {
  const reachability = new Reachability(silence);
  let running = 0;
  let most = 0;
  const read = async (): Promise<void> => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
  };
  const reads = Array.from(
    { length: 3 * REMOTE_READS },
    () => reachability.read(30 * SECOND, read),
  );
  await Promise.all(reads);
  assertEquals(most, REMOTE_READS);
});

Deno.test("Every kind of read fails while the store is away and works again afterwards", async () => {
  await withKv(async (kv) => {
    for (let i = 0; i < 5; i++) await kv.set(["n", i], i);
    const back = Promise.withResolvers<void>();
    const reachability = new Reachability(() => back.promise);
    const reader = remoteReader(() => kv, reachability);
    const list = async () => {
      const entries = reader.list<number>({ prefix: ["n"] }, { batchSize: 2 });
      const values = await Array.fromAsync(entries, ({ value }) => value);
      return values;
    };
    const ways = [
      async () => (await reader.get(["n", 1])).value,
      async () => (await reader.getMany([["n", 1], ["n", 2]])).map(({ value }) => value),
      list,
    ];
    const there = await Promise.all(ways.map((read) => read()));
    assertEquals(there, [1, [1, 2], [0, 1, 2, 3, 4]]);
    await assertRejects(() => reachability.within(1, silence), StoreUnavailable);
    for (const read of ways) await assertRejects(read, StoreUnavailable);
    back.resolve();
    await until(() => !reachability.isAway);
    assertEquals(await Promise.all(ways.map((read) => read())), there);
    reachability[Symbol.dispose]();
  });
});
