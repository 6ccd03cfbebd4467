import { assertEquals } from "@std/assert";
import { nameOf, rawRequest } from "./template.ts";

const ORIGIN = "http://127.0.0.1:8000";
const decoder = new TextDecoder();

Deno.test("rawRequest() splits an upload at its name", () => {
  const body = new TextEncoder().encode("body with {n}");
  const headers = { "X-Api-Key": "key" };
  const raw = rawRequest(ORIGIN, { method: "PUT", target: "/a/{n}?b", headers, body });
  assertEquals(decoder.decode(raw.before), "PUT /a/");
  assertEquals(
    decoder.decode(raw.after),
    "?b HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nX-Api-Key: key\r\nContent-Length: 13\r\n\r\nbody with {n}",
  );
});

Deno.test("rawRequest() has nothing behind a name that is not there", () => {
  const raw = rawRequest(ORIGIN, { method: "GET", target: "/", headers: {} });
  assertEquals(decoder.decode(raw.before), "GET / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n");
  assertEquals(raw.after.byteLength, 0);
});

Deno.test("nameOf() gives names of one length", () => {
  assertEquals([nameOf(0), nameOf(123_456_789)], ["0000000000", "0123456789"]);
});
