import { assertEquals, assertThrows } from "@std/assert";
import { MAX_FIELDS, MAX_TARGET } from "../drive/limits.ts";
import { Malformed } from "./malformed.ts";
import { parseRequestHead } from "./request_head.ts";

function statusOf(text: string): number {
  return assertThrows(() => parseRequestHead(text), Malformed, "", JSON.stringify(text)).status;
}

function request(line: string, ...headers: string[]): string {
  return [line, "Host: a.example", ...headers].join("\r\n");
}

Deno.test("A head is taken apart as it came", () => {
  const head = parseRequestHead(
    request("pOST /a//b?c=%zz|{} HTTP/1.1", "X-A:  b\t ", "x-a:", "Connection: Keep-Alive, X-A"),
  );
  assertEquals([head.method, head.target, head.minor], ["pOST", "/a//b?c=%zz|{}", 1]);
  assertEquals(head.host, "a.example");
  assertEquals(head.connection, ["keep-alive", "x-a"]);
  assertEquals(head.fields.map(({ name, value }) => [name, value]), [
    ["Host", "a.example"],
    ["X-A", "b"],
    ["x-a", ""],
    ["Connection", "Keep-Alive, X-A"],
  ]);
});

Deno.test("A first line that is none is refused", () => {
  const cases: [string, number][] = [
    ["GET /", 400],
    ["GET  HTTP/1.1", 400],
    ["GET / ", 400],
    ["GET / HTTP/1.1 ", 400],
    ["GET  / HTTP/1.1", 400],
    [" GET / HTTP/1.1", 400],
    ["GET\t/ HTTP/1.1", 400],
    ["GET /a b HTTP/1.1", 400],
    ["GET /\tb HTTP/1.1", 400],
    ["G@T / HTTP/1.1", 400],
    ["", 400],
    ["GET / http/1.1", 400],
    ["GET / HTTP/1.10", 400],
    ["GET / HTTP/1.2", 505],
    ["GET / HTTP/2.0", 505],
    ["GET / HTTP/2", 505],
    ["GET / HTTP/0.9", 505],
    ["GET http://a.example/ HTTP/1.1", 400],
    ["GET a.example:80 HTTP/1.1", 400],
    ["GET * HTTP/1.1", 400],
    ["GET ?a HTTP/1.1", 400],
    ["GET /# HTTP/1.1", 400],
    ["GET /\xe9 HTTP/1.1", 400],
    ["CONNECT a.example:80 HTTP/1.1", 405],
    ["TRACE / HTTP/1.1", 405],
    [`GET /${"a".repeat(MAX_TARGET)} HTTP/1.1`, 414],
  ];
  for (const [line, status] of cases) assertEquals(statusOf(request(line)), status, line);
  assertEquals(parseRequestHead(request("OPTIONS * HTTP/1.1")).target, "*");
  const longest = `/${"a".repeat(MAX_TARGET - 1)}`;
  assertEquals(parseRequestHead(request(`GET ${longest} HTTP/1.1`)).target, longest);
});

Deno.test("A header that is none is refused", () => {
  const bad = [
    "X-A : b",
    " X-A: b",
    "\tX-A: b",
    "X-A",
    ": b",
    "X A: b",
    "X-Ä: b",
    "X(A): b",
    '"X": b',
    "Host: b.example",
    "",
  ];
  for (const header of bad) assertEquals(statusOf(request("GET / HTTP/1.1", header)), 400, header);
});

Deno.test("A request may have exactly as many headers as it may have", () => {
  const headers = Array.from({ length: MAX_FIELDS - 1 }, (_, i) => `X-${i}: ${i}`);
  assertEquals(parseRequestHead(request("GET / HTTP/1.1", ...headers)).fields.length, MAX_FIELDS);
  assertEquals(statusOf(request("GET / HTTP/1.1", ...headers, "X: y")), 431);
});

Deno.test("The Host comes once and is one", () => {
  const bad = ["", "a b", "a/b", "a@b", "a:b", "a:", "a:123456", "[::1", "a,b", "a\\b", "a#b", "é"];
  for (const host of bad) assertEquals(statusOf(`GET / HTTP/1.1\r\nHost: ${host}`), 400, host);
  for (const host of ["a", "A.example.", "a:80", "127.0.0.1:8001", "[::1]", "[::1]:80", "a_b"]) {
    assertEquals(parseRequestHead(`GET / HTTP/1.1\r\nHost: ${host}`).host, host);
  }
  assertEquals(statusOf("GET / HTTP/1.1"), 400);
  assertEquals(parseRequestHead("GET / HTTP/1.0").host, undefined);
});

Deno.test("A body of which two readers could see two ends is refused", () => {
  const bad: [number, ...string[]][] = [
    [400, "Content-Length: 1", "Content-Length: 1"],
    [400, "Content-Length: 1", "Content-Length: 2"],
    [400, "Content-Length: 1, 1"],
    [400, "Content-Length: +1"],
    [400, "Content-Length: -1"],
    [400, "Content-Length: 0x1"],
    [400, "Content-Length: 1e3"],
    [400, "Content-Length: 1 1"],
    [400, "Content-Length:"],
    [400, "Content-Length: 99999999999999999999"],
    [400, "Content-Length: 1", "Transfer-Encoding: chunked"],
    [400, "Transfer-Encoding: chunked", "Content-Length: 0"],
    [400, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
    [501, "Transfer-Encoding: chunked, chunked"],
    [501, "Transfer-Encoding: gzip, chunked"],
    [501, "Transfer-Encoding: identity"],
    [501, "Transfer-Encoding: xchunked"],
    [501, "Transfer-Encoding: \x0bchunked"],
    [501, "Transfer-Encoding: chunked;a=b"],
    [501, "Transfer-Encoding:"],
  ];
  for (const [status, ...headers] of bad) {
    const about = headers.join(" | ");
    assertEquals(statusOf(request("POST / HTTP/1.1", ...headers)), status, about);
  }
  const old = "POST / HTTP/1.0\r\nTransfer-Encoding: chunked";
  assertEquals(statusOf(old), 400);
});

Deno.test("The framing of a body is known", () => {
  const framing = (...headers: string[]) =>
    parseRequestHead(request("POST / HTTP/1.1", ...headers)).framing;
  assertEquals(framing(), { kind: "length", length: 0 });
  assertEquals(framing("Content-Length: 0"), { kind: "length", length: 0 });
  assertEquals(framing("content-length:  0012 "), { kind: "length", length: 12 });
  assertEquals(framing("Transfer-Encoding: Chunked"), { kind: "chunked" });
});
