import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { ApiError, refused } from "./api_error.js";
import { pathOf, queryOf } from "./call.js";

Deno.test("A path keeps its segments apart for all characters", () => {
  assertEquals(pathOf("v1", "p", "a b", "files"), "/v1/p/a%20b/files");
  assertEquals(pathOf("v1", "a/b?c#d%"), "/v1/a%2Fb%3Fc%23d%25");
});

Deno.test("Segments that browsers resolve are refused", () => {
  for (const name of [".", ".."]) {
    const error = assertThrows(() => pathOf("v1", "p", name), ApiError);
    assertEquals(error.message.includes(`"${name}"`), true);
  }
});

Deno.test("A query leaves out undefined values", () => {
  assertEquals(queryOf({ prefix: "", last: undefined }), "");
  const query = queryOf({ name: "1+1=2 & ü", part: 3, recursive: false, last: undefined });
  assertEquals(query, "?name=1%2B1%3D2+%26+%C3%BC&part=3&recursive=false");
});

Deno.test("A refusal has the server's sentence, or its status", () => {
  assertEquals(refused(404, '{"errors":["There is none"]}').message, "There is none");
  for (const text of ["", "<html>", "null", '{"errors":[]}', '{"errors":[1]}', "{}"]) {
    const { status, message } = refused(502, text);
    assertEquals([status, message], [502, "The server answered with status 502"]);
  }
});

Deno.test("A 413 of a proxy names the proxies' settings", () => {
  assertMatch(refused(413, "<html>").message, /nginx: client_max_body_size, Caddy: .*, Traefik: /);
  assertEquals(refused(413, '{"errors": ["Too large"]}').message, "Too large");
});
