import { assert, assertEquals, assertLessOrEqual, assertMatch } from "@std/assert";
import { assertSameBytes, patternBytes } from "../../support/bytes.ts";
import { uploadParts } from "../../support/drive.ts";
import { rawRequest, sendRaw } from "../../support/raw.ts";
import { PROJECT_ID } from "../../support/server.ts";
import { addCases, suite } from "../../support/suite.ts";

const test = suite("GET /files/download gives the file");

const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z][a-z] \d{4} \d\d:\d\d:\d\d GMT$/;

test("A download carries the bytes and every header of the contract.", async (drive) => {
  const start = Math.floor(Date.now() / 1000) * 1000;
  const bytes = patternBytes(100_000);
  await drive.put("a.png", bytes);
  const { headers, bytes: received } = (await drive.get("a.png")).expect(200);
  assertSameBytes(received, bytes);
  assertEquals(headers.get("Content-Type"), "image/png");
  assertEquals(headers.get("Content-Length"), "100000");
  assertEquals(headers.get("Accept-Ranges"), "bytes");
  assertEquals(headers.get("X-Content-Type-Options"), "nosniff");
  // A strong entity tag: `W/` would forbid If-Match and If-Range.
  assertMatch(headers.get("ETag") ?? "", /^"[\x21\x23-\x7e]+"$/);
  const modified = headers.get("Last-Modified") ?? "";
  assertMatch(modified, HTTP_DATE);
  assertLessOrEqual(start, Date.parse(modified));
  assertLessOrEqual(Date.parse(modified), Date.now());
});

/** Whether a browser may run scripts in a file of that type. */
const ACTIVE: [type: string, isActive: boolean][] = [
  ["text/html", true],
  ["Text/HTML; charset=utf-8", true],
  ["image/svg+xml", true],
  ["application/xhtml+xml", true],
  ["text/xml", true],
  ["application/xml", true],
  ["application/atom+xml;type=feed", true],
  ["multipart/x-mixed-replace;boundary=a", true],
  ["text/plain, text/html", true],
  ["html", true],
  ["text/plain", false],
  ["image/png", false],
  ["application/pdf", false],
  ["application/json", false],
];

test("Active content is served in a sandbox: whole, in part or as 304.", async (drive) => {
  for (const [type, isActive] of ACTIVE) {
    await drive.put("page", "<script>", { "Content-Type": type });
    const whole = (await drive.get("page")).expect(200);
    const etag = whole.header("ETag");
    const answers = [
      whole,
      (await drive.get("page", { Range: "bytes=0-1" })).expect(206),
      (await drive.get("page", { "If-None-Match": etag })).expect(304),
    ];
    for (const answer of answers) {
      const policy = answer.headers.get("Content-Security-Policy");
      assertEquals(policy, isActive ? "sandbox; default-src 'none'" : null, type);
    }
  }
});

test("Two downloads of one version have the same tag and date.", async (drive) => {
  await drive.put("a", "x");
  const [one, two] = [await drive.get("a"), await drive.get("a")];
  assertEquals(one.header("ETag"), two.header("ETag"));
  assertEquals(one.header("Last-Modified"), two.header("Last-Modified"));
});

test("Another content has another tag.", async (drive) => {
  const tags = new Set<string>();
  for (const content of ["one", "two", "", "three"]) {
    await drive.put("a", content);
    tags.add(await drive.etag("a"));
  }
  assertEquals(tags.size, 4);
});

const SIZES = [0, 5, 65_536, 200_000];

for (const size of SIZES) {
  test(`HEAD gives the headers of GET for ${size} bytes, and no body.`, async (drive) => {
    await drive.put("a.txt", patternBytes(size));
    const get = (await drive.get("a.txt")).expect(200);
    const head = await drive.send("HEAD", "/files/download?name=a.txt");
    assertEquals(head.expect(200).bytes.length, 0);
    assertEquals(withoutOwnHeaders(head.headers), withoutOwnHeaders(get.headers));
    assertEquals(head.header("Content-Length"), String(size));
  });
}

test("HEAD of a file made of parts returns its full length.", async (drive) => {
  await uploadParts(drive, "a.bin", [patternBytes(5_000_000), patternBytes(7)]);
  const head = await drive.send("HEAD", "/files/download?name=a.bin");
  assertEquals(head.expect(200).header("Content-Length"), "5000007");
});

test("HEAD sends not one byte after its headers.", async (drive) => {
  await drive.put("a.txt", "hello");
  const target = `/v1/${PROJECT_ID}/${drive.name}/files/download?name=a.txt`;
  const answer = await sendRaw(drive.server.port, rawRequest("HEAD", target));
  assertEquals(answer.expect(200).bytes.length, 0);
  assertEquals(answer.header("Content-Length"), "5");
});

// "Bytes are never changed on the way (no compression of ours)."
test("A text that would compress well is sent as it is.", async (drive) => {
  const text = "all work and no play ".repeat(5_000);
  await drive.put("a.txt", text);
  const target = `/v1/${PROJECT_ID}/${drive.name}/files/download?name=a.txt`;
  const headers = { "Accept-Encoding": "gzip, deflate, br, zstd" };
  const answer = await sendRaw(drive.server.port, rawRequest("GET", target, headers));
  assertEquals(answer.expect(200).text, text);
  assertEquals(answer.headers.get("Content-Encoding"), null);
  assertEquals(answer.header("Content-Length"), String(text.length));
});

test("A list that would compress well is sent as it is.", async (drive) => {
  await drive.putAll(Array.from({ length: 200 }, (_, i) => `a-rather-long-name-${i}`));
  const target = `/v1/${PROJECT_ID}/${drive.name}/files`;
  const headers = { "Accept-Encoding": "gzip, br" };
  const answer = await sendRaw(drive.server.port, rawRequest("GET", target, headers));
  assertEquals(answer.expect(200).headers.get("Content-Encoding"), null);
  assert(answer.text.startsWith(`{"names":["a-rather`), answer.text.slice(0, 50));
});

test("A file is gone once it is deleted, and back once it is put again.", async (drive) => {
  await drive.put("a", "one");
  await drive.delete(["a"]);
  (await drive.get("a")).expect(404);
  await drive.put("a", "two");
  assertEquals(await drive.text("a"), "two");
});

addCases(test, [
  {
    name: "A file that does not exist is 404.",
    method: "GET",
    path: "/files/download?name=missing",
    status: 404,
    contains: ["missing"],
  },
  {
    name: "A file that does not exist is 404 to HEAD, too.",
    method: "HEAD",
    path: "/files/download?name=missing",
    status: 404,
  },
  {
    name: "A name that differs in case is another file.",
    method: "GET",
    path: "/files/download?name=THERE",
    status: 404,
  },
  {
    name: "A part of a name is no file.",
    method: "GET",
    path: "/files/download?name=the",
    status: 404,
  },
  {
    name: "A directory is no file.",
    method: "GET",
    path: "/files/download?name=dir",
    status: 404,
  },
  {
    name: "A download without a name is 400.",
    method: "GET",
    path: "/files/download",
    status: 400,
    contains: ["name"],
  },
  {
    name: "A download with an empty name is 400.",
    method: "GET",
    path: "/files/download?name=",
    status: 400,
    contains: ["name"],
  },
], async (drive) => {
  await drive.put("there", "x");
  await drive.put("dir/file", "x");
});

/** What differs between any two answers. */
function withoutOwnHeaders(headers: Headers): Record<string, string> {
  const own = ["date", "x-request-id", "connection", "vary"];
  return Object.fromEntries([...headers].filter(([name]) => !own.includes(name)));
}
