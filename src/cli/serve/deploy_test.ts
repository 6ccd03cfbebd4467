import { assertEquals, assertStrictEquals } from "@std/assert";
import { forOlderRuntimes, isRecentRuntime } from "./deploy.ts";

Deno.test("A runtime is recent from version 2.9", () => {
  for (const version of ["2.9.0", "2.10.1", "3.0.0"]) assertEquals(isRecentRuntime(version), true);
  for (const version of ["1.46.3", "2.5.0", "2.8.9"]) assertEquals(isRecentRuntime(version), false);
});

Deno.test("An older runtime is told not to compress answers", async () => {
  const answer = () => Promise.resolve(new Response("a", { headers: { "Cache-Control": "b" } }));
  assertStrictEquals(forOlderRuntimes(answer, true), answer);
  const headerOf = async (init: RequestInit, handler = answer) => {
    const { headers } = await forOlderRuntimes(handler, false)(new Request("http://a/", init));
    return headers.get("cache-control");
  };
  const zipping = { headers: { "Accept-Encoding": "gzip" } };
  assertEquals(await headerOf(zipping), "b, no-transform");
  assertEquals(await headerOf(zipping, () => Promise.resolve(new Response("a"))), "no-transform");
  // Neither requests without compression nor compressed answers are changed.
  assertEquals(await headerOf({}), "b");
  assertEquals(await headerOf(zipping, () => Promise.resolve(new Response(null))), null);
  const packed = { "Cache-Control": "b", "Content-Encoding": "gzip" };
  const packedAnswer = () => Promise.resolve(new Response("a", { headers: packed }));
  assertEquals(await headerOf(zipping, packedAnswer), "b");
});

Deno.test("An older runtime announces the end of a connection whose request body was not read", async () => {
  const headerOf = async (status: number, init: RequestInit) => {
    const answer = () => Promise.resolve(new Response("a", { status }));
    const request = new Request("http://a/", init);
    return (await forOlderRuntimes(answer, false)(request)).headers.get("connection");
  };
  const sending = { method: "POST", body: "b" };
  assertEquals(await headerOf(404, sending), "close");
  assertEquals(await headerOf(200, sending), null);
  assertEquals(await headerOf(404, {}), null);
});
