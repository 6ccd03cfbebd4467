import { assertEquals } from "@std/assert";
import { patternBytes } from "../../support/bytes.ts";
import { type Drive, query, Upload, uploadParts } from "../../support/drive.ts";
import { AWKWARD_NAMES } from "../../support/names.ts";
import { addCases, type Case, suite } from "../../support/suite.ts";

const test = suite("DELETE /files deletes many files");

function body(names: unknown): { body: string } {
  return { body: JSON.stringify({ names }) };
}

function inQuery(names: readonly string[]): string {
  return `/files?${new URLSearchParams(names.map((name) => ["names", name]))}`;
}

test("Deleted files are gone from the downloads, the list and the counts.", async (drive) => {
  await drive.put("a", "12345");
  await drive.put("big", patternBytes(200_000));
  await uploadParts(drive, "parts", [patternBytes(5_000_000), patternBytes(1)]);
  await drive.put("stays", "123");
  const answer = (await drive.send("DELETE", "/files", body(["a", "big", "parts"]))).expect(200);
  assertEquals(answer.json, { deleted: ["a", "big", "parts"], failed: [] });
  for (const name of ["a", "big", "parts"]) (await drive.get(name)).expect(404);
  assertEquals(await drive.names(), ["stays"]);
  assertEquals(await drive.text("stays"), "123");
  assertEquals(await drive.usage(), { files: 1, bytes: 3 });
});

// "A name that did not exist is reported under `deleted`."
test("A name that did not exist is reported as deleted.", async (drive) => {
  await drive.put("a", "x");
  assertEquals(await drive.delete(["no", "a", "nor this"]), {
    deleted: ["no", "a", "nor this"],
    failed: [],
  });
  assertEquals(await drive.delete(["a"]), { deleted: ["a"], failed: [] });
  assertEquals(await drive.usage(), { files: 0, bytes: 0 });
});

test("Deleting from an unknown drive does not create it.", async (drive) => {
  assertEquals(await drive.delete(["a"]), { deleted: ["a"], failed: [] });
  assertEquals(await drive.usage(), undefined);
});

// "Order is kept, a repeated name counts once."
test("The order is kept and a repeated name counts once.", async (drive) => {
  await drive.putAll(["a", "b", "c"]);
  assertEquals(await drive.delete(["c", "a", "c", "b", "a"]), {
    deleted: ["c", "a", "b"],
    failed: [],
  });
  assertEquals(await drive.usage(), { files: 0, bytes: 0 });
});

// "Blank names among others in `names` never existed, so they are reported under `deleted`."
test("A blank name among others is reported as deleted.", async (drive) => {
  await drive.put("a", "x");
  assertEquals(await drive.delete(["", "a", "  "]), { deleted: ["", "a", "  "], failed: [] });
  assertEquals(await drive.names(), []);
});

test("A name that no file can have is reported as deleted.", async (drive) => {
  await drive.put("dir/file", "x");
  const names = ["dir/", "dir", "\u0000", "x".repeat(3_000), "dir/file\u0000"];
  assertEquals(await drive.delete(names), { deleted: names, failed: [] });
  assertEquals(await drive.names(), ["dir/file"]);
});

test("A name is deleted literally, not as a pattern or a prefix.", async (drive) => {
  await drive.putAll(["a", "a/b", "ab", "*"]);
  await drive.delete(["a*", "*", "a"]);
  assertEquals(await drive.names(), ["a/b", "ab"]);
});

test("Every awkward name can be deleted by a body.", async (drive) => {
  const names = AWKWARD_NAMES.map(({ name }) => name);
  await drive.putAll(names);
  assertEquals(await drive.delete(names), { deleted: names, failed: [] });
  assertEquals(await drive.names(), []);
});

test("Every awkward name can be deleted by the query.", async (drive) => {
  const names = AWKWARD_NAMES.map(({ name }) => name);
  await drive.putAll(names);
  const answer = (await drive.send("DELETE", inQuery(names))).expect(200);
  assertEquals(answer.json, { deleted: names, failed: [] });
  assertEquals(await drive.names(), []);
});

test("A name that is repeated more than a thousand times counts once.", async (drive) => {
  await drive.put("a", "x");
  const names = Array.from({ length: 1_001 }, () => "a");
  assertEquals(await drive.delete(names), { deleted: ["a"], failed: [] });
});

test("The query form keeps the order and counts a repeated name once.", async (drive) => {
  await drive.putAll(["a", "b"]);
  const answer = (await drive.send("DELETE", inQuery(["b", "", "a", "b"]))).expect(200);
  assertEquals(answer.json, { deleted: ["b", "", "a"], failed: [] });
  assertEquals(await drive.names(), []);
});

test("A thousand names of any length are deleted at once.", async (drive) => {
  const names = Array.from({ length: 1_000 }, (_, i) => String(i).padEnd(1_024, "n"));
  await drive.putAll(names.slice(0, 300));
  await drive.put("stays", "x");
  assertEquals(await drive.delete(names), { deleted: names, failed: [] });
  assertEquals(await drive.names(), ["stays"]);
  assertEquals(await drive.usage(), { files: 1, bytes: 1 });
});

test("A thousand of the longest names may all be written as escapes.", async (drive) => {
  const names = Array.from(
    { length: 1_000 },
    (_, i) => `${String(i).padStart(4)}${"A".repeat(1_020)}`,
  );
  await drive.putAll(names.slice(0, 10));
  const body = JSON.stringify({ names }).replaceAll("A", "\\u0041");
  const answer = (await drive.send("DELETE", "/files", { body })).expect(200);
  assertEquals(answer.json, { deleted: names, failed: [] });
  assertEquals(await drive.names(), []);
});

test("A thousand names in the query are deleted at once.", async (drive) => {
  const names = Array.from({ length: 1_000 }, (_, i) => `${i}`);
  await drive.fill(names);
  const answer = (await drive.send("DELETE", inQuery(names))).expect(200);
  assertEquals(answer.json, { deleted: names, failed: [] });
  assertEquals(await drive.usage(), { files: 0, bytes: 0 });
});

test("Other drives, and uploads under way, are not touched.", async (drive) => {
  const other = drive.another("other");
  await drive.put("a", "x");
  await other.put("a", "x");
  const upload = await Upload.start(drive, "a");
  (await upload.send(1, patternBytes(10))).expect(200);
  await drive.delete(["a"]);
  assertEquals(await other.names(), ["a"]);
  (await upload.complete()).expect(200);
  assertEquals((await drive.get("a")).expect(200).bytes, patternBytes(10));
});

const TOO_MANY = Array.from({ length: 1_001 }, (_, i) => `${i}`);

const REFUSED: (Omit<Case, "method" | "status" | "path"> & { path?: string })[] = [
  { name: "No names at all are refused.", contains: ["names"] },
  { name: "An empty list is refused.", ...body([]), contains: ["names"] },
  { name: "A list of blank names alone is refused.", ...body(["", " ", "\t\n"]) },
  { name: "1001 names are refused.", ...body(TOO_MANY), contains: ["1000"] },
  { name: "1001 names in the query are refused.", path: inQuery(TOO_MANY), contains: ["1000"] },
  { name: "One blank name in the query is refused.", path: "/files?names=" },
  { name: "Blank names alone in the query are refused.", path: "/files?names=&names=+" },
  // "both at once is 400"
  { name: "Names in body and query at once are refused.", path: "/files?names=a", ...body(["b"]) },
  { name: "A name instead of a list is refused.", ...body("a") },
  { name: "An object instead of a list is refused.", ...body({ 0: "a" }) },
  { name: "null instead of a list is refused.", ...body(null) },
  { name: "A number among the names is refused.", ...body(["a", 1]) },
  { name: "null among the names is refused.", ...body(["a", null]) },
  { name: "A list among the names is refused.", ...body(["a", ["b"]]) },
  { name: "A body without names is refused.", body: "{}", contains: ["names"] },
  { name: "A list as the body is refused.", body: `["a"]` },
  { name: "A text as the body is refused.", body: `"a"` },
  { name: "null as the body is refused.", body: "null" },
  { name: "A body that is not JSON is refused.", body: `{"names": ["a"`, contains: ["JSON"] },
  { name: "A form as the body is refused.", body: "names=a" },
  { name: "A body that is not UTF-8 is refused.", body: new Uint8Array([0x22, 0xff, 0x22]) },
];

addCases(
  test,
  REFUSED.map((one) => ({ path: "/files", ...one, method: "DELETE", status: 400 })),
  (drive) => drive.putAll(["a", "b", "0", "1"]),
);

// "One published client (Go) can only read an object of name → reason there."
const reasons: [string, { args?: string[]; env?: Record<string, string> }][] = [
  ["--failed-reasons", { args: ["--failed-reasons"] }],
  ["KVDRIVE_FAILED_REASONS=1", { env: { KVDRIVE_FAILED_REASONS: "1" } }],
];

for (const [setting, options] of reasons) {
  suite(`DELETE /files with ${setting}`, options)(
    "Failed is an object of name to reason, in both forms of the call.",
    async (drive: Drive) => {
      await drive.putAll(["a", "b"]);
      assertEquals(await drive.delete(["a", "no"]), { deleted: ["a", "no"], failed: {} });
      const answer = await drive.send("DELETE", `/files${query({ names: "b" })}`);
      assertEquals(answer.expect(200).json, { deleted: ["b"], failed: {} });
      assertEquals(await drive.names(), []);
    },
  );
}
