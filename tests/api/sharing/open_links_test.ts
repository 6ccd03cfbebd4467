import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Answer } from "../../support/answer.ts";
import { patternBytes } from "../../support/bytes.ts";
import { BROWSER, linksOf, makeLink, visit } from "../../support/sharing/links.ts";
import { suite } from "../../support/suite.ts";

const test = suite("Links: what they serve");

/** What every answer below `/s/` must have. */
function assertSecure(answer: Answer): void {
  const policy = answer.header("Content-Security-Policy");
  assertMatch(
    policy,
    /^sandbox( allow-downloads allow-forms allow-same-origin)?; default-src 'none'; /,
  );
  assertEquals(policy.includes("allow-scripts"), false);
  assert(policy.includes("frame-ancestors 'none'") && policy.includes("base-uri 'none'"), policy);
  assertEquals(answer.header("X-Content-Type-Options"), "nosniff");
  assertEquals(answer.header("Referrer-Policy"), "no-referrer");
  assertEquals(answer.header("X-Robots-Tag"), "noindex");
  assertEquals(answer.header("Cross-Origin-Resource-Policy"), "same-origin");
  for (const [name] of answer.headers) assert(!name.startsWith("access-control-"), name);
}

test("A file is served as a download is, with ranges and conditions.", async (drive) => {
  await drive.put("a/data.txt", "0123456789");
  const own = (await drive.get("a/data.txt")).expect(200);
  const { url } = await makeLink(drive, { name: "a/data.txt" });
  const answer = (await visit(url)).expect(200);
  for (const name of ["Content-Type", "ETag", "Last-Modified", "Accept-Ranges", "Cache-Control"]) {
    assertEquals(answer.header(name), own.header(name));
  }
  assertEquals(
    answer.header("Content-Disposition"),
    `inline; filename="data.txt"; filename*=UTF-8''data.txt`,
  );
  const etag = answer.header("ETag");
  const part = (await visit(url, { headers: { Range: "bytes=2-4" } })).expect(206);
  assertEquals([part.text, part.header("Content-Range")], ["234", "bytes 2-4/10"]);
  const known = (await visit(url, { headers: { "If-None-Match": etag } })).expect(304);
  const failed = (await visit(url, { headers: { "If-Match": '"x"' } })).expect(412);
  const beyond = (await visit(url, { headers: { Range: "bytes=10-" } })).expect(416);
  const head = (await visit(url, { method: "HEAD" })).expect(200);
  assertEquals([head.bytes.length, head.header("Content-Length")], [0, "10"]);
  for (const one of [answer, part, known, failed, beyond, head]) assertSecure(one);
});

test("A large file comes whole, and in parts.", async (drive) => {
  const bytes = patternBytes(1_000_000);
  await drive.put("large.bin", bytes);
  const { url } = await makeLink(drive, { name: "large.bin" });
  assertEquals((await visit(url)).expect(200).bytes, bytes);
  const part = (await visit(url, { headers: { Range: "bytes=-70000" } })).expect(206);
  assertEquals(part.bytes, bytes.slice(-70_000));
});

test("A link serves the file that has the name now, and again when it is written again.", async (drive) => {
  const { url } = await makeLink(drive, { name: "later.txt" });
  (await visit(url)).expect(404);
  await drive.put("later.txt", "one");
  assertEquals((await visit(url)).expect(200).text, "one");
  await drive.put("later.txt", "two");
  assertEquals((await visit(url)).expect(200).text, "two");
  await drive.delete(["later.txt"]);
  (await visit(url)).expect(404);
  await drive.put("later.txt", "three");
  assertEquals((await visit(url)).expect(200).text, "three");
});

const TYPES: [type: string, isShown: boolean][] = [
  ["image/png", true],
  ["image/webp", true],
  ["IMAGE/JPEG", true],
  ["audio/mpeg", true],
  ["video/mp4; codecs=avc1", true],
  ["application/pdf", true],
  ["text/plain; charset=utf-8", true],
  ["image/svg+xml", false],
  ["image/svg", false],
  ["text/html", false],
  ["text/html, image/png", false],
  ["image/png, text/html", false],
  ["application/xhtml+xml", false],
  ["text/xml", false],
  ["text/css", false],
  ["text/javascript", false],
  ["text/plainer", false],
  ["multipart/x-mixed-replace", false],
  ["application/octet-stream", false],
  ["image", false],
];

for (const [type, isShown] of TYPES) {
  const how = isShown ? "inline" : "attachment";
  test(`${type} is served as ${how}, and as attachment on demand.`, async (drive) => {
    await drive.put("file", "x", { "Content-Type": type });
    const { url } = await makeLink(drive, { name: "file" });
    const answer = (await visit(url)).expect(200);
    assertEquals(
      answer.header("Content-Disposition"),
      `${how}; filename="file"; filename*=UTF-8''file`,
    );
    assertSecure(answer);
    const saved = (await visit(`${url}?download`)).expect(200);
    assertEquals(
      saved.header("Content-Disposition"),
      `attachment; filename="file"; filename*=UTF-8''file`,
    );
    const { url: always } = await makeLink(drive, { name: "file", download: true });
    const forced = (await visit(always)).expect(200);
    assertEquals(
      forced.header("Content-Disposition"),
      `attachment; filename="file"; filename*=UTF-8''file`,
    );
  });
}

test("Content-Disposition has the last segment of the name, whatever it is.", async (drive) => {
  const names = new Map([
    [
      'a/b/"quoted"\\.txt',
      `inline; filename="_quoted__.txt"; filename*=UTF-8''%22quoted%22%5C.txt`,
    ],
    [
      "a/Grüße €.txt",
      "inline; filename=\"Gr__e _.txt\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%E2%82%AC.txt",
    ],
    [
      "line\r\nX-Evil: 1.txt",
      "inline; filename=\"line__X-Evil: 1.txt\"; filename*=UTF-8''line%0D%0AX-Evil%3A%201.txt",
    ],
  ]);
  for (const [name, wanted] of names) {
    await drive.put(name, "x", { "Content-Type": "text/plain" });
    const { url } = await makeLink(drive, { name });
    const answer = (await visit(url)).expect(200);
    assertEquals(answer.header("Content-Disposition"), wanted);
    assertEquals(answer.headers.has("X-Evil"), false);
  }
});

test("All dead links have the same 404: a page for a browser, JSON otherwise.", async (drive) => {
  await drive.put("a", "x");
  const expired = await makeLink(drive, { name: "a", expires_in: 3 });
  const revoked = await makeLink(drive, { name: "a" });
  const usedUp = await makeLink(drive, { name: "a", max_downloads: 1 });
  const gone = await makeLink(drive, { name: "none" });
  (await drive.send("DELETE", `/links/${revoked.id}`)).expect(200);
  (await visit(usedUp.url)).expect(200);
  (await visit(expired.url)).expect(200);
  await new Promise((resolve) => setTimeout(resolve, 3100));
  const unknown = revoked.url.replace(/.$/, (last) => last === "A" ? "Q" : "A");
  const urls = [expired, revoked, usedUp, gone].map(({ url }) => url);
  const shapes = new Set<string>();
  const pages = new Set<string>();
  for (const url of [...urls, unknown, `${new URL(unknown).origin}/s/x`]) {
    const plain = (await visit(url)).expect(404);
    const page = (await visit(url, { headers: BROWSER })).expect(404);
    (await visit(url, { method: "HEAD" })).expect(404);
    (await visit(url, { method: "POST", body: "password=x" })).expect(404);
    assertEquals(plain.errors.length, 1);
    assertEquals(page.header("Content-Type"), "text/html; charset=utf-8");
    for (const one of [plain, page]) {
      assertSecure(one);
      assertEquals(one.header("Cache-Control"), "no-store");
    }
    shapes.add(shapeOf(plain));
    pages.add(shapeOf(page));
  }
  assertEquals([shapes.size, pages.size], [1, 1]);
  assertEquals((await linksOf(drive)).map(({ id }) => id), [gone.id, usedUp.id]);
});

/** Everything of an answer but what is its own. */
function shapeOf(answer: Answer): string {
  const own = new Set(["date", "x-request-id"]);
  return JSON.stringify([[...answer.headers].filter(([name]) => !own.has(name)), answer.text]);
}

test("A limit of downloads counts answers with a body, and ignores ranges.", async (drive) => {
  await drive.put("a.txt", "0123456789");
  const { url } = await makeLink(drive, { name: "a.txt", max_downloads: 3 });
  const left = async () => {
    const [link] = await linksOf(drive);
    return 3 - (link?.downloads ?? 0);
  };
  const head = (await visit(url, { method: "HEAD" })).expect(200);
  assertEquals(head.header("Accept-Ranges"), "none");
  (await visit(url, { headers: { "If-None-Match": head.header("ETag") } })).expect(304);
  (await visit(url, { headers: { "If-Match": '"x"' } })).expect(412);
  (await visit(`${url}?preview`)).expect(200);
  assertEquals(await left(), 3);
  const part = (await visit(url, { headers: { Range: "bytes=0-1" } })).expect(200);
  assertEquals([part.text, part.header("Cache-Control"), await left()], [
    "0123456789",
    "no-store",
    2,
  ]);
  const all = await Promise.all(Array.from({ length: 8 }, () => visit(url)));
  assertEquals(all.filter(({ status }) => status === 200).length, 2);
  assertEquals(all.filter(({ status }) => status === 404).length, 6);
  (await visit(url, { method: "HEAD" })).expect(404);
  assertEquals(await left(), 0);
});

test("No page can load a file as a script, a style sheet, a worker or a frame.", async (drive) => {
  await drive.put("x.js", "alert(1)", { "Content-Type": "text/javascript" });
  const { url } = await makeLink(drive, { name: "x.js" });
  for (const use of ["script", "style", "worker", "serviceworker", "iframe", "embed", "object"]) {
    assertSecure((await visit(url, { headers: { "Sec-Fetch-Dest": use } })).expect(403));
  }
  (await visit(url, { headers: { "Service-Worker": "script" } })).expect(403);
  (await visit(url, { headers: { "Sec-Fetch-Dest": "document" } })).expect(200);
});

test("A browser gets audio and video on a page that plays them.", async (drive) => {
  await drive.put("a b.mp4", "x", { "Content-Type": "video/mp4" });
  const { url } = await makeLink(drive, { name: "a b.mp4" });
  const moved = (await visit(url, { headers: BROWSER })).expect(303);
  assertEquals(moved.header("Location"), `${new URL(url).pathname}?preview`);
  (await visit(url)).expect(200);
  (await visit(`${url}?download`, { headers: BROWSER })).expect(200);
  const page = (await visit(`${url}?preview`, { headers: BROWSER })).expect(200);
  assert(page.text.includes('<video class="view" src="?"'), page.text);
  assertSecure(page);
});

test("A preview shows the beginning of a text, escaped, and never of other types.", async (drive) => {
  await drive.put("a.txt", "<script>alert(1)</script>&amp;", { "Content-Type": "text/plain" });
  const text = (await visit(`${(await makeLink(drive, { name: "a.txt" })).url}?preview`)).expect(
    200,
  );
  assert(text.text.includes("&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;"), text.text);
  await drive.put("a.html", "<b>secret", { "Content-Type": "text/html" });
  const page = (await visit(`${(await makeLink(drive, { name: "a.html" })).url}?preview`)).expect(
    200,
  );
  assertEquals(page.text.includes("secret"), false);
  await drive.put("large.txt", "é".repeat(50_000), { "Content-Type": "text/plain" });
  const large = (await visit(`${(await makeLink(drive, { name: "large.txt" })).url}?preview`))
    .expect(200);
  assert(large.bytes.length < 30_000, String(large.bytes.length));
  assertEquals(large.text.includes("\ufffd"), false);
  assert(large.text.includes("This is the beginning"), large.text.slice(-300));
});

test("Other methods and paths are refused, with the same headers.", async (drive) => {
  const { url } = await makeLink(drive, { name: "a" });
  const refused = (await visit(url, { method: "DELETE" })).expect(405);
  assertEquals(refused.header("Allow"), "GET, POST, HEAD, OPTIONS");
  assertSecure(refused);
  const preflight = { Origin: "https://a.example", "Access-Control-Request-Method": "GET" };
  assertSecure((await visit(url, { method: "OPTIONS", headers: preflight })).expect(204));
  assertSecure((await visit(`${url}/x`)).expect(404));
});
