import { assertEquals, assertRejects } from "@std/assert";
import { MAX_HEAD } from "../drive/limits.ts";
import { Malformed } from "./malformed.ts";
import { readHead } from "./read_head.ts";
import { cuts, readerOf } from "./test_support.ts";

Deno.test("A head is read wherever it is cut, and what follows stays", async () => {
  const head = "GET / HTTP/1.1\r\nHost: a\r\nX-A:\tb \xe9";
  for (const pieces of cuts(`${head}\r\n\r\nrest`)) {
    const reader = readerOf(...pieces);
    assertEquals(await readHead(reader), head, JSON.stringify(pieces));
    while (await reader.fill());
    assertEquals(reader.text(reader.start, reader.end), "rest");
  }
});

Deno.test("Two heads that come together are read one after the other", async () => {
  for (const pieces of cuts("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n")) {
    const reader = readerOf(...pieces);
    assertEquals(await readHead(reader), "GET /1 HTTP/1.1");
    assertEquals(await readHead(reader), "GET /2 HTTP/1.1");
    assertEquals(await readHead(reader), undefined);
  }
});

Deno.test("One empty line before a head is left out", async () => {
  for (const pieces of cuts("\r\nGET / HTTP/1.1\r\n\r\n")) {
    assertEquals(await readHead(readerOf(...pieces)), "GET / HTTP/1.1", JSON.stringify(pieces));
  }
});

const BAD: Record<string, string> = {
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
  "an end in the last line end": "GET / HTTP/1.1\r\nHost: a\r\n\r",
};

for (const [name, text] of Object.entries(BAD)) {
  Deno.test(`A head with ${name} is refused, wherever it is cut`, async () => {
    for (const pieces of cuts(text)) {
      const error = await assertRejects(() => readHead(readerOf(...pieces)), Malformed);
      assertEquals(error.status, 400);
    }
  });
}

Deno.test("A head may have exactly as many bytes as it may have", async () => {
  const start = "GET / HTTP/1.1\r\nX: ";
  const whole = start + "x".repeat(MAX_HEAD - start.length - 4) + "\r\n\r\n";
  assertEquals(await readHead(readerOf(whole)), whole.slice(0, -4));
  const long = start + "x".repeat(MAX_HEAD - start.length - 3) + "\r\n\r\n";
  const error = await assertRejects(() => readHead(readerOf(long)), Malformed);
  assertEquals(error.status, 431);
});
