import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { sendStatic, type StaticFile, staticFile, StaticFiles } from "./static_files.ts";

const PAGE = '<script src="/files/{main.js}"></script>{other}';

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
  file: StaticFile | undefined = filesOf({ "main.html": "a".repeat(1000) }).find("main.html"),
): Promise<Response> {
  if (file === undefined) throw new Error("There is no file");
  const request = new Request("http://kv.example/", { headers });
  return await sendStatic(request, file, { "X-Own": "1" });
}

/** The name of the only script. */
function scriptOf(files: StaticFiles): string {
  return files.names.find((name) => name.endsWith(".js")) ?? "";
}

Deno.test("a name has a hash of the content, and of nothing else", () => {
  const name = scriptOf(filesOf({ "a.js": "1", "b.css": "2" }));
  assertMatch(name, /^a-[0-9a-f]{16}\.js$/);
  assertEquals(scriptOf(filesOf({ "b.css": "3", "a.js": "1" })), name);
  assertNotEquals(scriptOf(filesOf({ "a.js": "2" })), name);
  assertEquals(scriptOf(filesOf({ "c.js": "1" })), name.replace("a-", "c-"));
});

Deno.test("a page names the files, and its own tag changes with every other file", () => {
  const one = filesOf({ "index.html": PAGE, "main.js": "1 {main.js}" });
  const other = filesOf({ "index.html": PAGE, "main.js": "2 {main.js}" });
  const name = scriptOf(one);
  assertEquals(textOf(one.find("index.html")), PAGE.replace("{main.js}", name));
  assertNotEquals(one.find("index.html")?.etag, other.find("index.html")?.etag);
  assertEquals(textOf(one.find(name)), "1 {main.js}");
});

Deno.test("files are found by their exact names, with the type of their extension", () => {
  const files = filesOf({ "index.html": "", "a.js": "", "a.css": "", "a.svg": "", "a": "" });
  assertEquals(files.names.map((name) => files.find(name)?.type), [
    "text/html; charset=utf-8",
    "text/javascript; charset=utf-8",
    "text/css; charset=utf-8",
    "image/svg+xml",
    "application/octet-stream",
  ]);
  const name = scriptOf(files);
  for (const wrong of ["", "a.js", name.toUpperCase(), `./${name}`, `${name}/`, "__proto__"]) {
    assertEquals(files.find(wrong), undefined, wrong);
  }
});

Deno.test("a folder is read with all its files, without the folders in it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  try {
    await Deno.writeTextFile(`${folder}/main.js`, "1");
    await Deno.mkdir(`${folder}/.building-1`);
    const files = await StaticFiles.load(new URL(`file://${folder}/`));
    assertEquals(files.names, filesOf({ "main.js": "1" }).names);
    assertEquals(textOf(files.find(scriptOf(files))), "1");
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
