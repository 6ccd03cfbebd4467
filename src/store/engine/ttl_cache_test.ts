import { assertEquals, assertRejects } from "@std/assert";
import { withClock } from "../testing/time.ts";
import { KEY_CACHE_SIZE, KEY_CACHE_TTL, TtlCache } from "./ttl_cache.ts";

/** A store of texts that records its lookups. */
class Source {
  readonly texts = new Map<string, string>();
  readonly lookups: string[] = [];

  readonly read = async (key: string): Promise<string | undefined> => {
    this.lookups.push(key);
    const text = this.texts.get(key);
    await Promise.resolve();
    return text;
  };
}

Deno.test("A value is cached for its time to live and then read again", async () => {
  await withClock(async (forward) => {
    const source = new Source();
    const cache = new TtlCache(source.read);
    source.texts.set("a", "one");
    assertEquals(await cache.get("a"), "one");
    source.texts.set("a", "two");
    forward(KEY_CACHE_TTL - 1);
    assertEquals([await cache.get("a"), source.lookups.length], ["one", 1]);
    forward(1);
    assertEquals([await cache.get("a"), source.lookups.length], ["two", 2]);
  });
});

Deno.test("Setting the system clock does not change the life of an entry", async () => {
  for (const jump of [3_600_000, -3_600_000]) {
    await withClock(async (forward, set) => {
      const source = new Source();
      const cache = new TtlCache(source.read);
      source.texts.set("a", "one");
      await cache.get("a");
      source.texts.set("a", "two");
      set(jump);
      forward(KEY_CACHE_TTL - 1);
      assertEquals([await cache.get("a"), cache.peek("a")], ["one", "one"]);
      forward(1);
      assertEquals([cache.peek("a"), await cache.get("a")], [undefined, "two"]);
    });
  }
});

Deno.test("The life of an entry begins with the lookup, not with its result", async () => {
  await withClock(async (forward) => {
    const source = new Source();
    const slow = async (key: string) => {
      const text = await source.read(key);
      forward(KEY_CACHE_TTL);
      return text;
    };
    const cache = new TtlCache(slow);
    source.texts.set("a", "one");
    await cache.get("a");
    await cache.get("a");
    assertEquals(source.lookups.length, 2);
  });
});

Deno.test("Absence is not cached unless that is enabled", async () => {
  for (const absence of [false, true]) {
    const source = new Source();
    const cache = new TtlCache(source.read, { cachesAbsence: absence });
    for (let i = 0; i < 3; i++) assertEquals(await cache.get("a"), undefined);
    assertEquals(source.lookups.length, absence ? 1 : 3);
    source.texts.set("a", "there");
    cache.forget("a");
    assertEquals(await cache.get("a"), "there");
  }
});

Deno.test("A value that is not cacheable is looked up each time", async () => {
  const source = new Source();
  const cache = new TtlCache(source.read, { isCacheable: (text) => text !== "passing" });
  source.texts.set("a", "passing");
  for (let i = 0; i < 3; i++) assertEquals(await cache.get("a"), "passing");
  source.texts.set("a", "lasting");
  for (let i = 0; i < 3; i++) assertEquals(await cache.get("a"), "lasting");
  assertEquals(source.lookups.length, 4);
});

Deno.test("Concurrent lookups of a key share one read and its failure", async () => {
  const source = new Source();
  source.texts.set("a", "one");
  const cache = new TtlCache(source.read);
  const all = await Promise.all(Array.from({ length: 9 }, () => cache.get("a")));
  assertEquals([new Set(all), source.lookups], [new Set(["one"]), ["a"]]);

  let failing = true;
  const fragile = new TtlCache((key) => failing ? Promise.reject(new Error()) : source.read(key));
  const results = await Promise.allSettled([fragile.get("a"), fragile.get("a")]);
  assertEquals(results.map(({ status }) => status), ["rejected", "rejected"]);
  failing = false;
  assertEquals(await fragile.get("a"), "one");
  await assertRejects(() => new TtlCache(() => Promise.reject(new Error("no"))).get(""), Error);
});

Deno.test("An invalidation takes effect at once, also for a read in flight", async () => {
  for (const forget of ["forget", "clear"] as const) {
    const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    let reads = 0;
    const cache = new TtlCache(() => gates[reads++]?.promise ?? Promise.resolve("later"));
    const early = cache.get("a");
    cache[forget]("a");
    const late = cache.get("a");
    gates[0]?.resolve("revoked");
    gates[1]?.resolve("now");
    assertEquals(await Promise.all([early, late, cache.get("a")]), ["now", "now", "now"]);
    assertEquals(reads, 2);
  }
});

Deno.test("Forgetting a key keeps the others, and clearing keeps none", async () => {
  const source = new Source();
  const cache = new TtlCache(source.read, { cachesAbsence: true });
  const lookUp = async () => {
    source.lookups.length = 0;
    for (const key of ["a", "b", "absent"]) await cache.get(key);
    return source.lookups.join();
  };
  for (const key of ["a", "b"]) source.texts.set(key, key);
  assertEquals([await lookUp(), await lookUp()], ["a,b,absent", ""]);
  cache.forget("a");
  cache.forget("absent");
  assertEquals(await lookUp(), "a,absent");
  cache.clear();
  assertEquals(await lookUp(), "a,b,absent");
});

Deno.test("The cache evicts its oldest entry, and absent keys evict no present one", async () => {
  const source = new Source();
  const cache = new TtlCache(source.read, { cachesAbsence: true });
  for (let i = 0; i < KEY_CACHE_SIZE; i++) source.texts.set(`${i}`, "");
  for (const key of source.texts.keys()) await cache.get(key);
  for (let i = 0; i < KEY_CACHE_SIZE + 10; i++) await cache.get(`absent ${i}`);
  source.texts.set("one more", "");
  await cache.get("one more");
  source.lookups.length = 0;
  for (const key of ["1", "one more", `${KEY_CACHE_SIZE - 1}`, "absent 10"]) {
    await cache.get(key);
  }
  assertEquals(source.lookups, []);
  for (const key of ["0", "absent 9"]) await cache.get(key);
  assertEquals(source.lookups, ["0", "absent 9"]);
});
