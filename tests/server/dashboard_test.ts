import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { Answer } from "../support/answer.ts";
import { rawRequest, sendRaw } from "../support/raw.ts";
import { PROJECT_KEY, type TestServer } from "../support/server.ts";
import { Browser } from "../support/sessions/browser.ts";
import { assertErrorAnswer, suite } from "../support/suite.ts";

const test = suite("The dashboard");

async function get(
  server: TestServer,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return await Answer.of(await fetch(server.origin + path, { headers }));
}

async function addressOf(server: TestServer, file: string): Promise<string> {
  return `/dashboard/assets/${await server.dashboardFile(file)}`;
}

test("The page is at /, without a key, and reveals nothing.", async ({ server }) => {
  const answer = (await get(server, "/")).expect(200);
  assertEquals(answer.header("Content-Type"), "text/html; charset=utf-8");
  assertMatch(
    answer.text,
    /<script type="module" src="\/dashboard\/assets\/sign_in-[0-9a-f]{16}\.js">/,
  );
  assert(!answer.text.includes(PROJECT_KEY));
  const asOwner = await get(server, "/", { "X-Api-Key": PROJECT_KEY });
  assertEquals([asOwner.status, asOwner.text], [200, answer.text]);
});

test("The page of a browser that is signed in has its session, and is not kept.", async ({ server }) => {
  const browser = await Browser.signedIn(server, PROJECT_KEY);
  const answer = (await browser.send("GET", "/")).expect(200);
  assertEquals(answer.header("Cache-Control"), "no-store");
  assertMatch(answer.header("Vary"), /Cookie/);
  assertMatch(
    answer.text,
    /<script type="module" src="\/dashboard\/assets\/main-[0-9a-f]{16}\.js">/,
  );
  const [, escaped = ""] = /name="kvdrive-session" content="([^"]*)"/.exec(answer.text) ?? [];
  const session = JSON.parse(escaped.replaceAll("&quot;", '"'));
  assertEquals(session, await browser.session());
  assert(!answer.text.includes(PROJECT_KEY));
  assertStringIncludes(answer.header("Content-Security-Policy"), "default-src 'none'");
});

test("The page may not be framed, read by other origins or run foreign scripts.", async ({ server }) => {
  const origin = { Origin: "https://other.example" };
  const [script, styles] = [
    await addressOf(server, "main.js"),
    await addressOf(server, "main.css"),
  ];
  for (const path of ["/", script, "/dashboard/nothing/there.js"]) {
    const { headers } = await get(server, path, origin);
    for (const [name] of headers) assert(!name.startsWith("access-control-"), `${path}: ${name}`);
    assert(headers.has("X-Request-Id"));
  }
  for (const path of ["/", script, styles]) {
    const answer = (await get(server, path)).expect(200);
    const policy = answer.header("Content-Security-Policy");
    assertStringIncludes(
      policy,
      "default-src 'none'; script-src 'self'; require-trusted-types-for 'script';",
    );
    assertStringIncludes(policy, "frame-ancestors 'none'");
    assertEquals(answer.header("X-Frame-Options"), "DENY");
    assertEquals(answer.header("X-Content-Type-Options"), "nosniff");
    assertEquals(answer.header("Referrer-Policy"), "no-referrer");
  }
});

test("The page is revalidated before each use; its files have addresses of their own and are kept.", async ({ server }) => {
  assertEquals((await get(server, "/")).header("Cache-Control"), "no-cache");
  for (const file of ["main.js", "main.css", "icon.svg"]) {
    const answer = (await get(server, await addressOf(server, file))).expect(200);
    assertEquals(answer.header("Cache-Control"), "public, max-age=31536000, immutable");
    assertEquals(answer.header("Vary"), "Accept-Encoding");
    assertMatch(answer.header("ETag"), /^"[^"]+"$/);
  }
});

test("The name of another version is not found, and no cache keeps that.", async ({ server }) => {
  const current = await server.dashboardFile("main.js");
  const names = [
    "main-0123456789abcdef.js",
    "main.js",
    `0${current}`,
    current.slice(1),
    "main-.js",
  ];
  for (const name of names) {
    const answer = await get(server, `/dashboard/assets/${name}`);
    assertErrorAnswer(answer.expect(404));
    assertEquals(answer.header("Cache-Control"), "no-store");
  }
});

test("A caller that accepts gzip gets the same, compressed.", async ({ server }) => {
  for (const path of ["/", await addressOf(server, "main.js")]) {
    const [plain, zipped] = await Promise.all(
      ["identity", "gzip"].map((accepted) =>
        sendRaw(server.port, rawRequest("GET", path, { "Accept-Encoding": accepted }))
      ),
    );
    assert(plain !== undefined && zipped !== undefined);
    assertEquals(plain.headers.get("Content-Encoding"), null);
    assertEquals(zipped.header("Content-Encoding"), "gzip");
    assert(zipped.bytes.length < plain.bytes.length);
    const stream = new Blob([zipped.bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    assertEquals(await new Response(stream).text(), plain.text);
    assertNotEquals(zipped.header("ETag"), plain.header("ETag"));
  }
});

test("A preflight for it allows no call.", async ({ server }) => {
  const headers = { Origin: "https://other.example", "Access-Control-Request-Method": "GET" };
  for (const path of ["/", await addressOf(server, "main.js")]) {
    const response = await fetch(server.origin + path, { method: "OPTIONS", headers });
    assertEquals(response.status, 204);
    assertEquals(response.headers.get("Allow"), "GET, HEAD, OPTIONS");
    for (const [name] of response.headers) assert(!name.startsWith("access-control-"), name);
  }
});

test("A browser that has it is answered with 304.", async ({ server }) => {
  for (const path of ["/", await addressOf(server, "main.js")]) {
    const etag = (await get(server, path)).header("ETag");
    const again = await get(server, path, { "If-None-Match": etag });
    assertEquals([again.status, again.text], [304, ""]);
    assertEquals((await get(server, path, { "If-None-Match": '"other"' })).status, 200);
  }
});

test("HEAD answers as GET does, and other methods are refused.", async ({ server }) => {
  for (const path of ["/", await addressOf(server, "main.js")]) {
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
    "/dashboard/assets",
    "/dashboard/assets/",
    "/dashboard//main.js",
    "/dashboard/main.js",
    "/dashboard/assets/main.js",
    "/dashboard/assets/main.tsx",
    "/dashboard/assets/index.html",
    "/dashboard/deno.json",
    "/dashboard/../app.ts",
    "/dashboard/../../main.ts",
    "/dashboard/assets/../../app.ts",
    "/dashboard/%2e%2e/app.ts",
    "/dashboard/assets/..%2fapp.ts",
    "/dashboard/assets/..%2f..%2f..%2f..%2fetc/passwd",
    "/dashboard/assets%2fmain.js",
    "/dashboard/assets/main.js%00",
    "/dashboard/assets\\main.js",
    "/dashboard/assets/%ff",
    "/index.html",
  ];
  for (const target of targets) {
    const answer = await sendRaw(server.port, rawRequest("GET", target));
    assertEquals([target, answer.status], [target, 404]);
    assertErrorAnswer(answer);
  }
});
