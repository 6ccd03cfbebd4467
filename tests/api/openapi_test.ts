// Contains the official schemas of OpenAPI, and depends only on Ajv, which other tests use as well.
import { Validator } from "@seriousme/openapi-schema-validator";
import { assert, assertEquals, assertGreater } from "@std/assert";
import { ADMINISTERED } from "../support/admin.ts";
import { Answer } from "../support/answer.ts";
import { rawRequest, sendRaw } from "../support/raw.ts";
import { TestServer } from "../support/server.ts";

async function read(
  server: TestServer,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<Answer> {
  return await Answer.of(await fetch(`${server.origin}/openapi.json`, { headers, method }));
}

/** The header by which the answers to pages of an origin are opened to it. */
function openTo(answer: Answer): string | null {
  return answer.headers.get("Access-Control-Allow-Origin");
}

Deno.test("The description needs no key and names this server.", async () => {
  await using server = await TestServer.start();
  const answer = (await read(server)).expect(200);
  const { openapi, servers, paths } = answer.json as {
    openapi: string;
    servers: { url: string }[];
    paths: Record<string, unknown>;
  };
  assert(openapi.startsWith("3.1."), openapi);
  assertEquals(servers.map(({ url }) => new URL(url, `${server.origin}/openapi.json`).href), [
    `${server.origin}/`,
  ]);
  assertGreater(Object.keys(paths).length, 15);
  assertEquals(answer.header("Content-Length"), String(answer.bytes.length));
});

Deno.test("The description is valid by the official schema of OpenAPI 3.1.", async () => {
  await using server = await TestServer.start();
  const validator = new Validator();
  const description = (await read(server)).expect(200).json as Record<string, unknown>;
  const { valid, errors } = await validator.validate(description);
  assertEquals(errors, undefined);
  assertEquals([valid, validator.version], [true, "3.1"]);
});

Deno.test("No schema has the name of the constructor of another: generated Go would have it twice.", async () => {
  await using server = await TestServer.start();
  const { components } = (await read(server)).expect(200).json as {
    components: { schemas: Record<string, unknown> };
  };
  const names = Object.keys(components.schemas);
  assertGreater(names.length, 20);
  assertEquals(names.filter((name) => names.includes(`New${name}`)), []);
});

Deno.test("A matching ETag gets 304, and HEAD has no body.", async () => {
  await using server = await TestServer.start();
  const whole = (await read(server)).expect(200);
  const known = (await read(server, { "If-None-Match": whole.header("ETag") })).expect(304);
  assertEquals([known.bytes.length, known.header("ETag")], [0, whole.header("ETag")]);
  (await read(server, { "If-None-Match": `"other", W/${whole.header("ETag")}` })).expect(304);
  (await read(server, { "If-None-Match": '"other"' })).expect(200);
  const head = (await sendRaw(server.port, rawRequest("HEAD", "/openapi.json"))).expect(200);
  assertEquals(head.bytes.length, 0);
  assertEquals(head.header("Content-Length"), String(whole.bytes.length));
});

Deno.test("Pages of every origin may read the description, with any --cors-origin.", async () => {
  const args = ["--cors-origin", "https://app.example"];
  await using server = await TestServer.start({ ...ADMINISTERED, args });
  for (const origin of ["https://app.example", "https://docs.example"]) {
    assertEquals(openTo((await read(server, { Origin: origin })).expect(200)), "*");
  }
  assertEquals(openTo((await read(server)).expect(200)), "*");
});

Deno.test("The description cannot be changed, and nothing is below it.", async () => {
  await using server = await TestServer.start();
  const refused = (await read(server, {}, "PUT")).expect(405);
  assertEquals(refused.header("Allow"), "GET, HEAD, OPTIONS");
  assertEquals(
    (await read(server, {}, "OPTIONS")).expect(204).header("Allow"),
    "GET, HEAD, OPTIONS",
  );
  const below = await fetch(`${server.origin}/openapi.json/x`);
  assertEquals((await Answer.of(below)).expect(404).errors.length, 1);
});
