import { assertEquals } from "@std/assert";
import { pagingOf } from "./paging.ts";

Deno.test("There is a paging object if and only if there is a further page", () => {
  assertEquals(pagingOf(["a", "b"], true), { paging: { size: 2, last: "b" } });
  assertEquals(pagingOf([""], true), { paging: { size: 1, last: "" } });
  for (const names of [[], ["a"]]) assertEquals(pagingOf(names, false), {});
  assertEquals(pagingOf([], true), {});
});
