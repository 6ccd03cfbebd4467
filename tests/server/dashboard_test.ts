import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Answer } from "../support/answer.ts";
import { rawRequest, sendRaw } from "../support/raw.ts";
import { PROJECT_KEY, type TestServer } from "../support/server.ts";
import { assertErrorAnswer, suite } from "../support/suite.ts";

const test = suite("The dashboard");

async function get(
  server: TestServer,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return await Answer.of(await fetch(server.origin + path, { headers }));
}

test("The page is at /, without a key, and reveals nothing.", async ({ server }) => {
  const answer = (await get(server, "/")).expect(200);
  assertEquals(answer.header("Content-Type"), "text/html; charset=utf-8");
  assertStringIncludes(answer.text, '<script type="module" src="/dashboard/core/main.js">');
  assert(!answer.text.includes(PROJECT_KEY));
  const asOwner = await get(server, "/", { "X-Api-Key": PROJECT_KEY });
  assertEquals([asOwner.status, asOwner.text], [200, answer.text]);
});

test("The page may not be framed, read by other origins or run foreign scripts.", async ({ server }) => {
  const origin = { Origin: "https://other.example" };
  for (const path of ["/", "/dashboard/core/main.js", "/dashboard/nothing/there.js"]) {
    const { headers } = await get(server, path, origin);
    for (const [name] of headers) assert(!name.startsWith("access-control-"), `${path}: ${name}`);
    assert(headers.has("X-Request-Id"));
  }
  for (const path of ["/", "/dashboard/core/main.js", "/dashboard/styles/base.css"]) {
    const answer = (await get(server, path)).expect(200);
    const policy = answer.header("Content-Security-Policy");
    assertStringIncludes(policy, "default-src 'none'; script-src 'self';");
    assertStringIncludes(policy, "frame-ancestors 'none'");
    assertEquals(answer.header("X-Frame-Options"), "DENY");
    assertEquals(answer.header("X-Content-Type-Options"), "nosniff");
    assertEquals(answer.header("Referrer-Policy"), "no-referrer");
    assertEquals(answer.header("Cache-Control"), "no-cache");
  }
});

test("A preflight for it allows no call.", async ({ server }) => {
  const headers = { Origin: "https://other.example", "Access-Control-Request-Method": "GET" };
  for (const path of ["/", "/dashboard/core/main.js"]) {
    const response = await fetch(server.origin + path, { method: "OPTIONS", headers });
    assertEquals(response.status, 204);
    assertEquals(response.headers.get("Allow"), "GET, HEAD, OPTIONS");
    for (const [name] of response.headers) assert(!name.startsWith("access-control-"), name);
  }
});

test("A browser that has it is answered with 304.", async ({ server }) => {
  const etag = (await get(server, "/")).header("ETag");
  const again = await get(server, "/", { "If-None-Match": etag });
  assertEquals([again.status, again.text], [304, ""]);
  assertEquals((await get(server, "/", { "If-None-Match": '"other"' })).status, 200);
});

test("HEAD answers as GET does, and other methods are refused.", async ({ server }) => {
  for (const path of ["/", "/dashboard/core/main.js"]) {
    const plain = { "Accept-Encoding": "identity" };
    const answer = await get(server, path, plain);
    const head = await sendRaw(server.port, rawRequest("HEAD", path, plain));
    assertEquals(head.expect(200).bytes.length, 0);
    assertEquals(head.header("Content-Length"), `${answer.bytes.length}`);
    assertEquals(head.header("ETag"), answer.header("ETag"));
    for (const method of ["POST", "PUT", "DELETE", "BREW"]) {
      const refused = await sendRaw(server.port, rawRequest(method, path));
      assertErrorAnswer(refused.expect(405));
    }
  }
});

test("No path leads out of it.", async ({ server }) => {
  const targets = [
    "/dashboard",
    "/dashboard/",
    "/dashboard/core",
    "/dashboard/core/",
    "/dashboard//main.js",
    "/dashboard/core/main.js/",
    "/dashboard/core/types.d.ts",
    "/dashboard/deno.json",
    "/dashboard/../app.ts",
    "/dashboard/../../main.ts",
    "/dashboard/core/../../app.ts",
    "/dashboard/%2e%2e/app.ts",
    "/dashboard/..%2fapp.ts/x",
    "/dashboard/..%2f..%2f..%2f..%2fetc/passwd",
    "/dashboard/core%2fmain.js",
    "/dashboard/core/main.js%00",
    "/dashboard/core\\main.js",
    "/dashboard/%ff/main.js",
    "/index.html",
  ];
  for (const target of targets) {
    const answer = await sendRaw(server.port, rawRequest("GET", target));
    assertEquals([target, answer.status], [target, 404]);
    assertErrorAnswer(answer);
  }
});
