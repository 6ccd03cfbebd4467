import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { HttpError } from "../../http/http_error.ts";
import { StaticFiles } from "../../http/responses/static_files.ts";
import type { Deps, RoutedRequest } from "../endpoint.ts";
import { showDashboard, showDashboardFile } from "./dashboard.ts";

const encoder = new TextEncoder();
const FILES = {
  "index.html": '<meta content="{session}"><script src="/dashboard/assets/{main.js}"></script>',
  "sign_in.html":
    '<link href="/dashboard/assets/{main.css}"><script src="/dashboard/assets/{main.js}"></script>',
  "main.js": "console.log(1);".repeat(50),
  "main.css": "body{margin:0}".repeat(50),
};
const dashboard = StaticFiles.of(
  new Map(Object.entries(FILES).map(([name, text]) => [name, encoder.encode(text)])),
);

function get(path: string, headers: HeadersInit = {}): Promise<Response> {
  const request = new Request(`http://kv.example${path}`, { headers });
  const [, , , file = ""] = path.split("/");
  const origin = () => "http://kv.example";
  const incoming = { request, params: { file }, origin } as unknown as RoutedRequest;
  const deps = { dashboard, share: {}, basePath: "" } as unknown as Deps;
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
    assertStringIncludes(
      policy,
      "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'",
    );
    assertStringIncludes(policy, "frame-ancestors 'none'");
    assert(!/unsafe|\*|https?:|data:/.test(policy), policy);
    assertEquals(headers.get("referrer-policy"), "no-referrer");
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    assertEquals(headers.get("x-frame-options"), "DENY");
    assertEquals(headers.get("cross-origin-opener-policy"), "same-origin");
    assertMatch(headers.get("vary") ?? "", /^Accept-Encoding/);
  }
});

Deno.test("the page is revalidated, and its files are kept", async () => {
  const caching = async (path: string) => (await get(path)).headers.get("cache-control");
  assertEquals(await caching("/"), "no-cache");
  for (const path of await named()) {
    assertEquals(await caching(path), "public, max-age=31536000, immutable");
  }
});

Deno.test("the page names every file, each with the hash of its content", async () => {
  const files = dashboard.names.filter((name) => !name.endsWith(".html"));
  assertEquals(files.length, 2);
  for (const name of files) assertMatch(name, /^main-[0-9a-f]{16}\.(js|css)$/);
  assertEquals(
    (await named()).toSorted(),
    files.map((name) => `/dashboard/assets/${name}`).toSorted(),
  );
});

Deno.test("a browser with a current file gets 304, with the headers of the file", async () => {
  for (const path of ["/", ...await named()]) {
    const { headers } = await get(path, { "accept-encoding": "gzip" });
    const answer = await get(path, { "if-none-match": headers.get("etag") ?? "" });
    assertEquals([answer.status, await answer.text()], [304, ""]);
    assert(answer.headers.has("content-security-policy"));
    assertEquals(answer.headers.get("cache-control"), headers.get("cache-control"));
  }
});

Deno.test("files are served by their exact names only", async () => {
  const [current = ""] = dashboard.names.filter((name) => name.endsWith(".js"));
  const wrong = [
    "main.js",
    "main-0000000000000000.js",
    "{main.js}",
    current.toUpperCase(),
    current.slice(1),
    `${current}%00`,
    // The page has one address, and is not kept.
    "index.html",
    "sign_in.html",
    "..",
    "__proto__",
    "",
  ];
  for (const name of wrong) {
    const error = await assertRejects(() => get(`/dashboard/assets/${name}`), HttpError);
    assertEquals(error.status, 404, name);
  }
});
