import { assert, assertEquals } from "@std/assert";
import { BROWSER, makeLink, visit } from "../../support/sharing/links.ts";
import { query } from "../../support/drive.ts";
import { readZip } from "../../support/archive/zip_reader.ts";
import { suite } from "../../support/suite.ts";

const test = suite("Links on prefixes");

const JSON_ONLY = { Accept: "application/json" };

test("A folder is a page with its files and folders.", async (drive) => {
  await drive.putAll(["trip/a.txt", "trip/day 1/b.txt", "trip/<i>&\"'.txt", "other.txt", "trips"]);
  const { url } = await makeLink(drive, { prefix: "trip/" });
  const page = (await visit(url, { headers: BROWSER })).expect(200);
  assertEquals(page.header("Content-Type"), "text/html; charset=utf-8");
  assertEquals(page.header("Cache-Control"), "no-store");
  for (const part of [">a.txt</a>", '?prefix=day%201%2F">day 1/</a>', "&lt;i&gt;&amp;&quot;"]) {
    assert(page.text.includes(part), `${part} is not in ${page.text}`);
  }
  for (const part of ["other.txt", "trips", "<i>", "<script"]) {
    assert(!page.text.includes(part), part);
  }
  assert((await visit(url)).expect(200).text.startsWith("<!doctype html>"));
  const inner = (await visit(`${url}?prefix=day%201%2F`)).expect(200).text;
  assert(inner.includes(">b.txt</a>") && !inner.includes(">a.txt</a>"), inner);
});

test("Programs get the names in JSON, without the prefix.", async (drive) => {
  const names = Array.from({ length: 130 }, (_, i) => `t/f${String(i).padStart(3, "0")}`);
  await drive.putAll([...names, "t/x/1", "t/x/2"]);
  const { url } = await makeLink(drive, { prefix: "t/" });
  const first = (await visit(url, { headers: JSON_ONLY })).expect(200).json as {
    names: string[];
    paging: { size: number; last: string };
  };
  assertEquals(first.names, names.slice(0, 100).map((name) => name.slice(2)));
  assertEquals(first.paging, { size: 100, last: "f099" });
  const rest = (await visit(`${url}?last=f099`, { headers: JSON_ONLY })).expect(200).json;
  assertEquals(rest, { names: [...names.slice(100).map((name) => name.slice(2)), "x/"] });
  const page = (await visit(url, { headers: BROWSER })).expect(200);
  assert(page.text.includes("last=f099") && page.bytes.length < 30_000, String(page.bytes.length));
  const inner = (await visit(`${url}?prefix=x/`, { headers: JSON_ONLY })).expect(200).json;
  assertEquals(inner, { names: ["x/1", "x/2"] });
});

test("Each file is opened, previewed and downloaded.", async (drive) => {
  await drive.put("trip/day 1/b.txt", "inside", { "Content-Type": "text/plain" });
  const { url } = await makeLink(drive, { prefix: "trip/" });
  const file = `${url}${query({ name: "day 1/b.txt" })}`;
  assertEquals((await visit(file)).expect(200).text, "inside");
  const part = (await visit(file, { headers: { Range: "bytes=0-1" } })).expect(206);
  assertEquals(part.text, "in");
  const saved = (await visit(`${file}&download`)).expect(200);
  assertEquals(
    saved.header("Content-Disposition"),
    `attachment; filename="b.txt"; filename*=UTF-8''b.txt`,
  );
  const preview = (await visit(`${file}&preview`, { headers: BROWSER })).expect(200);
  assert(preview.text.includes("inside</pre>"), preview.text);
  assert(preview.text.includes('href="?prefix=day%201%2F"'), preview.text);
});

test("Nothing above the prefix can be reached.", async (drive) => {
  await drive.putAll(["secret.txt", "trip/a.txt", "trip2/b.txt"]);
  const { url } = await makeLink(drive, { prefix: "trip/" });
  const names = [
    "../secret.txt",
    "/../secret.txt",
    "secret.txt",
    "trip/a.txt",
    "..",
    "",
    "/",
    "\0",
  ];
  for (const name of [...names, "%2e%2e/secret.txt", "..%2fsecret.txt", "x".repeat(2000)]) {
    (await visit(`${url}${query({ name })}`)).expect(404);
  }
  for (const prefix of ["../", "/", "..", "\0", "x".repeat(2000)]) {
    const listed = (await visit(`${url}${query({ prefix })}`, { headers: JSON_ONLY })).expect(200);
    assertEquals(listed.json, { names: [] });
  }
  const after = (await visit(`${url}?last=${"\uffff"}`, { headers: JSON_ONLY })).expect(200);
  assertEquals(after.json, { names: [] });
  const before = (await visit(`${url}?last=..`, { headers: JSON_ONLY })).expect(200);
  assertEquals(before.json, { names: ["a.txt"] });
  (await visit(`${url}?name=a.txt&name=b`)).expect(400);
  (await visit(`${url}?name=%ff`)).expect(400);
});

test("A prefix may end within a name.", async (drive) => {
  await drive.putAll(["trip", "trip-1.txt", "trip/a.txt"]);
  const { url } = await makeLink(drive, { prefix: "trip" });
  const { names } = (await visit(url, { headers: JSON_ONLY })).expect(200).json as {
    names: string[];
  };
  assertEquals(names, ["", "-1.txt", "/"]);
  assertEquals((await visit(`${url}?name=`)).expect(200).text, "trip");
  assertEquals((await visit(`${url}?name=-1.txt`)).expect(200).text, "trip-1.txt");
  assertEquals((await visit(`${url}?name=/a.txt`)).expect(200).text, "trip/a.txt");
  const page = (await visit(url, { headers: BROWSER })).expect(200).text;
  for (const label of [">trip</a>", ">trip-1.txt</a>", ">trip/</a>"]) {
    assert(page.includes(label), page);
  }
});

test("A folder without files says so, and shows them as they come.", async (drive) => {
  const { url } = await makeLink(drive, { prefix: "new/" });
  assert((await visit(url, { headers: BROWSER })).expect(200).text.includes("There are no files"));
  await drive.put("new/a", "x");
  assertEquals((await visit(url, { headers: JSON_ONLY })).expect(200).json, { names: ["a"] });
});

test("A limit counts each file, and not the pages.", async (drive) => {
  await drive.putAll(["t/a", "t/b"]);
  const { url } = await makeLink(drive, { prefix: "t/", max_downloads: 2 });
  for (let i = 0; i < 3; i++) (await visit(url)).expect(200);
  (await visit(`${url}?name=a`)).expect(200);
  (await visit(`${url}?name=b`)).expect(200);
  (await visit(`${url}?name=a`)).expect(404);
  (await visit(url)).expect(404);
});

test("One button gets all of it as a ZIP, which has nothing above the folder.", async (drive) => {
  await drive.putAll(["secret", "trip/a.txt", "trip/day 1/b.txt", "trip2/c.txt"]);
  const { url } = await makeLink(drive, { prefix: "trip/" });
  const page = (await visit(url, { headers: BROWSER })).expect(200);
  assert(page.text.includes('href="?prefix&amp;zip">Download all as ZIP</a>'), page.text);
  const zip = (await visit(`${url}?prefix&zip`)).expect(200);
  assertEquals(zip.header("Content-Type"), "application/zip");
  assertEquals(
    zip.header("Content-Disposition"),
    `attachment; filename="trip.zip"; filename*=UTF-8''trip.zip`,
  );
  assert(zip.header("Content-Security-Policy").startsWith("sandbox; default-src 'none'; "));
  const names = (bytes: Uint8Array<ArrayBuffer>) => readZip(bytes).map(({ path }) => path);
  assertEquals(names(zip.bytes), ["a.txt", "day 1/b.txt"]);
  const inner = (await visit(`${url}?prefix=day%201%2F&zip`)).expect(200);
  assertEquals(names(inner.bytes), ["b.txt"]);
  assertEquals((await visit(`${url}?prefix=..%2F&zip`)).expect(200).bytes.length, 22);
  const { url: whole } = await makeLink(drive, { prefix: "", max_downloads: 1 });
  (await visit(`${whole}?zip`, { method: "HEAD" })).expect(200);
  const files = (await visit(`${whole}?zip`)).expect(200);
  assertEquals(
    files.header("Content-Disposition"),
    `attachment; filename="files.zip"; filename*=UTF-8''files.zip`,
  );
  (await visit(`${whole}?zip`)).expect(404);
});
