import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { HttpError } from "../../http/http_error.ts";
import { StaticFiles } from "../../http/static_files.ts";
import type { Deps, RoutedRequest } from "../endpoint.ts";
import { showDashboard, showDashboardFile } from "./dashboard.ts";

const FOLDER = new URL("../../dashboard/dist/", import.meta.url);

/** The most that a browser may load for its first page, in bytes on the wire. */
const FIRST_PAGE = 60_000;
/** About what the headers of a response take, in bytes. */
const HEADERS = 500;

const dashboard = await StaticFiles.load(FOLDER);
const { version } = dashboard;

function get(path: string, headers: HeadersInit = {}): Promise<Response> {
  const request = new Request(`http://kv.example${path}`, { headers });
  const [, , version = "", file = ""] = path.split("/");
  const incoming = { request, params: { version, file } } as unknown as RoutedRequest;
  const deps = { dashboard } as unknown as Deps;
  return (path === "/" ? showDashboard : showDashboardFile).handle(incoming, deps);
}

/** The addresses that the page names. */
async function named(): Promise<string[]> {
  const html = await (await get("/")).text();
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path);
}

Deno.test("the page and its files have their types and the security headers", async () => {
  for (const path of ["/", ...await named()]) {
    const { status, headers, body } = await get(path);
    await body?.cancel();
    assertEquals(status, 200, path);
    assert(!headers.get("content-type")?.startsWith("application/octet-stream"), path);
    const policy = headers.get("content-security-policy") ?? "";
    assertStringIncludes(policy, "default-src 'none'; script-src 'self'; style-src 'self'");
    assertStringIncludes(policy, "frame-ancestors 'none'");
    assert(!/unsafe|\*|https?:|data:/.test(policy), policy);
    assertEquals(headers.get("referrer-policy"), "no-referrer");
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    assertEquals(headers.get("x-frame-options"), "DENY");
    assertEquals(headers.get("cross-origin-opener-policy"), "same-origin");
    assertEquals(headers.get("vary"), "Accept-Encoding");
  }
});

Deno.test("the page is revalidated, and its files are kept", async () => {
  const caching = async (path: string) => (await get(path)).headers.get("cache-control");
  assertEquals(await caching("/"), "no-cache");
  for (const path of await named()) {
    assertEquals(await caching(path), "public, max-age=31536000, immutable");
  }
});

Deno.test("the page names every file, each under the current version", async () => {
  const files = dashboard.names.filter((name) => name !== "index.html");
  assert(files.length > 2);
  const expected = files.map((name) => `/dashboard/${version}/${name}`);
  assertEquals((await named()).toSorted(), expected.toSorted());
});

Deno.test("the page needs nothing that its policy forbids", async () => {
  const html = await (await get("/")).text();
  assert(!/<style|\sstyle=|\son\w+=|<script(?![^>]* src=)|javascript:/i.test(html), html);
  const script = new TextDecoder().decode(dashboard.find("main.js")?.bytes);
  assert(
    !/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(script),
  );
  // The bundle imports nothing. Samples of code for users, in quotes, do.
  assert(!/\bimport\(|(?:^|[;}])import\b/.test(script));
  const styles = new TextDecoder().decode(dashboard.find("main.css")?.bytes);
  assert(!/@import|url\(/.test(styles));
});

Deno.test("a browser with a current file gets 304, with the headers of the file", async () => {
  for (const path of ["/", `/dashboard/${version}/main.js`]) {
    const { headers } = await get(path, { "accept-encoding": "gzip" });
    const answer = await get(path, { "if-none-match": headers.get("etag") ?? "" });
    assertEquals([answer.status, await answer.text()], [304, ""]);
    assert(answer.headers.has("content-security-policy"));
    assertEquals(answer.headers.get("cache-control"), headers.get("cache-control"));
  }
});

Deno.test("only files of the current version are served, by their exact names", async () => {
  const wrong = [
    `${version}/nothing.js`,
    `${version}/Main.js`,
    `${version}/main`,
    // The page has one address, and is not kept.
    `${version}/index.html`,
    `${version}/`,
    `${version}/..`,
    `${version}/main.js%00`,
    `${version}%2Fmain.js`,
    `${version.toUpperCase()}x/main.js`,
    `${version.slice(1)}/main.js`,
    "0000000000000000/main.js",
    "{version}/main.js",
    "/main.js",
    "../app.ts",
    "%2e%2e/app.ts",
    "./deno.json",
    "__proto__/constructor",
  ];
  for (const path of wrong) {
    const error = await assertRejects(() => get(`/dashboard/${path}`), HttpError);
    assertEquals(error.status, 404, path);
  }
});

Deno.test("the first page is small, and everything after it is loaded already", async () => {
  let bytes = 0;
  for (const name of dashboard.names) {
    const file = dashboard.find(name);
    assert(file !== undefined, name);
    bytes += (await file.zipped?.() ?? file.bytes).byteLength + HEADERS;
  }
  assert(bytes < FIRST_PAGE, `${bytes} bytes`);
});
