import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { responseFraming } from "./body.ts";
import { MalformedMessage } from "./headers.ts";
import {
  MAX_HEAD,
  MAX_HEADERS,
  MAX_TARGET,
  parseRequestHead,
  parseResponseHead,
  readHead,
} from "./message_head.ts";
import { cuts, readerOf } from "./test_support.ts";

Deno.test("A head is read no matter how it is split, and the following bytes are kept", async () => {
  const head = "GET / HTTP/1.1\r\nHost: a\r\nX-A:\tb \xe9";
  for (const pieces of cuts(`${head}\r\n\r\nrest`)) {
    const reader = readerOf(...pieces);
    assertEquals(await readHead(reader), head, JSON.stringify(pieces));
    while (await reader.fill());
    assertEquals(reader.text(reader.start, reader.end), "rest");
  }
});

Deno.test("Two heads that arrive together are read one by one", async () => {
  for (const pieces of cuts("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n")) {
    const reader = readerOf(...pieces);
    assertEquals(await readHead(reader), "GET /1 HTTP/1.1");
    assertEquals(await readHead(reader), "GET /2 HTTP/1.1");
    assertEquals(await readHead(reader), undefined);
  }
});

Deno.test("One empty line before a head is skipped", async () => {
  for (const pieces of cuts("\r\nGET / HTTP/1.1\r\n\r\n")) {
    assertEquals(await readHead(readerOf(...pieces)), "GET / HTTP/1.1", JSON.stringify(pieces));
  }
});

const INVALID_HEADS: Record<string, string> = {
  "a bare LF": "GET / HTTP/1.1\nHost: a\r\n\r\n",
  "a bare LF at the end": "GET / HTTP/1.1\r\nHost: a\n\n",
  "a bare LF before the empty line": "GET / HTTP/1.1\r\nHost: a\n\r\n",
  "an LF first": "\nGET / HTTP/1.1\r\n\r\n",
  "a bare CR": "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n",
  "two CR": "GET / HTTP/1.1\r\r\n\r\n",
  "NUL": "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n",
  "a vertical tab": "GET / HTTP/1.1\r\nHost: a\x0b\r\n\r\n",
  "DEL": "GET / HTTP/1.1\r\nHost: a\x7f\r\n\r\n",
  "no end": "GET / HTTP/1.1\r\nHost: a\r\n",
  "half of the last line end": "GET / HTTP/1.1\r\nHost: a\r\n\r",
};

for (const [name, text] of Object.entries(INVALID_HEADS)) {
  Deno.test(`A head with ${name} is rejected no matter how it is split`, async () => {
    for (const pieces of cuts(text)) {
      const error = await assertRejects(() => readHead(readerOf(...pieces)), MalformedMessage);
      assertEquals(error.status, 400);
    }
  });
}

Deno.test("The size of a head is limited", async () => {
  const start = "GET / HTTP/1.1\r\nX: ";
  const whole = start + "x".repeat(MAX_HEAD - start.length - 4) + "\r\n\r\n";
  assertEquals(await readHead(readerOf(whole)), whole.slice(0, -4));
  const long = start + "x".repeat(MAX_HEAD - start.length - 3) + "\r\n\r\n";
  const error = await assertRejects(() => readHead(readerOf(long)), MalformedMessage);
  assertEquals(error.status, 431);
});

function statusOf(text: string): number {
  return assertThrows(() => parseRequestHead(text), MalformedMessage, "", JSON.stringify(text))
    .status;
}

function request(line: string, ...headers: string[]): string {
  return [line, "Host: a.example", ...headers].join("\r\n");
}

Deno.test("A request head is parsed without changes", () => {
  const head = parseRequestHead(
    request("pOST /a//b?c=%zz|{} HTTP/1.1", "X-A:  b\t ", "x-a:", "Connection: Keep-Alive, X-A"),
  );
  assertEquals([head.method, head.target, head.minor], ["pOST", "/a//b?c=%zz|{}", 1]);
  assertEquals(head.host, "a.example");
  assertEquals([...head.connection], ["keep-alive", "x-a"]);
  assertEquals(head.headers.map(({ name, value }) => [name, value]), [
    ["Host", "a.example"],
    ["X-A", "b"],
    ["x-a", ""],
    ["Connection", "Keep-Alive, X-A"],
  ]);
});

Deno.test("An invalid request line is rejected", () => {
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

Deno.test("A server takes a target with bytes outside ASCII as if it were percent-encoded", () => {
  const { target } = parseRequestHead(request("GET /\xc3\xa9%C3?a=\xff\x80b HTTP/1.1"), "server");
  assertEquals(target, "/%C3%A9%C3?a=%FF%80b");
  const refused = () => parseRequestHead(request("GET /\xc3\xa9 HTTP/1.1"), "proxy");
  assertThrows(refused, MalformedMessage);
});

Deno.test("An invalid header is rejected", () => {
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

Deno.test("The number of headers is limited", () => {
  const headers = Array.from({ length: MAX_HEADERS - 1 }, (_, i) => `X-${i}: ${i}`);
  assertEquals(parseRequestHead(request("GET / HTTP/1.1", ...headers)).headers.length, MAX_HEADERS);
  assertEquals(statusOf(request("GET / HTTP/1.1", ...headers, "X: y")), 431);
});

Deno.test("A request has exactly one valid Host", () => {
  const bad = ["", "a b", "a/b", "a@b", "a:b", "a:", "a:123456", "[::1", "a,b", "a\\b", "a#b", "é"];
  for (const host of bad) assertEquals(statusOf(`GET / HTTP/1.1\r\nHost: ${host}`), 400, host);
  for (const host of ["a", "A.example.", "a:80", "127.0.0.1:8001", "[::1]", "[::1]:80", "a_b"]) {
    assertEquals(parseRequestHead(`GET / HTTP/1.1\r\nHost: ${host}`).host, host);
  }
  assertEquals(statusOf("GET / HTTP/1.1"), 400);
  assertEquals(parseRequestHead("GET / HTTP/1.0").host, undefined);
});

Deno.test("An ambiguous framing of a request is rejected", () => {
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

Deno.test("The framing of a request follows its headers", () => {
  const framing = (...headers: string[]) =>
    parseRequestHead(request("POST / HTTP/1.1", ...headers)).framing;
  assertEquals(framing(), { kind: "length", length: 0 });
  assertEquals(framing("Content-Length: 0"), { kind: "length", length: 0 });
  assertEquals(framing("content-length:  0012 "), { kind: "length", length: 12 });
  assertEquals(framing("Transfer-Encoding: Chunked"), { kind: "chunked" });
});

Deno.test("A response head is parsed without changes", () => {
  const head = parseResponseHead("HTTP/1.1 200 All  fine\r\nSet-Cookie: a\r\nset-cookie: b=\xe9");
  assertEquals([head.status, head.reason, head.minor], [200, "All  fine", 1]);
  const lines = head.headers.map(({ name, value }) => `${name}=${value}`);
  assertEquals(lines, ["Set-Cookie=a", "set-cookie=b=\xe9"]);
  assertEquals(parseResponseHead("HTTP/1.0 404 ").minor, 0);
  assertEquals(parseResponseHead("HTTP/1.1 404").reason, "");
});

Deno.test("An invalid response head is rejected", () => {
  const bad = [
    "HTTP/2 200 OK",
    "HTTP/1.1  200 OK",
    "HTTP/1.1 20 OK",
    "HTTP/1.1 2000 OK",
    "HTTP/1.1 600 OK",
    "HTTP/1.1 099 OK",
    "http/1.1 200 OK",
    "200 OK",
    "",
    "HTTP/1.1 200 OK\r\nX-A : b",
    "HTTP/1.1 200 OK\r\n folded",
  ];
  for (const text of bad) assertThrows(() => parseResponseHead(text), MalformedMessage, "", text);
});

const RESPONSE_FRAMINGS: [string, string, ReturnType<typeof responseFraming> | "rejected"][] = [
  ["GET", "HTTP/1.1 200 OK\r\nContent-Length: 5", { kind: "length", length: 5 }],
  ["GET", "HTTP/1.1 200 OK", { kind: "close" }],
  ["GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", { kind: "chunked" }],
  ["HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5", { kind: "length", length: 0 }],
  ["HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", { kind: "length", length: 0 }],
  ["GET", "HTTP/1.1 304 X\r\nContent-Length: 5", { kind: "length", length: 0 }],
  ["GET", "HTTP/1.1 204 X", { kind: "length", length: 0 }],
  ["GET", "HTTP/1.1 200 X\r\nContent-Length: 5\r\nContent-Length: 5", {
    kind: "length",
    length: 5,
  }],
  ["GET", "HTTP/1.1 200 X\r\nContent-Length: 5\r\nContent-Length: 6", "rejected"],
  ["GET", "HTTP/1.1 200 X\r\nContent-Length: 5, 5", "rejected"],
  ["GET", "HTTP/1.1 200 X\r\nContent-Length: 5\r\nTransfer-Encoding: chunked", "rejected"],
  ["GET", "HTTP/1.1 200 X\r\nTransfer-Encoding: gzip, chunked", "rejected"],
  ["GET", "HTTP/1.0 200 X\r\nTransfer-Encoding: chunked", "rejected"],
];

Deno.test("An ambiguous framing of a response is rejected", () => {
  for (const [method, text, wanted] of RESPONSE_FRAMINGS) {
    const framing = () => responseFraming(method, parseResponseHead(text));
    if (wanted === "rejected") assertThrows(framing, MalformedMessage, "", text);
    else assertEquals(framing(), wanted, text);
  }
});
