import { assertEquals, assertThrows } from "@std/assert";
import { HttpError } from "./http_error.ts";
import {
  assertHost,
  decodeLeniently,
  decodeSegment,
  parseTarget,
  type RequestTarget,
} from "./request_target.ts";

/** A request as the server gives it: its address is what was sent, where a constructor would tidy it up. */
function requestTo(url: string): Request {
  return Object.defineProperty(new Request("http://kv.example/"), "url", { value: url });
}

Deno.test("Path and query are what was sent", () => {
  const cases: readonly (readonly [string, RequestTarget])[] = [
    ["/", { segments: [""], query: "" }],
    ["/v1/p/d/files", { segments: ["v1", "p", "d", "files"], query: "" }],
    ["/v1/p?a=b", { segments: ["v1", "p"], query: "a=b" }],
    ["/v1/../p/./d/..", { segments: ["v1", "..", "p", ".", "d", ".."], query: "" }],
    ["/%2e%2E/a%2Fb", { segments: ["%2e%2E", "a%2Fb"], query: "" }],
    ["/a//b/", { segments: ["a", "", "b", ""], query: "" }],
    ["//a", { segments: ["", "a"], query: "" }],
    ["/a\\b", { segments: ["a\\b"], query: "" }],
    ["/a?", { segments: ["a"], query: "" }],
    ["/a?b/c?d://e", { segments: ["a"], query: "b/c?d://e" }],
    ["/http://other/x", { segments: ["http:", "", "other", "x"], query: "" }],
  ];
  for (const [target, wanted] of cases) {
    for (const origin of ["http://kv.example", "https://kv.example:8000", "http://[::1]:8000"]) {
      assertEquals(parseTarget(requestTo(origin + target)), wanted, origin + target);
    }
  }
});

Deno.test("An address without a path has one empty segment", () => {
  for (const rest of ["", "?", "?a=b", "?a=/b/c", "?/"]) {
    const query = rest.slice(1);
    const found = parseTarget(requestTo(`http://kv.example${rest}`));
    assertEquals(found, { segments: [""], query }, rest);
  }
});

Deno.test("A host is a name or an address, with a port or without", () => {
  const hosts = [
    null,
    "",
    "localhost",
    "kv.example",
    "KV.Example:443",
    "127.0.0.1:8000",
    "[::1]",
    "[2001:db8::1]:65535",
    "my_host",
    "host:",
    "host:0",
    "xn--bcher-kva.example",
  ];
  for (const host of hosts) {
    assertHost(new Headers(host === null ? {} : { host }));
  }
});

Deno.test("What is no host is refused, as it could pass for a part of the path", () => {
  const hosts = [
    "a/b",
    "a/v1/p",
    "bad host",
    "a?b",
    "a#b",
    "user@host",
    "a\\b",
    "host:80:80",
    "host:port",
    "host:65536",
    "host:123456",
    "host:-1",
    "[::1",
    "::1",
    "[::1]x",
    "[g::1]",
    "a%2Fb",
    '"a"',
    "<a>",
  ];
  for (const host of hosts) {
    const judge = () => assertHost(new Headers({ host }));
    assertEquals(assertThrows(judge, HttpError, "The Host header").status, 400, host);
  }
});

Deno.test("A segment is decoded once, and a plus in it is a plus", () => {
  const cases = [
    ["photos", "photos"],
    ["my%20photos", "my photos"],
    ["a+b", "a+b"],
    ["%2e%2e", ".."],
    ["a%2Fb", "a/b"],
    ["%252F", "%2F"],
    ["%F0%9F%98%80", "😀"],
    ["%00", "\0"],
    ["", ""],
  ] as const;
  for (const [segment, text] of cases) {
    assertEquals([decodeSegment(segment), decodeLeniently(segment)], [text, text]);
  }
  for (const segment of ["%", "%2", "%zz", "%FF", "%C0%AF", "%ED%A0%80"]) {
    const error = assertThrows(() => decodeSegment(segment), HttpError, "The path is not");
    assertEquals(error.status, 400, segment);
    assertEquals(decodeLeniently(segment), segment);
  }
});
