import { assert, assertEquals } from "@std/assert";
import type { Entry } from "../entry.ts";
import { Listing, type ReadPage } from "./listing.ts";

function entriesOf(text: string): Entry[] {
  return text.split(" ").filter(Boolean).map((name) => ({ kind: "file", name }));
}

/** A server whose pages are answered by hand. */
function server(pages: string[]) {
  const waiting: (() => void)[] = [];
  const asked: (string | undefined)[] = [];
  const read: ReadPage = async (last, signal) => {
    asked.push(last);
    await new Promise<void>((resolve) => waiting.push(resolve));
    signal.throwIfAborted();
    const index = last === undefined ? 0 : Number(last);
    const next = index + 1 < pages.length ? String(index + 1) : undefined;
    return { entries: entriesOf(pages[index]!), last: next };
  };
  const answer = async () => {
    waiting.shift()?.();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { read, answer, asked, pages };
}

function names(listing: Listing): string {
  return listing.entries.value.map(({ name }) => name).join(" ");
}

Deno.test("The first page is shown while the others are read", async () => {
  const { read, answer, asked } = server(["c b", "a", "d"]);
  const listing = new Listing(read);
  const reading = listing.read();
  assertEquals([names(listing), listing.progress.value], ["", "empty"]);
  await answer();
  assertEquals([names(listing), listing.progress.value], ["b c", "partial"]);
  await answer();
  await answer();
  await reading;
  assertEquals([names(listing), listing.progress.value], ["a b c d", "complete"]);
  assertEquals(asked, [undefined, "1", "2"]);
  assertEquals(listing.isReading.value, false);
});

Deno.test("A complete list stays until it is read again completely", async () => {
  const { read, answer, pages } = server(["a b", "c"]);
  const listing = new Listing(read);
  for (const reading = listing.read(); listing.isReading.value;) {
    await answer();
    if (listing.progress.value === "complete") await reading;
  }
  pages.splice(0, 2, "a x", "y");
  const again = listing.read();
  await answer();
  assertEquals(names(listing), "a b c");
  await answer();
  await again;
  assertEquals(names(listing), "a x y");
});

Deno.test("What was removed does not come back with a page that was on its way", async () => {
  const { read, answer } = server(["a b", "c d"]);
  const listing = new Listing(read);
  const reading = listing.read();
  await answer();
  listing.remove(["b", "d"]);
  assertEquals(names(listing), "a");
  await answer();
  await reading;
  assertEquals(names(listing), "a c");
});

Deno.test("A remembered list is replaced by the first page", async () => {
  const { read, answer } = server(["a b"]);
  const listing = new Listing(read);
  listing.seed(entriesOf("gone b"));
  assertEquals([names(listing), listing.progress.value], ["b gone", "empty"]);
  const reading = listing.read();
  await answer();
  await reading;
  assertEquals(names(listing), "a b");
  listing.seed(entriesOf("gone"));
  assertEquals(names(listing), "a b");
});

Deno.test("A failed reading keeps what is shown and says why", async () => {
  let fails = false;
  const listing = new Listing(() => {
    if (fails) throw new Error("gone");
    return Promise.resolve({ entries: entriesOf("a") });
  });
  await listing.read();
  fails = true;
  await listing.read();
  assertEquals(names(listing), "a");
  assert(listing.error.value instanceof Error);
  assertEquals(listing.isReading.value, false);
  fails = false;
  await listing.read();
  assertEquals(listing.error.value, undefined);
});

Deno.test("A renamed entry goes to its new place at once", async () => {
  const { read, answer } = server(["a c d"]);
  const listing = new Listing(read);
  const reading = listing.read();
  await answer();
  await reading;
  listing.rename({ from: "a", to: "cc" });
  assertEquals(names(listing), "c cc d");
  listing.rename({ from: "c", to: "d" });
  assertEquals(names(listing), "cc d");
  listing.rename({ from: "x", to: "y" });
  assertEquals(names(listing), "cc d");
});
