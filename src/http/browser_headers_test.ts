import { assert, assertEquals } from "@std/assert";
import { addCorsHeaders, type CorsOrigins, optionsResponse } from "./browser_headers.ts";

const APP = "https://app.example";
const OTHER = "https://other.example";

function corsHeaders(allowed: CorsOrigins, origin: string | undefined): Record<string, string> {
  const response = new Headers();
  addCorsHeaders(response, new Headers(origin === undefined ? {} : { origin }), allowed);
  return Object.fromEntries(response);
}

/** The names that a header lists, in lower case. */
function listed(headers: Headers, name: string): string[] {
  return (headers.get(name) ?? "").toLowerCase().split(",").map((one) => one.trim());
}

Deno.test("an origin is allowed by a star or by the list, and only a list makes answers vary", () => {
  const cases = [
    ["*", APP, "*", undefined],
    ["*", "null", "*", undefined],
    ["*", undefined, "*", undefined],
    [[APP], APP, APP, "Origin"],
    [[OTHER, APP], APP, APP, "Origin"],
    [[APP], OTHER, undefined, "Origin"],
    [[APP], `${APP}.evil.example`, undefined, "Origin"],
    [[APP], APP.toUpperCase(), undefined, "Origin"],
    [[APP], "null", undefined, "Origin"],
    [[APP], undefined, undefined, "Origin"],
  ] as const;
  for (const [allowed, origin, wanted, vary] of cases) {
    const headers = corsHeaders(allowed, origin);
    const about = `${allowed} ${origin}`;
    assertEquals(headers["access-control-allow-origin"], wanted, about);
    assertEquals(headers["vary"], vary, about);
    assertEquals("access-control-expose-headers" in headers, wanted !== undefined, about);
    assert(!("access-control-allow-credentials" in headers), about);
  }
});

Deno.test("the headers that pages may read are exposed", () => {
  const headers = new Headers();
  addCorsHeaders(headers, new Headers({ origin: APP }), "*");
  assertEquals(listed(headers, "access-control-expose-headers"), [
    "etag",
    "content-range",
    "content-length",
    "accept-ranges",
    "last-modified",
    "x-request-id",
  ]);
  headers.set("x-kvdrive-mtime", "2021-04-22T11:50:08.123Z");
  addCorsHeaders(headers, new Headers({ origin: APP }), "*");
  assertEquals(listed(headers, "access-control-expose-headers").at(-1), "x-kvdrive-mtime");
});

Deno.test("an existing Vary header is kept", () => {
  const response = new Headers({ vary: "Range" });
  addCorsHeaders(response, new Headers({ origin: APP }), [APP]);
  assertEquals(response.get("vary"), "Range, Origin");
});

Deno.test("a preflight gets the methods, the known headers and the requested headers", () => {
  const { status, headers, body } = optionsResponse(
    new Headers({
      "origin": APP,
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-own, x-api-key",
    }),
    "GET, POST, HEAD, OPTIONS",
  );
  assertEquals([status, body], [204, null]);
  assertEquals(headers.get("allow"), "GET, POST, HEAD, OPTIONS");
  assertEquals(headers.get("access-control-allow-methods"), "GET, POST, HEAD, OPTIONS");
  assertEquals(headers.get("access-control-max-age"), "86400");
  const allowed = listed(headers, "access-control-allow-headers");
  for (const name of ["x-api-key", "content-type", "content-digest", "range", "x-own"]) {
    assert(allowed.includes(name), name);
  }
});

Deno.test("OPTIONS without a preflight gets only the methods", () => {
  const { status, headers } = optionsResponse(new Headers({ origin: APP }), "POST, OPTIONS");
  assertEquals(status, 204);
  assertEquals(Object.fromEntries(headers), { allow: "POST, OPTIONS" });
});
