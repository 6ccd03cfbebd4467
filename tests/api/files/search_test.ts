import { assertEquals, assertMatch } from "@std/assert";
import { type Drive, type Listing, query } from "../../support/drive.ts";
import { AWKWARD_NAMES, byUtf8Bytes } from "../../support/names.ts";
import { suite } from "../../support/suite.ts";

const test = suite("GET /files?contains= searches names");

const NAMES = [
  "2025/Invoice.pdf",
  "2026/invoice 1.pdf",
  "2026/photo.jpg",
  "INVOICE",
  "a.txt",
  "deep/er/my-invoices/x",
  "inv oice",
];

test("A search returns the names that contain the text, whatever their case.", async (drive) => {
  await drive.putAll(NAMES);
  const found = ["2025/Invoice.pdf", "2026/invoice 1.pdf", "INVOICE", "deep/er/my-invoices/x"];
  for (const contains of ["invoice", "INVOICE", "inVOice"]) {
    assertEquals(await drive.list({ contains }), { names: found });
  }
  assertEquals(await drive.list({ contains: "nothing" }), { names: [] });
  assertEquals(await drive.list({ contains: " " }), { names: ["2026/invoice 1.pdf", "inv oice"] });
  assertEquals(await drive.list({ contains: "/" }), {
    names: NAMES.filter((name) => name.includes("/")),
  });
});

/** A name, texts that it contains, and texts that it does not contain. */
const FOLDED: { name: string; has: string[]; lacks: string[] }[] = [
  { name: "Straße.txt", has: ["STRASSE", "straße", "STRAẞE", "ss"], lacks: ["strase"] },
  { name: "GROSS", has: ["groß", "ß"], lacks: ["gros s"] },
  { name: "ΟΔΥΣΣΕΥΣ", has: ["οδυσσευς", "οδυσσευσ", "ς"], lacks: ["οδυσευς"] },
  { name: "cafe\u0301", has: ["café", "CAFÉ", "CAFE\u0301", "É"], lacks: ["cafe"] },
  { name: "CAFÉ", has: ["cafe\u0301", "é"], lacks: ["e"] },
  { name: "İstanbul", has: ["i̇stanbul", "STANBUL", "İ"], lacks: ["istanbul", "ı"] },
  { name: "ısı", has: ["ı", "S"], lacks: ["i", "I"] },
  { name: "oﬃce", has: ["OFFICE", "ffi", "ﬁ"], lacks: ["oface"] },
  { name: "ꮳꮃꭹ", has: ["ᏣᎳᎩ", "ꮳ"], lacks: ["Ꭰ"] },
  { name: "\u212a\u212b", has: ["kå", "KÅ"], lacks: ["ka"] },
  { name: "ΐ", has: ["Ϊ\u0301", "Ι\u0308\u0301"], lacks: ["ϊ"] },
  { name: "𐐀🦖", has: ["𐐨", "🦖"], lacks: ["🦕"] },
];

for (const { name, has, lacks } of FOLDED) {
  test(`"${name}" contains ${has.join(", ")} and not ${lacks.join(", ")}.`, async (drive) => {
    await drive.putAll([name, "0"]);
    for (const contains of has) {
      assertEquals([contains, await drive.list({ contains })], [contains, { names: [name] }]);
    }
    for (const contains of lacks) {
      assertEquals([contains, await drive.names({ contains })], [contains, []]);
    }
  });
}

test("Every name is found by itself, and by its capitals.", async (drive) => {
  const names = AWKWARD_NAMES.map(({ name }) => name).toSorted(byUtf8Bytes);
  await drive.putAll(names);
  for (const name of names) {
    assertEquals((await drive.names({ contains: name })).includes(name), true, name);
  }
});

test("A search combines with prefix, last, limit, recursive=true and details.", async (drive) => {
  await drive.putAll(NAMES);
  const contains = "invoice";
  assertEquals(await drive.list({ contains, prefix: "2026/" }), { names: ["2026/invoice 1.pdf"] });
  assertEquals(await drive.list({ contains, prefix: "in" }), { names: [] });
  assertEquals(await drive.list({ contains, last: "2026/invoice 1.pdf" }), {
    names: ["INVOICE", "deep/er/my-invoices/x"],
  });
  const first = { names: ["2025/Invoice.pdf"], paging: { size: 1, last: "2025/Invoice.pdf" } };
  assertEquals(await drive.list({ contains, limit: 1 }), first);
  assertEquals((await drive.list({ contains, recursive: "true" })).names.length, 4);
  const { names, files } = await drive.list({ contains, details: "true", limit: 2 });
  const all = (await drive.details()).filter(({ name }) => names.includes(name));
  assertEquals([names.length, files], [2, all]);
});

test("Pages end with paging as long as names remain to be looked at.", async (drive) => {
  await drive.putAll(["a1", "a2", "b", "c3", "d"]);
  for (const limit of [1, 2, 3, 4]) {
    assertEquals(await walk(drive, { contains: "A", limit }), ["a1", "a2"]);
    assertEquals(await walk(drive, { contains: "d", limit }), ["d"]);
  }
  // Names remain behind the second one, although none of them is found.
  const page = { names: ["a1", "a2"], paging: { size: 2, last: "a2" } };
  assertEquals(await drive.list({ contains: "a", limit: 2 }), page);
  assertEquals(await drive.list({ contains: "a", limit: 2, last: "a2" }), { names: [] });
  assertEquals(await drive.list({ contains: "d", limit: 1 }), { names: ["d"] });
});

test("A search of many names returns pages of at most 1000.", async (drive) => {
  await drive.fill(Array.from({ length: 1_300 }, (_, i) => `File ${i % 7}/${i}`));
  const page = await drive.list({ contains: "file" });
  assertEquals([page.names.length, page.paging?.size], [1_000, 1_000]);
  assertEquals((await walk(drive, { contains: "FILE" })).length, 1_300);
  assertEquals((await walk(drive, { contains: "file 3" })).length, 186);
});

test("An empty text is none, and a text that no name can contain finds nothing.", async (drive) => {
  await drive.putAll(["a", "b/c"]);
  assertEquals(await drive.list({ contains: "" }), { names: ["a", "b/c"] });
  const folder = await drive.list({ contains: "", recursive: "false" });
  assertEquals(folder, { names: ["a", "b/"] });
  assertEquals(await drive.list({ contains: "\0" }), { names: [] });
  assertEquals(await drive.list({ contains: "x".repeat(1_024) }), { names: [] });
  assertEquals(await drive.another("unknown").list({ contains: "a" }), { names: [] });
});

const REFUSED: [string, RegExp][] = [
  [query({ contains: "a", recursive: "false" }), /"contains" and "recursive=false"/],
  [query({ contains: "é".repeat(513) }), /"contains" has 1026 bytes of UTF-8: at most 1024/],
  ["?contains=a&contains=b", /"contains" is given more than once/],
  ["?contains=%ff", /UTF-8/],
];

for (const [parameters, says] of REFUSED) {
  test(`A search with ${parameters.slice(0, 40)} is 400.`, async (drive) => {
    await drive.put("a", "");
    const answer = await drive.send("GET", `/files${parameters}`);
    const { errors } = answer.expect(400).json as { errors: string[] };
    assertMatch(errors.join(), says);
  });
}

async function walk(drive: Drive, parameters: Record<string, string | number>): Promise<string[]> {
  const names: string[] = [];
  for (let last = "";;) {
    const page: Listing = await drive.list({ ...parameters, last });
    names.push(...page.names);
    if (page.paging === undefined) return names;
    assertEquals(page.paging.size, page.names.length);
    last = page.paging.last;
  }
}
