import { assertEquals, assertThrows } from "@std/assert";
import { responseFraming } from "./framing.ts";
import { Malformed } from "./malformed.ts";
import { parseResponseHead } from "./response_head.ts";

Deno.test("The head of an answer is taken apart as it came", () => {
  const head = parseResponseHead("HTTP/1.1 200 All  fine\r\nSet-Cookie: a\r\nset-cookie: b=\xe9");
  assertEquals([head.status, head.reason, head.minor], [200, "All  fine", 1]);
  const lines = head.fields.map(({ name, value }) => `${name}=${value}`);
  assertEquals(lines, ["Set-Cookie=a", "set-cookie=b=\xe9"]);
  assertEquals(parseResponseHead("HTTP/1.0 404 ").minor, 0);
  assertEquals(parseResponseHead("HTTP/1.1 404").reason, "");
});

Deno.test("An answer that is none is refused", () => {
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
  for (const text of bad) assertThrows(() => parseResponseHead(text), Malformed, "", text);
});

const CASES: [string, string, ReturnType<typeof responseFraming> | "refused"][] = [
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
  ["GET", "HTTP/1.1 200 X\r\nContent-Length: 5\r\nContent-Length: 6", "refused"],
  ["GET", "HTTP/1.1 200 X\r\nContent-Length: 5, 5", "refused"],
  ["GET", "HTTP/1.1 200 X\r\nContent-Length: 5\r\nTransfer-Encoding: chunked", "refused"],
  ["GET", "HTTP/1.1 200 X\r\nTransfer-Encoding: gzip, chunked", "refused"],
  ["GET", "HTTP/1.0 200 X\r\nTransfer-Encoding: chunked", "refused"],
];

Deno.test("The framing of an answer's body is known, or the answer is refused", () => {
  for (const [method, text, wanted] of CASES) {
    const framing = () => responseFraming(method, parseResponseHead(text));
    if (wanted === "refused") assertThrows(framing, Malformed, "", text);
    else assertEquals(framing(), wanted, text);
  }
});
