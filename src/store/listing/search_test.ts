import { assertEquals } from "@std/assert";
import { MAX_SEARCHED } from "../../rules/names.ts";
import type { KvReader, NameRange } from "../reads/read_queue.ts";
import { bytes, DRIVE, place } from "../testing/bodies.ts";
import { put } from "../testing/files.ts";
import { testOnAll, withKv } from "../testing/stores.ts";
import type { ListPage } from "./listing.ts";
import { FileSearch } from "./search.ts";

const QUERY = { ...DRIVE, limit: 1000, prefix: "", last: "" };

/** A reader of a drive with these names, in their order, that counts what it is asked for. */
function readerOf(kv: Deno.Kv, names: readonly string[]): { reader: KvReader; sizes: number[] } {
  const sizes: number[] = [];
  const reader = {
    get: kv.get.bind(kv),
    // Every file has the same record, which does not expire.
    getMany: (keys: Deno.KvKey[]) =>
      Promise.resolve(keys.map((key) => ({ key, value: {}, versionstamp: "1" }))),
    list: kv.list.bind(kv),
    names: ({ start }: NameRange, limit: number) => {
      const from = String(start.at(-1));
      const first = names.findIndex((name) => name >= from);
      const some = first === -1 ? [] : names.slice(first, first + limit);
      sizes.push(some.length);
      return Promise.resolve(some.map((name) => `${name}\0`).join(""));
    },
  };
  return { reader: reader as KvReader, sizes };
}

/** Names with seven digits from 0 on, some with another ending. */
function numbered(count: number, endings: Record<number, string> = {}): string[] {
  return Array.from(
    { length: count },
    (_, i) => String(i).padStart(7, "0") + (endings[i] ?? ""),
  );
}

async function search(
  names: readonly string[],
  contains: string,
  query: Partial<typeof QUERY> = {},
): Promise<Omit<ListPage, "entries"> & { names: string[]; sizes: number[] }> {
  let found: ListPage = { entries: [], more: false };
  let sizes: number[] = [];
  await withKv(async (kv) => {
    const counted = readerOf(kv, names);
    found = await new FileSearch(counted.reader)
      .run({ ...QUERY, ...query }, { contains, details: false });
    sizes = counted.sizes;
  });
  const { entries, ...page } = found;
  return { ...page, names: entries.map(({ name }) => name), sizes };
}

Deno.test("A search looks at 100,000 names and says after which one to continue", async () => {
  const names = numbered(MAX_SEARCHED + 2, { 5: "x", [MAX_SEARCHED - 1]: "X", 100_001: "x" });
  const { sizes, ...first } = await search(names, "x");
  const last = "0099999X";
  assertEquals(first, { names: ["0000005x", last], more: true, last });
  assertEquals(sizes.reduce((sum, size) => sum + size), MAX_SEARCHED + 1);
  const { sizes: _, ...second } = await search(names, "x", { last });
  assertEquals(second, { names: ["0100001x"], more: false });
  const nothing = await search(names, "y", { last: "0000000" });
  assertEquals([nothing.names, nothing.more, nothing.last], [[], true, "0100000"]);
});

Deno.test("There is no further page after the last name", async () => {
  for (const count of [0, 1, 249, 250, 251, 1250, MAX_SEARCHED]) {
    const { names, more } = await search(numbered(count), "x");
    assertEquals([count, names, more], [count, [], false]);
  }
  const names = numbered(250, { 248: "x", 249: "x" });
  const pages: unknown[] = [];
  for (const limit of [1, 2, 3]) {
    const { more, last } = await search(names, "x", { limit });
    pages.push([more, last]);
  }
  assertEquals(pages, [[true, "0000248x"], [false, "0000249x"], [false, undefined]]);
});

Deno.test("Batches of long names are small", async () => {
  const names = numbered(1000).map((name) => name + "é".repeat(500));
  const { sizes } = await search(names, "nothing");
  assertEquals(sizes[0], 250);
  assertEquals(sizes.slice(1, -1).every((size) => size < 270), true, sizes.join());
});

Deno.test("Searches take turns and leave time for other work", async () => {
  await withKv(async (kv) => {
    const { reader } = readerOf(kv, numbered(20_000));
    const searches = new FileSearch(reader);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const all = Array.from(
      { length: 3 },
      () => searches.run(QUERY, { contains: "x", details: false }),
    );
    assertEquals((await Promise.all(all)).map(({ more }) => more), [false, false, false]);
    clearInterval(timer);
    assertEquals(turns > 10, true, `${turns}`);
  });
});

testOnAll("A search of any store finds files with and without their records", async (bench) => {
  for (const name of ["a", "Über", "u\u0308ber", "z"]) await put(bench, name, bytes(3));
  await bench.store.folders.create(place("über/"));
  const found = ["u\u0308ber", "Über"];
  const options = { contains: "ÜBER", details: false };
  assertEquals(await bench.store.search(QUERY, options), {
    entries: found.map((name) => ({ name })),
    more: false,
  });
  const { entries } = await bench.store.search(QUERY, { ...options, details: true });
  assertEquals(entries.map(({ name, record }) => [name, record?.size]), [[found[0], 3], [
    found[1],
    3,
  ]]);
  assertEquals((await bench.store.search({ ...QUERY, prefix: "u" }, options)).entries.length, 1);
  await bench.store.files.delete(place("Über"));
  assertEquals((await bench.store.search(QUERY, options)).entries.length, 1);
});
