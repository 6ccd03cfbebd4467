import { assert, assertEquals } from "@std/assert";
import { MAX_PAYLOAD, MIN_PART, patternBytes } from "../support/bytes.ts";
import { Drive, drives, query, send, Upload, uploadParts } from "../support/drive.ts";
import { PROJECT_ID } from "../support/server.ts";
import { assertErrorAnswer, suite } from "../support/suite.ts";

const fresh = suite("GET /v1/{project_id} of a fresh server", { alone: true });

fresh("Reads do not create a drive.", async (drive) => {
  await drive.names();
  (await drive.get("a")).expect(404);
  await drive.delete(["a"]);
  (await drive.send("HEAD", "/files")).expect(200);
  const answer = await send(drive.server, "GET", `/v1/${PROJECT_ID}`);
  assertEquals(answer.expect(200).json, { project_id: PROJECT_ID, drives: [] });
});

fresh("A drive is listed with its files and bytes.", async (drive) => {
  await drive.put("a", "12345");
  await drive.put("b", "67");
  const answer = await send(drive.server, "GET", `/v1/${PROJECT_ID}`);
  assertEquals(answer.expect(200).json, {
    project_id: PROJECT_ID,
    drives: [{ drive_name: drive.name, files: 2, bytes: 7 }],
  });
});

const test = suite("Drives are created by writing, and counted exactly");

// "Names, counts and bytes used agree with each other after any of these."
test("The counts are exact after every kind of write.", async (drive) => {
  const expectUsage = async (files: number, bytes: number) => {
    assertEquals(await drive.usage(), { files, bytes });
    const details = await drive.details();
    assertEquals(details.length, files);
    assertEquals(details.reduce((sum, { size }) => sum + size, 0), bytes);
  };
  await drive.put("small", "12345");
  await expectUsage(1, 5);
  await drive.put("empty", "");
  await expectUsage(2, 5);
  await drive.put("large", patternBytes(200_000));
  await expectUsage(3, 200_005);
  await drive.put("large", patternBytes(70_000));
  await expectUsage(3, 70_005);
  await drive.put("large", "1");
  await expectUsage(3, 6);
  await uploadParts(drive, "large", [patternBytes(MIN_PART), patternBytes(10)]);
  await expectUsage(3, MIN_PART + 15);
  await drive.put("small", patternBytes(100_000));
  await expectUsage(3, MIN_PART + 100_010);
  await drive.delete(["small", "small", "not-there", "empty"]);
  await expectUsage(1, MIN_PART + 10);
  await drive.delete(["large", "large", "small"]);
  await expectUsage(0, 0);
});

test("The counts are exact after many writes at once.", async (drive) => {
  const names = Array.from({ length: 60 }, (_, i) => `n${i % 20}`);
  const sizes = names.map((_, i) => i * 2_000);
  await Promise.all(names.map((name, i) => drive.put(name, patternBytes(sizes[i] ?? 0))));
  const gone = Array.from({ length: 10 }, (_, i) => `n${i}`);
  await Promise.all([drive.delete(gone), drive.delete(gone.toReversed())]);
  const details = await drive.details();
  const bytes = details.reduce((sum, { size }) => sum + size, 0);
  assertEquals(details.length, 10);
  assertEquals(await drive.usage(), { files: 10, bytes });
});

test("A refused write changes no count and creates no drive.", async (drive) => {
  const attempts: [string, string, Uint8Array<ArrayBuffer>, number][] = [
    ["POST", "/files", patternBytes(10), 400],
    ["POST", "/files?name=a%00b", patternBytes(10), 400],
    ["POST", "/files?name=a", patternBytes(MAX_PAYLOAD + 1), 413],
    ["POST", "/uploads", patternBytes(0), 400],
    ["POST", "/uploads?name=dir/", patternBytes(0), 400],
    ["POST", "/uploads/unknown/parts?name=a&part=1", patternBytes(10), 404],
    ["PATCH", "/uploads/unknown?name=a", patternBytes(0), 404],
    ["DELETE", "/uploads/unknown?name=a", patternBytes(0), 404],
  ];
  for (const [method, path, body, status] of attempts) {
    (await drive.send(method, path, { body })).expect(status);
    assertEquals([path, await drive.usage()], [path, undefined]);
  }
  const ofWrites = { headers: { "If-Match": `"a"` }, body: "x" };
  (await drive.send("POST", "/files?name=a", ofWrites)).expect(412);
  assertEquals(await drive.names(), []);
});

test("An aborted upload leaves no trace in the counts.", async (drive) => {
  await drive.put("a", "123");
  const upload = await Upload.start(drive, "b");
  (await upload.send(1, patternBytes(300_000))).expect(200);
  assertEquals(await drive.usage(), { files: 1, bytes: 3 });
  (await upload.abort()).expect(200);
  assertEquals(await drive.usage(), { files: 1, bytes: 3 });
});

// "1 to 128 bytes of UTF-8 after percent-decoding; no `/`, no control character, not blank."
const ACCEPTED: [string, string][] = [
  ["one letter", "d"],
  ["128 bytes", "x".repeat(128)],
  ["128 bytes of emoji", "🦖".repeat(32)],
  ["spaces", " my drive "],
  ["a plus sign", "a+b"],
  ["a percent sign", "100%"],
  ["percent-encoded text", "%2F"],
  ["a question mark and a number sign", "what?#1"],
  ["three dots", "..."],
  ["the composed normal form", "caf\u00e9"],
  ["the decomposed normal form", "cafe\u0301"],
  ["a backslash", "a\\b"],
  ["the name of a route", "files"],
  ["a property of every object", "__proto__"],
  ["a byte order mark", "\ufeffx"],
];

for (const [what, name] of ACCEPTED) {
  test(`A drive name may be ${what}.`, async ({ server }) => {
    const drive = new Drive(server, name);
    const answer = await drive.put("a", what);
    assertEquals(answer.json, { name: "a", project_id: PROJECT_ID, drive_name: name });
    assertEquals(await drive.text("a"), what);
    assertEquals(await drive.usage(), { files: 1, bytes: what.length });
  });
}

test("The longest drive name takes the longest file name, in any way.", async ({ server }) => {
  const drive = new Drive(server, "🦕".repeat(32));
  const name = "🦖".repeat(256);
  for (const size of [0, 10, 70_000, 2_000_000]) await drive.put(name, patternBytes(size));
  await uploadParts(drive, name, [patternBytes(MIN_PART), patternBytes(10)]);
  assertEquals(await drive.names(), [name]);
  assertEquals(await drive.delete([name]), { deleted: [name], failed: [] });
  assertEquals(await drive.usage(), { files: 0, bytes: 0 });
});

const REFUSED: [string, string][] = [
  ["129 bytes", "x".repeat(129)],
  ["129 bytes in 65 letters", `x${encodeURIComponent("é".repeat(64))}`],
  ["a slash", "a%2Fb"],
  ["a slash alone", "%2f"],
  ["NUL", "a%00b"],
  ["a newline", "a%0Ab"],
  ["the control character DEL", "a%7Fb"],
  ["a C1 control character", "a%C2%85b"],
  ["blank", "%20"],
  ["blank in another script", "%E3%80%80"],
  ["malformed percent-encoding", "%zz"],
  ["half of an encoding", "a%2"],
  ["no UTF-8", "%ff"],
  ["an overlong encoding", "%c0%af"],
  ["half of a surrogate pair", "%ed%a0%80"],
];

for (const [what, encoded] of REFUSED) {
  test(`A drive name may not be ${what}.`, async ({ server }) => {
    const before = await drives(server);
    const calls: [string, string][] = [
      ["POST", "/files?name=a"],
      ["POST", "/uploads?name=a"],
      ["GET", "/files"],
      ["DELETE", "/files?names=a"],
    ];
    for (const [method, path] of calls) {
      const answer = await send(server, method, `/v1/${PROJECT_ID}/${encoded}${path}`);
      assertErrorAnswer(answer.expect(400));
    }
    assertEquals(await drives(server), before);
  });
}

// "The number of drives is not limited."
test("More than a thousand drives are listed.", async ({ server }) => {
  const names = Array.from({ length: 1_100 }, (_, i) => `one of many ${i}`);
  for (let i = 0; i < names.length; i += 50) {
    await Promise.all(names.slice(i, i + 50).map((name) => new Drive(server, name).put("a", "x")));
  }
  const all = await drives(server);
  for (const name of names) assertEquals(all.get(name), { files: 1, bytes: 1 });
  const sorted = names.toSorted();
  const page = async (parameters: Record<string, string | number>) => {
    const path = `/v1/${PROJECT_ID}${query({ prefix: "one of many", ...parameters })}`;
    const answer = (await send(server, "GET", path)).expect(200);
    const { drives, paging } = answer.json as { drives: unknown[]; paging?: unknown };
    return [drives.length, paging];
  };
  const first = [1000, { size: 1000, last: sorted[999] }];
  assertEquals(await page({}), first);
  assertEquals(await page({ limit: 1000 }), first);
  assertEquals(await page({ limit: 5000 }), first);
  // There is no page after one that ends with the last drive.
  assertEquals(await page({ last: sorted[99] ?? "" }), [1000, undefined]);
  assertEquals(await page({ limit: 999, last: sorted[99] ?? "" }), [
    999,
    { size: 999, last: sorted[1098] },
  ]);
});

test("Names that differ in case or by a space are different drives.", async ({ server }) => {
  for (const name of ["Case", "case", "case ", " case"]) {
    await new Drive(server, name).put("a", name);
  }
  const all = await drives(server);
  assertEquals(all.get("case"), { files: 1, bytes: 4 });
  assertEquals(all.get(" case"), { files: 1, bytes: 5 });
  assert(all.has("Case") && all.has("case "));
});

test("Drives are listed page by page.", async ({ server }) => {
  const names = Array.from({ length: 7 }, (_, i) => `paged ${i}`);
  await Promise.all(names.map((name) => new Drive(server, name).put("a", "x")));
  const page = async (parameters: string) => {
    const answer = await send(server, "GET", `/v1/${PROJECT_ID}?${parameters}`);
    const { drives, paging } = answer.expect(200).json as {
      drives: { drive_name: string; files: number; bytes: number }[];
      paging?: { size: number; last: string };
    };
    return { names: drives.map(({ drive_name }) => drive_name), paging };
  };
  const first = await page("prefix=paged+&limit=3");
  assertEquals(first, { names: names.slice(0, 3), paging: { size: 3, last: "paged 2" } });
  const second = await page("prefix=paged+&limit=4&last=paged+2");
  assertEquals(second, { names: names.slice(3), paging: undefined });
  assertEquals(await page("prefix=paged+&limit=4&last="), {
    names: names.slice(0, 4),
    paging: { size: 4, last: "paged 3" },
  });
  assertEquals((await page("prefix=paged+7")).names, []);
  assertEquals((await page(`prefix=paged&last=${"x".repeat(5000)}`)).names, []);
  for (const wrong of ["limit=0", "limit=a", "limit=-1", "limit=1&limit=2", "last=a&last=b"]) {
    assertErrorAnswer((await send(server, "GET", `/v1/${PROJECT_ID}?${wrong}`)).expect(400));
  }
});
