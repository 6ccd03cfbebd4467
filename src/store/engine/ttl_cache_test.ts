import { assertEquals, assertRejects } from "@std/assert";
import { withClock } from "../testing/time.ts";
import { KEY_CACHE_SIZE, KEY_CACHE_TTL, TtlCache } from "./ttl_cache.ts";

/** A store of texts that notes what it is asked. */
class Source {
  readonly texts = new Map<string, string>();
  readonly asked: string[] = [];

  readonly read = async (key: string): Promise<string | undefined> => {
    this.asked.push(key);
    const text = this.texts.get(key);
    await Promise.resolve();
    return text;
  };
}

Deno.test("What was read is believed for its time, and read again when that is over", async () => {
  await withClock(async (forward) => {
    const source = new Source();
    const believed = new TtlCache(source.read);
    source.texts.set("a", "one");
    assertEquals(await believed.get("a"), "one");
    source.texts.set("a", "two");
    forward(KEY_CACHE_TTL - 1);
    assertEquals([await believed.get("a"), source.asked.length], ["one", 1]);
    forward(1);
    assertEquals([await believed.get("a"), source.asked.length], ["two", 2]);
  });
});

Deno.test("A system clock that is set makes the time neither longer nor shorter", async () => {
  for (const jump of [3_600_000, -3_600_000]) {
    await withClock(async (forward, set) => {
      const source = new Source();
      const believed = new TtlCache(source.read);
      source.texts.set("a", "one");
      await believed.get("a");
      source.texts.set("a", "two");
      set(jump);
      forward(KEY_CACHE_TTL - 1);
      assertEquals([await believed.get("a"), believed.peek("a")], ["one", "one"]);
      forward(1);
      assertEquals([believed.peek("a"), await believed.get("a")], [undefined, "two"]);
    });
  }
});

Deno.test("The time counts from the moment on that the store was asked", async () => {
  await withClock(async (forward) => {
    const source = new Source();
    const slow = async (key: string) => {
      const text = await source.read(key);
      forward(KEY_CACHE_TTL);
      return text;
    };
    const believed = new TtlCache(slow);
    source.texts.set("a", "one");
    await believed.get("a");
    await believed.get("a");
    assertEquals(source.asked.length, 2);
  });
});

Deno.test("What is not there is asked for each time, unless that is believed too", async () => {
  for (const absence of [false, true]) {
    const source = new Source();
    const believed = new TtlCache(source.read, { cachesAbsence: absence });
    for (let i = 0; i < 3; i++) assertEquals(await believed.get("a"), undefined);
    assertEquals(source.asked.length, absence ? 1 : 3);
    source.texts.set("a", "there");
    believed.forget("a");
    assertEquals(await believed.get("a"), "there");
  }
});

Deno.test("What may not be kept is given and asked for each time", async () => {
  const source = new Source();
  const believed = new TtlCache(source.read, { isCacheable: (text) => text !== "passing" });
  source.texts.set("a", "passing");
  for (let i = 0; i < 3; i++) assertEquals(await believed.get("a"), "passing");
  source.texts.set("a", "lasting");
  for (let i = 0; i < 3; i++) assertEquals(await believed.get("a"), "lasting");
  assertEquals(source.asked.length, 4);
});

Deno.test("Those who ask at the same time share one read, and its failure", async () => {
  const source = new Source();
  source.texts.set("a", "one");
  const believed = new TtlCache(source.read);
  const all = await Promise.all(Array.from({ length: 9 }, () => believed.get("a")));
  assertEquals([new Set(all), source.asked], [new Set(["one"]), ["a"]]);

  let failing = true;
  const fragile = new TtlCache((key) => failing ? Promise.reject(new Error()) : source.read(key));
  const results = await Promise.allSettled([fragile.get("a"), fragile.get("a")]);
  assertEquals(results.map(({ status }) => status), ["rejected", "rejected"]);
  failing = false;
  assertEquals(await fragile.get("a"), "one");
  await assertRejects(() => new TtlCache(() => Promise.reject(new Error("no"))).get(""), Error);
});

Deno.test("What is forgotten holds at once, also for a read on its way and those who wait for it", async () => {
  for (const forget of ["forget", "clear"] as const) {
    const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    let reads = 0;
    const believed = new TtlCache(() => gates[reads++]?.promise ?? Promise.resolve("later"));
    const early = believed.get("a");
    believed[forget]("a");
    const late = believed.get("a");
    gates[0]?.resolve("revoked");
    gates[1]?.resolve("now");
    assertEquals(await Promise.all([early, late, believed.get("a")]), ["now", "now", "now"]);
    assertEquals(reads, 2);
  }
});

Deno.test("Forgetting one leaves the others, clearing none", async () => {
  const source = new Source();
  const believed = new TtlCache(source.read, { cachesAbsence: true });
  const ask = async () => {
    source.asked.length = 0;
    for (const key of ["a", "b", "absent"]) await believed.get(key);
    return source.asked.join();
  };
  for (const key of ["a", "b"]) source.texts.set(key, key);
  assertEquals([await ask(), await ask()], ["a,b,absent", ""]);
  believed.forget("a");
  believed.forget("absent");
  assertEquals(await ask(), "a,absent");
  believed.clear();
  assertEquals(await ask(), "a,b,absent");
});

Deno.test("It is bounded, the oldest goes first, and what is absent drives out nothing", async () => {
  const source = new Source();
  const believed = new TtlCache(source.read, { cachesAbsence: true });
  for (let i = 0; i < KEY_CACHE_SIZE; i++) source.texts.set(`${i}`, "");
  for (const key of source.texts.keys()) await believed.get(key);
  for (let i = 0; i < KEY_CACHE_SIZE + 10; i++) await believed.get(`absent ${i}`);
  source.texts.set("one more", "");
  await believed.get("one more");
  source.asked.length = 0;
  for (const key of ["1", "one more", `${KEY_CACHE_SIZE - 1}`, "absent 10"]) {
    await believed.get(key);
  }
  assertEquals(source.asked, []);
  for (const key of ["0", "absent 9"]) await believed.get(key);
  assertEquals(source.asked, ["0", "absent 9"]);
});
