import { assertEquals } from "@std/assert";
import { Listing } from "./listing.js";
import type { Entry } from "./order.js";

const ALL: Entry[] = [
  { name: "a/" },
  { name: "b.txt", size: 3, etag: "1", content_type: "text/plain", modified: "2021-01-02" },
  { name: "c.png", size: 1, etag: "2", content_type: "image/png", modified: "2021-01-03" },
  { name: "d/" },
  { name: "e.txt", size: 2, etag: "3", content_type: "text/plain", modified: "2021-01-01" },
];

interface Pages {
  listing: Listing;
  requested: string[];
  closing: AbortController;
  problems: Error[];
}

/** A list of pages with two entries each. */
function pages(entries = ALL): Pages {
  const requested: string[] = [];
  const problems: Error[] = [];
  const closing = new AbortController();
  const listing = new Listing(async (last) => {
    requested.push(last);
    await Promise.resolve();
    const problem = problems.shift();
    if (problem !== undefined) throw problem;
    const start = entries.findIndex(({ name }) => name === last) + 1;
    const page = entries.slice(start, start + 2);
    const end = page.at(-1)?.name;
    return start + 2 >= entries.length || end === undefined
      ? { entries: page }
      : { entries: page, last: end };
  }, { onChange: () => {}, signal: closing.signal });
  return { listing, requested, closing, problems };
}

function names({ rows }: Listing): string {
  return rows.map(({ name }) => name).join(" ");
}

Deno.test("Pages are loaded one after the other, each once", async () => {
  const { listing, requested } = pages();
  await Promise.all([listing.loadMore(), listing.loadMore()]);
  assertEquals([names(listing), listing.isComplete], ["a/ b.txt", false]);
  for (let times = 0; times < 5; times++) await listing.loadMore();
  assertEquals([names(listing), listing.isComplete], ["a/ b.txt c.png d/ e.txt", true]);
  assertEquals(requested, ["", "b.txt", "d/"]);
});

Deno.test("Another order loads the rest first and keeps folders above", async () => {
  const { listing } = pages();
  await listing.loadMore();
  await listing.sortBy({ column: "size", descending: false });
  assertEquals(names(listing), "a/ d/ c.png e.txt b.txt");
  await listing.sortBy({ column: "modified", descending: true });
  assertEquals(names(listing), "a/ d/ c.png b.txt e.txt");
  await listing.sortBy({ column: "type", descending: true });
  assertEquals(names(listing), "a/ d/ b.txt e.txt c.png");
  await listing.sortBy({ column: "name", descending: true });
  assertEquals(names(listing), "e.txt d/ c.png b.txt a/");
  await listing.sortBy({ column: "name", descending: false });
  assertEquals(names(listing), "a/ b.txt c.png d/ e.txt");
});

Deno.test("Canceled sorting keeps the loaded entries", async () => {
  const { listing } = pages();
  await listing.loadMore();
  const sorting = listing.sortBy({ column: "size", descending: false });
  listing.cancelSort();
  await sorting;
  assertEquals([listing.pendingOrder, listing.order.column], [undefined, "name"]);
  assertEquals(listing.loaded < ALL.length, true);
});

Deno.test("A failed page is reported, ends sorting, and loads on the next request", async () => {
  const { listing, problems } = pages();
  problems.push(new Error("No line"));
  await listing.sortBy({ column: "size", descending: false });
  assertEquals([listing.problem, listing.pendingOrder, listing.loaded], ["No line", undefined, 0]);
  await listing.loadMore();
  assertEquals([listing.problem, listing.loaded], ["", 2]);
});

Deno.test("New entries are inserted if their position is loaded", async () => {
  const { listing } = pages();
  await listing.loadMore();
  listing.put([{ name: "aa.txt", etag: "x" }, { name: "zz.txt", etag: "y" }]);
  assertEquals(names(listing), "a/ aa.txt b.txt");
  listing.put([{ name: "b.txt", etag: "new" }]);
  assertEquals(listing.rows.map(({ etag }) => etag), [undefined, "x", "new"]);
  while (!listing.isComplete) await listing.loadMore();
  listing.put([{ name: "zz.txt", etag: "y" }]);
  assertEquals(names(listing), "a/ aa.txt b.txt c.png d/ e.txt zz.txt");
});

Deno.test("Deleted entries are removed in every order", async () => {
  const { listing } = pages();
  await listing.sortBy({ column: "size", descending: true });
  listing.remove(new Set(["a/", "e.txt"]));
  assertEquals(names(listing), "d/ b.txt c.png");
});

Deno.test("A closed view loads nothing more", async () => {
  const { listing, closing, requested } = pages();
  closing.abort();
  await listing.loadMore();
  await listing.sortBy({ column: "size", descending: false });
  assertEquals(requested, []);
});
