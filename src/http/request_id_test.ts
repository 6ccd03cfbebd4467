import { assertEquals, assertMatch } from "@std/assert";
import { RequestIds } from "./request_id.ts";

const ids = new RequestIds();

function idOf(given: string): string {
  return ids.of(new Headers({ "x-request-id": given }));
}

Deno.test("A sane id of the caller is kept", () => {
  const sane = ["1", "a-b_c.d~e:f@g/h+i=", crypto.randomUUID(), "x".repeat(128)];
  for (const id of sane) assertEquals(idOf(id), id);
});

Deno.test("Another id, or none, is replaced by a new one", () => {
  const fresh = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-z]+$/;
  const bad = ["", "x".repeat(129), "a b", 'a"b', "a,b", "<a>", "a;b", "a\\b", "{a}", "\u00e4"];
  const made = bad.map((id) => idOf(id));
  made.push(ids.of(new Headers()), new RequestIds().of(new Headers()));
  for (const id of made) assertMatch(id, fresh);
  assertEquals(new Set(made).size, made.length);
});
