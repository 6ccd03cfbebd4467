import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { HttpError } from "../../http/http_error.ts";
import { StaticFiles } from "../../http/static_files.ts";
import type { Deps, RoutedRequest } from "../endpoint.ts";
import { showDashboard, showDashboardFile } from "./dashboard.ts";

const FOLDER = new URL("../../dashboard/", import.meta.url);

/** The most that a browser may load for the sign-in, in bytes on the wire. */
const FIRST_PAGE = 60_000;

const dashboard = await StaticFiles.load(FOLDER);

function get(path: string, headers: HeadersInit = {}): Promise<Response> {
  const request = new Request(`http://kv.example${path}`, { headers });
  const [, , folder = "", file = ""] = path.split("/");
  const incoming = { request, params: { folder, file } } as unknown as RoutedRequest;
  const deps = { dashboard } as unknown as Deps;
  return (path === "/" ? showDashboard : showDashboardFile).handle(incoming, deps);
}

async function unzipped(response: Response): Promise<string> {
  const zip = new DecompressionStream("gzip");
  return await new Response(response.body?.pipeThrough(zip)).text();
}

Deno.test("every file of the page has its type and the security headers", async () => {
  const paths = [
    "/",
    ...dashboard.paths.filter((one) => one.includes("/")).map((one) => `/dashboard/${one}`),
  ];
  assert(paths.length > 20);
  for (const path of paths) {
    const { status, headers, body } = await get(path);
    await body?.cancel();
    assertEquals(status, 200, path);
    assert(!headers.get("content-type")?.startsWith("application/octet-stream"), path);
    const policy = headers.get("content-security-policy") ?? "";
    assertStringIncludes(policy, "default-src 'none'; script-src 'self'; style-src 'self'");
    assertStringIncludes(policy, "frame-ancestors 'none'");
    assert(!/unsafe|\*|https?:|data:/.test(policy), policy);
    assertEquals(headers.get("cache-control"), "no-cache");
    assertEquals(headers.get("referrer-policy"), "no-referrer");
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    assertEquals(headers.get("x-frame-options"), "DENY");
    assertEquals(headers.get("cross-origin-opener-policy"), "same-origin");
    assertEquals(headers.get("vary"), "Accept-Encoding");
  }
});

Deno.test("the page needs nothing that its policy forbids", async () => {
  const html = await (await get("/")).text();
  assert(!/<style|\sstyle=|\son\w+=|<script(?![^>]* src=)|javascript:/i.test(html), html);
  for (const path of dashboard.paths) {
    const text = new TextDecoder().decode(dashboard.find(path)?.bytes);
    assert(
      !/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(text),
      path,
    );
    assert(!/^(?:import|export)\b[^;]* from "(?!\.)|import\("(?!\.)/m.test(text), path);
  }
});

Deno.test("a browser with a current file gets 304, for the plain and the compressed form", async () => {
  const plain = await get("/");
  const zipped = await get("/", { "accept-encoding": "br, gzip" });
  const [one, other] = [plain, zipped].map(({ headers }) => headers.get("etag") ?? "");
  assert(one !== other && one?.startsWith('"') && other?.startsWith('"'));
  assertEquals(await unzipped(zipped), await plain.text());
  for (const known of [one, other, `W/${one}`, `"x", ${other}`]) {
    const answer = await get("/", { "if-none-match": known ?? "" });
    assertEquals([answer.status, await answer.text()], [304, ""]);
    assert(answer.headers.has("etag") && answer.headers.has("content-security-policy"));
  }
  for (const other of ['"x"', "x", ""]) {
    assertEquals((await get("/", { "if-none-match": other })).status, 200);
  }
});

Deno.test("gzip is sent to callers that accept it", async () => {
  const cases = [
    ["gzip", true],
    ["gzip;q=0.5, br", true],
    ["GZIP", true],
    ["gzip;q=0", false],
    [
      "br",
      false,
    ],
    ["", false],
    ["gzip; q=0.0", false],
  ] as const;
  for (const [accepted, isZipped] of cases) {
    const { headers, body } = await get("/", { "accept-encoding": accepted });
    await body?.cancel();
    assertEquals(headers.get("content-encoding"), isZipped ? "gzip" : null, accepted);
  }
});

Deno.test("only the page's own files are served, by their exact names", async () => {
  const wrong = [
    "core/nothing.js",
    "core/Main.js",
    "core/types.d.ts",
    "core/main",
    "core/",
    "core/..",
    "../app.ts",
    "%2e%2e/app.ts",
    "core%2Fmain.js",
    "core/main.js%00",
    "core/format_test.js",
    "./deno.json",
    "__proto__/constructor",
  ];
  for (const path of wrong) {
    const error = await assertRejects(() => get(`/dashboard/${path}`), HttpError);
    assertEquals(error.status, 404, path);
  }
});

/** The modules that a module imports statically, directly or indirectly, and itself. */
function modulesOf(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  const text = new TextDecoder().decode(dashboard.find(path)?.bytes);
  for (const [, to = ""] of text.matchAll(/^(?:import|export)\b[^;]*? from "([^"]+)";/gm)) {
    modulesOf(new URL(to, `file:///${path}`).pathname.slice(1), found);
  }
  return found;
}

Deno.test("the files loaded before the sign-in are small", async () => {
  const html = await (await get("/")).text();
  const named = [...html.matchAll(/(?:src|href)="\/dashboard\/([^"]+)"/g)].map(([, path = ""]) =>
    path
  );
  assert(named.includes("core/main.js"));
  const paths = new Set(["index.html", ...named, ...modulesOf("core/main.js")]);
  let bytes = 0;
  for (const path of paths) {
    const file = dashboard.find(path);
    assert(file !== undefined, path);
    // Each file also has some 500 bytes of headers.
    bytes += (await file.zipped?.() ?? file.bytes).byteLength + 500;
  }
  assert(bytes < FIRST_PAGE, `${bytes} bytes`);
});

Deno.test("the page preloads every module that the sign-in needs", async () => {
  const html = await (await get("/")).text();
  const preloaded = [...html.matchAll(/rel="modulepreload" href="\/dashboard\/([^"]+)"/g)];
  const needed = modulesOf("core/main.js");
  needed.delete("core/main.js");
  assertEquals(preloaded.map(([, path = ""]) => path).toSorted(), [...needed].toSorted());
});
