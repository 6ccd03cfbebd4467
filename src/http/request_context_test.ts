import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { requestIdOf } from "./request_context.ts";

function idOf(given: string): string {
  return requestIdOf(new Headers({ "x-request-id": given }));
}

Deno.test("a valid id of the caller is kept", () => {
  const ids = ["1", "a-b_c.d~e:f@g/h+i=", crypto.randomUUID(), "x".repeat(128)];
  for (const id of ids) assertEquals(idOf(id), id);
});

Deno.test("an invalid or missing id is replaced by a new one", () => {
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  const bad = ["", "x".repeat(129), "a b", 'a"b', "a,b", "<a>", "a;b", "a\\b", "{a}", "\u00e4"];
  for (const id of bad) assertMatch(idOf(id), uuid);
  assertMatch(requestIdOf(new Headers()), uuid);
  assertNotEquals(requestIdOf(new Headers()), requestIdOf(new Headers()));
});

Deno.test("an id that contains a secret of the caller is replaced", () => {
  const headers = new Headers({ "x-request-id": "a-secret-b", "x-api-key": "p_other" });
  assertEquals(requestIdOf(headers), "a-secret-b");
  assertEquals(requestIdOf(headers, ["secreta"]), "a-secret-b");
  assertNotEquals(requestIdOf(headers, ["secret"]), "a-secret-b");
  for (const password of ["secret", "secreta", ""]) {
    headers.set("authorization", `Basic ${btoa(`user:${password}`)}`);
    assertEquals(requestIdOf(headers) === "a-secret-b", password !== "secret", password);
  }
  headers.set("x-api-key", "secret");
  assertNotEquals(requestIdOf(headers), "a-secret-b");
});
