import { assertEquals } from "@std/assert";
import { isRecentRuntime, protectFromRuntime } from "./runtime_handler.ts";

Deno.test("A runtime is recent from version 2.9", () => {
  for (const version of ["2.9.0", "2.10.1", "3.0.0"]) assertEquals(isRecentRuntime(version), true);
  for (const version of ["1.46.3", "2.5.0", "2.8.9"]) assertEquals(isRecentRuntime(version), false);
});

Deno.test("A runtime is told not to compress answers", () => {
  const answer = () => new Response("a", { headers: { "Cache-Control": "b" } });
  const headerOf = (init: RequestInit, response = answer()) =>
    protectFromRuntime(new Request("http://a/", init), response).headers.get("cache-control");
  const zipping = { headers: { "Accept-Encoding": "gzip" } };
  assertEquals(headerOf(zipping), "b, no-transform");
  assertEquals(headerOf(zipping, new Response("a")), "no-transform");
  // Neither requests without compression nor compressed answers are changed.
  assertEquals(headerOf({}), "b");
  assertEquals(headerOf(zipping, new Response(null)), null);
  const packed = { "Cache-Control": "b", "Content-Encoding": "gzip" };
  assertEquals(headerOf(zipping, new Response("a", { headers: packed })), "b");
});

Deno.test("An older runtime announces the end of a connection whose request body was not read", () => {
  const headerOf = (status: number, init: RequestInit) => {
    const request = new Request("http://a/", init);
    const response = new Response("a", { status });
    return protectFromRuntime(request, response, false).headers.get("connection");
  };
  const sending = { method: "POST", body: "b" };
  assertEquals(headerOf(404, sending), "close");
  assertEquals(headerOf(200, sending), null);
  assertEquals(headerOf(404, {}), null);
});
