import { assert, assertEquals } from "@std/assert";
import { compareNames } from "../../rules/names.ts";
import { HOUR } from "../../rules/units.ts";
import { ANYWAY, bytes, DRIVE, inPieces, place } from "../testing/bodies.ts";
import { countReads } from "../testing/entries.ts";
import { put } from "../testing/files.ts";
import { testOnAll, type TestStore } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";
import type { ObjectEntry, ObjectQuery } from "./listing.ts";

const ALL: ObjectQuery = { ...DRIVE, prefix: "", after: "", limit: 1000 };

function textOf(entry: ObjectEntry): string {
  return entry.commonPrefix === undefined ? entry.name : `${entry.commonPrefix}*`;
}

async function list({ store }: TestStore, query: Partial<ObjectQuery> = {}): Promise<string[]> {
  return (await store.listObjects({ ...ALL, ...query })).entries.map(textOf);
}

/** What a page must have, found by looking at all names. */
function expected(
  names: readonly string[],
  query: ObjectQuery,
): { names: string[]; more: boolean } {
  const { prefix, delimiter = "", after, limit } = query;
  const groupOf = (name: string) => {
    const at = delimiter === "" ? -1 : name.indexOf(delimiter, prefix.length);
    return at === -1 ? undefined : name.slice(0, at + delimiter.length);
  };
  const isGroup = after.startsWith(prefix) && groupOf(after) === after;
  const matching = names.filter((name) =>
    name.startsWith(prefix) && compareNames(name, after) > 0 && !(isGroup && name.startsWith(after))
  );
  const shown = new Set(matching.map((name) => {
    const group = groupOf(name);
    return group === undefined ? name : `${group}*`;
  }));
  return { names: [...shown].slice(0, limit), more: shown.size > limit };
}

/** Names in the order of their bytes. Those with a slash at the end are folders. */
const NAMES = [
  ...["a", "a/", "a/b", "a/b/", "a/b/c", "a//", "a-", "ab", "b/1", "b/2", "b/3/4", "c/", "c/d/"],
  ...["\u{ffff}/x", "\u{1f600}", "\u{1f600}/", "\u{1f600}/y", "über/1", "über", "d||e", "d||f/"],
  ...Array.from({ length: 40 }, (_, i) => `many/${i}/x`),
].sort(compareNames);

async function fill(bench: TestStore): Promise<void> {
  for (const name of NAMES) {
    if (name.endsWith("/")) await bench.store.folders.create(place(name));
    else await put(bench, name, bytes(1));
  }
}

testOnAll(
  "Files and folders are listed in the order of their bytes, with common prefixes",
  async (bench) => {
    await fill(bench);
    assertEquals(await list(bench), NAMES);
    const top = [
      "a",
      "a-",
      "a/*",
      "ab",
      "b/*",
      "c/*",
      "d||e",
      "d||f/*",
      "many/*",
      "über",
      "über/*",
    ];
    const rest = ["\u{ffff}/*", "\u{1f600}", "\u{1f600}/*"];
    assertEquals(await list(bench, { delimiter: "/" }), [...top, ...rest].sort(compareNames));
    assertEquals(await list(bench, { delimiter: "/", prefix: "a/" }), [
      "a/",
      "a//*",
      "a/b",
      "a/b/*",
    ]);
    assertEquals(await list(bench, { delimiter: "||", prefix: "d" }), ["d||*"]);
    const { entries } = await bench.store.listObjects({ ...ALL, prefix: "a", limit: 3 });
    const values = entries.map(({ record, folder }) => record?.size ?? typeof folder?.created);
    assertEquals(values, [1, 1, "number"]);
  },
);

testOnAll(
  "Pages of any size, prefix and delimiter are those of a list of all names",
  async (bench) => {
    await fill(bench);
    for (const delimiter of [undefined, "/", "||", "/x", "b", "\u{1f600}"]) {
      for (
        const prefix of ["", "a", "a/", "many/", "many/1", "d", "zz", "\u{1f600}", "\u{10ffff}"]
      ) {
        for (const limit of [1, 2, 7, 1000]) {
          let after = "";
          for (let more = true; more;) {
            const query = { ...ALL, delimiter, prefix, limit, after };
            const page = await bench.store.listObjects(query);
            const found = { names: page.entries.map(textOf), more: page.more };
            assertEquals(found, expected(NAMES, query), JSON.stringify(query));
            const last = page.entries.at(-1);
            after = last?.commonPrefix ?? last?.name ?? after;
            more = page.more;
          }
        }
      }
      for (
        const after of [...NAMES, "a/b/b", "many", "many/", "zz", "\0", "a\0b", "x".repeat(5000)]
      ) {
        const query = { ...ALL, delimiter, after };
        assertEquals(await list(bench, query), expected(NAMES, query).names, JSON.stringify(query));
      }
    }
  },
);

testOnAll("A common prefix costs the same however many names it has", async (bench) => {
  const names = Array.from({ length: 2000 }, (_, i) => `big/${i}`);
  for (let i = 0; i < names.length; i += 200) {
    await Promise.all(names.slice(i, i + 200).map((name) => put(bench, name, bytes(1))));
  }
  for (const name of ["a", "z"]) await put(bench, name, bytes(1));
  const cost = await countReads(bench, async () => {
    assertEquals(await list(bench, { delimiter: "/" }), ["a", "big/*", "z"]);
  });
  assert(cost <= 8, `${cost} reads`);
  const all = await countReads(bench, async () => {
    assertEquals((await list(bench)).length, 1000);
  });
  assert(all <= 4, `${all} reads`);
});

testOnAll("Expired files are not listed", async (bench) => {
  await withClock(async (forward) => {
    for (const name of ["a", "b/1", "b/2", "c"]) {
      await bench.store.files.put(place(name), inPieces(bytes(1)), { ...ANYWAY, lifetime: HOUR });
    }
    await put(bench, "c/1", bytes(1));
    forward(HOUR);
    assertEquals(await list(bench, { delimiter: "/" }), ["c/*"]);
    assertEquals(await list(bench, { limit: 1 }), ["c/1"]);
    assertEquals((await bench.store.listObjects({ ...ALL, limit: 1 })).more, false);
  });
});
