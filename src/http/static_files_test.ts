import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { sendStatic, type StaticFile, staticFile, StaticFiles } from "./static_files.ts";

const PAGE = '<script src="/files/{version}/main.js"></script>';

function filesOf(contents: Record<string, string>): StaticFiles {
  const encoder = new TextEncoder();
  const all = Object.entries(contents).map(([name, text]) => [name, encoder.encode(text)] as const);
  return StaticFiles.of(new Map(all));
}

function textOf(file: StaticFile | undefined): string {
  return new TextDecoder().decode(file?.bytes);
}

async function send(
  headers: Record<string, string>,
  file: StaticFile | undefined = filesOf({ "main.js": "a".repeat(1000) }).find("main.js"),
): Promise<Response> {
  if (file === undefined) throw new Error("There is no file");
  const request = new Request("http://kv.example/", { headers });
  return await sendStatic(request, file, { "X-Own": "1" });
}

Deno.test("the version depends on every name and content, and on nothing else", () => {
  const { version } = filesOf({ "a.js": "1", "b.css": "2" });
  assertMatch(version, /^[0-9a-f]{16}$/);
  assertEquals(filesOf({ "b.css": "2", "a.js": "1" }).version, version);
  const others = [
    { "a.js": "2", "b.css": "1" },
    { "a.js": "1", "c.css": "2" },
    { "a.js": "1" },
    { "a.js": "1", "b.css": "2", "c.js": "" },
    { "a.js": "", "1b.css": "2" },
    {},
  ];
  const versions = others.map((contents) => filesOf(contents).version);
  assertEquals(new Set([version, ...versions]).size, others.length + 1);
});

Deno.test("a page names the version, and its own tag changes with every other file", () => {
  const one = filesOf({ "index.html": PAGE, "main.js": "1 {version}" });
  const other = filesOf({ "index.html": PAGE, "main.js": "2 {version}" });
  assertEquals(textOf(one.find("index.html")), PAGE.replace("{version}", one.version));
  assertNotEquals(one.find("index.html")?.etag, other.find("index.html")?.etag);
  assertEquals(textOf(one.find("main.js")), "1 {version}");
});

Deno.test("files are found by their exact names, with the type of their extension", () => {
  const names = ["index.html", "a.js", "a.css", "a.svg", "a"];
  const files = filesOf(Object.fromEntries(names.map((name) => [name, name])));
  assertEquals(files.names, names);
  assertEquals(names.map((name) => files.find(name)?.type), [
    "text/html; charset=utf-8",
    "text/javascript; charset=utf-8",
    "text/css; charset=utf-8",
    "image/svg+xml",
    "application/octet-stream",
  ]);
  for (const name of ["", "A.js", "./a.js", "a.js/", "__proto__", "constructor"]) {
    assertEquals(files.find(name), undefined, name);
  }
});

Deno.test("a folder is read with all its files", async () => {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  try {
    await Deno.writeTextFile(`${folder}/main.js`, "1");
    const files = await StaticFiles.load(new URL(`file://${folder}/`));
    assertEquals(files.version, filesOf({ "main.js": "1" }).version);
    assertEquals(textOf(files.find("main.js")), "1");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("gzip is sent to callers that accept it", async () => {
  const cases: [string, boolean][] = [
    ["gzip", true],
    ["gzip;q=0.5, br", true],
    ["GZIP", true],
    ["br;q=1, gzip ; q=0.001", true],
    ["gzip;q=0", false],
    ["gzip; q=0.0", false],
    ["x-gzip", false],
    ["*", false],
    ["br", false],
    ["identity", false],
    ["", false],
  ];
  for (const [accepted, isZipped] of cases) {
    const response = await send({ "Accept-Encoding": accepted });
    const bytes = new Uint8Array(await response.arrayBuffer());
    assertEquals(response.headers.get("Content-Encoding"), isZipped ? "gzip" : null, accepted);
    assertEquals(response.headers.get("Content-Length"), String(bytes.length));
    assertEquals(bytes.length < 1000, isZipped, accepted);
  }
});

Deno.test("each form has its own tag, and either is current in the caller's cache", async () => {
  const [plain, zipped] = await Promise.all([
    send({ "Accept-Encoding": "identity" }),
    send({ "Accept-Encoding": "gzip" }),
  ]);
  const [one = "", other = ""] = [plain, zipped].map(({ headers }) => headers.get("ETag") ?? "");
  assertMatch(one, /^"[0-9a-f]{32}"$/);
  assertEquals(other, `${one.slice(0, -1)}-gzip"`);
  for (const known of [one, other, `W/${one}`, `"x", ${other}`, "*"]) {
    for (const accepted of ["gzip", "identity"]) {
      const answer = await send({ "If-None-Match": known, "Accept-Encoding": accepted });
      assertEquals([answer.status, await answer.text()], [304, ""], known);
      assertEquals(answer.headers.get("ETag"), accepted === "gzip" ? other : one);
      assertEquals(answer.headers.get("X-Own"), "1");
    }
  }
  assertEquals((await send({ "If-None-Match": '"x"' })).status, 200);
});

Deno.test("a file without a compressed form is sent as it is", async () => {
  const file = staticFile("text/plain", new TextEncoder().encode("abc"));
  const response = await send({ "Accept-Encoding": "gzip" }, file);
  assertEquals([await response.text(), response.headers.has("Content-Encoding")], ["abc", false]);
});
