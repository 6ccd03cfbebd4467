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
