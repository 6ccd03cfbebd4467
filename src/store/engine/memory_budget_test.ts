import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { MAX_DELETE_NAMES, MAX_FILE_NAME } from "../../rules/names.ts";
import { GIB } from "../../rules/units.ts";
import { MemoryExhausted } from "./errors.ts";
import {
  defaultMemoryBudget,
  MAX_DEFAULT_MEMORY_BUDGET,
  MemoryBudget,
  MemoryPart,
  type MemoryShare,
  MIN_MEMORY_BUDGET,
} from "./memory_budget.ts";

/** Longer than any test. */
const PATIENCE = 60_000;

function partOf(limit: number, maxWait = PATIENCE): MemoryPart {
  return new MemoryPart("downloads", limit, maxWait);
}

/** Returns whether a promise is settled after all pending microtasks. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(() => settled = true, () => settled = true);
  for (let i = 0; i < 10; i++) await Promise.resolve();
  return settled;
}

Deno.test("The parts of a budget add up, and the smallest budget holds the largest JSON body", () => {
  for (const bytes of [MIN_MEMORY_BUDGET, 256 * 2 ** 20, 10 * 2 ** 30]) {
    const budget = new MemoryBudget(bytes);
    const uses = budget.uses();
    assertEquals(uses.map(({ part }) => part), ["uploads", "downloads", "json", "caches"]);
    assertEquals(uses.reduce((sum, use) => sum + use.budget, 0), bytes);
    // A deletion of as many of the longest names as allowed, each written as `\u` escapes of six bytes.
    assert(budget.json.limit >= MAX_DELETE_NAMES * MAX_FILE_NAME * 6);
  }
  assertThrows(() => new MemoryBudget(MIN_MEMORY_BUDGET - 1), RangeError);
});

Deno.test("The default budget is a quarter of the machine's memory, within limits", () => {
  assertEquals(defaultMemoryBudget(GIB / 2), GIB / 8);
  assertEquals(defaultMemoryBudget(GIB), GIB / 4);
  assertEquals(defaultMemoryBudget(GIB / 16), MIN_MEMORY_BUDGET);
  assertEquals(defaultMemoryBudget(64 * GIB), MAX_DEFAULT_MEMORY_BUDGET);
});

Deno.test("One project alone gets half, and the rest is for others", async () => {
  const part = partOf(100);
  using all = await part.reserve("a", 10);
  assertEquals(all.grow(100, 1), 40);
  assertEquals([all.bytes, part.used], [50, 50]);
  assertEquals(await isSettled(part.reserve("a", 1)), false);
  using other = await part.reserve("b", 20);
  assertEquals(other.grow(100, 1), 5);
  // A project that holds nothing gets all that is left.
  using last = await part.reserve("c", 25);
  assertEquals([last.bytes, part.used], [25, 100]);
});

Deno.test("Bytes are taken in whole units and all released", async () => {
  const part = partOf(100);
  const share = await part.reserve("a", 10);
  assertEquals(share.grow(9, 15), 2);
  share.shrink(15);
  assertEquals([share.bytes, part.used], [25, 25]);
  share[Symbol.dispose]();
  assertEquals([share.bytes, part.used, part.available("a")], [0, 0, 100]);
  // A disposed share takes nothing.
  assertEquals(share.grow(1, 1), 0);
  share.shrink(10);
  share[Symbol.dispose]();
  assertEquals(part.used, 0);
});

Deno.test("A request for more than half of a part counts as half", async () => {
  const part = partOf(100);
  using large = await part.reserve("a", 1000);
  using other = await part.reserve("b", 50);
  assertEquals([large.bytes, other.bytes, part.used], [50, 50, 100]);
});

Deno.test("Waiting requests are served project by project, the oldest first", async () => {
  const part = partOf(100);
  const held = [await part.reserve("y", 50), await part.reserve("z", 50)];
  const served: string[] = [];
  const shares: MemoryShare[] = [];
  const ask = async (project: string, name: string) => {
    shares.push(await part.reserve(project, 50));
    served.push(name);
  };
  const asking = [ask("a", "a1"), ask("a", "a2"), ask("a", "a3"), ask("b", "b1"), ask("c", "c1")];
  assertEquals(served, []);
  for (const share of held) share[Symbol.dispose]();
  while (served.length < 5) {
    await isSettled(Promise.resolve());
    shares.shift()?.[Symbol.dispose]();
  }
  await Promise.all(asking);
  assertEquals(served, ["a1", "b1", "c1", "a2", "a3"]);
});

Deno.test("A request that does not fit lets others pass until it fits", async () => {
  const part = partOf(100);
  const slow = await part.reserve("slow", 50);
  using also = await part.reserve("also", 10);
  const large = part.reserve("large", 50);
  assertEquals(await isSettled(large), false);
  using small = await part.reserve("small", 20);
  assertEquals([also.bytes, small.bytes], [10, 20]);
  slow[Symbol.dispose]();
  using granted = await large;
  assertEquals(granted.bytes, 50);
});

Deno.test("A request is refused after its maximum wait and leaves nothing behind", async () => {
  const part = partOf(100, 20);
  const held = await part.reserve("a", 50);
  using also = await part.reserve("c", 50);
  await assertRejects(() => part.reserve("b", 1), MemoryExhausted, "downloads");
  assertEquals([part.refused, part.used], [1, 100]);
  held[Symbol.dispose]();
  also[Symbol.dispose]();
  assertEquals([part.used, part.available("b")], [0, 100]);
});

Deno.test("The number of waiting requests is limited, and one project leaves places for others", async () => {
  const part = partOf(100, 200);
  using _held = await part.reserve("y", 50);
  using _also = await part.reserve("z", 50);
  const outcomes = async (project: string) =>
    await Promise.allSettled(Array.from({ length: 600 }, () => part.reserve(project, 1)));
  const began = performance.now();
  const first = outcomes("a");
  assertEquals(part.refused, 100, "500 wait, and the others are refused at once");
  await outcomes("b");
  assertEquals(part.refused, 100 + 500 + 600);
  await first;
  assert(performance.now() - began >= 190);
});
