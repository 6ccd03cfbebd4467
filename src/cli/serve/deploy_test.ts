import { assertEquals, assertStrictEquals } from "@std/assert";
import { forOlderRuntimes, isRecentRuntime } from "./deploy.ts";

Deno.test("A runtime is recent from version 2.9", () => {
  for (const version of ["2.9.0", "2.10.1", "3.0.0"]) assertEquals(isRecentRuntime(version), true);
  for (const version of ["1.46.3", "2.5.0", "2.8.9"]) assertEquals(isRecentRuntime(version), false);
});

Deno.test("An older runtime is told not to compress answers", async () => {
  const answer = () => Promise.resolve(new Response("a", { headers: { "Cache-Control": "b" } }));
  assertStrictEquals(forOlderRuntimes(answer, true), answer);
  const told = async (init: RequestInit, handler = answer) => {
    const { headers } = await forOlderRuntimes(handler, false)(new Request("http://a/", init));
    return headers.get("cache-control");
  };
  const zipping = { headers: { "Accept-Encoding": "gzip" } };
  assertEquals(await told(zipping), "b, no-transform");
  assertEquals(await told(zipping, () => Promise.resolve(new Response("a"))), "no-transform");
  // It changes neither small answers nor compressed ones.
  assertEquals(await told({}), "b");
  assertEquals(await told(zipping, () => Promise.resolve(new Response(null))), null);
  const packed = { "Cache-Control": "b", "Content-Encoding": "gzip" };
  const packedAnswer = () => Promise.resolve(new Response("a", { headers: packed }));
  assertEquals(await told(zipping, packedAnswer), "b");
});

Deno.test("An older runtime announces the end of a connection whose request body was not read", async () => {
  const told = async (status: number, init: RequestInit) => {
    const answer = () => Promise.resolve(new Response("a", { status }));
    const request = new Request("http://a/", init);
    return (await forOlderRuntimes(answer, false)(request)).headers.get("connection");
  };
  const sending = { method: "POST", body: "b" };
  assertEquals(await told(404, sending), "close");
  assertEquals(await told(200, sending), null);
  assertEquals(await told(404, {}), null);
});
