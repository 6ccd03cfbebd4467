import { assertEquals } from "@std/assert";
import { shortRequests } from "./concurrency.ts";

Deno.test("Small files use the connections of HTTP/1.1, and more requests at once over HTTP/2 and HTTP/3", () => {
  assertEquals(["http/1.1", "", "h2", "h3"].map(shortRequests), [5, 5, 12, 12]);
});
