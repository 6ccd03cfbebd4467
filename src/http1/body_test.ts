import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ChunkedBody, MAX_CHUNK_LINE, MAX_TRAILERS } from "./body.ts";
import type { ByteReader } from "./connection.ts";
import { MalformedMessage } from "./headers.ts";
import { cuts, readerOf } from "./test_support.ts";

/** Returns the whole body, or `undefined` if it is incomplete. */
async function readAll(reader: ByteReader): Promise<string | undefined> {
  const body = new ChunkedBody(reader);
  let text = "";
  for (;;) {
    text += new TextDecoder("latin1").decode(body.take());
    if (body.isDone) return text;
    if (!await reader.fill()) return body.end() ? text : undefined;
  }
}

const GOOD: Record<string, [string, string]> = {
  "chunks": ["5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world"],
  "no data": ["0\r\n\r\n", ""],
  "extensions": ['5;a=b;c="d"\r\nhello\r\n0;last\r\n\r\n', "hello"],
  "trailers": ["5\r\nhello\r\n0\r\nX-A: b\r\nX-C: d\r\n\r\n", "hello"],
  "sizes with leading zeros and letters": [
    "000A\r\n0123456789\r\nb\r\n01234567890\r\n000\r\n\r\n",
    "012345678901234567890",
  ],
  "line ends in the data": ["6\r\n\r\n0\r\n\r\r\n0\r\n\r\n", "\r\n0\r\n\r"],
};

for (const [name, [text, wanted]] of Object.entries(GOOD)) {
  Deno.test(`A body with ${name} is read no matter how it is split`, async () => {
    for (const pieces of cuts(`${text}next`)) {
      const reader = readerOf(...pieces);
      assertEquals(await readAll(reader), wanted, JSON.stringify(pieces));
      while (await reader.fill());
      assertEquals(reader.text(reader.start, reader.end), "next");
    }
  });
}

const BAD: Record<string, string> = {
  "no size": "\r\nhello\r\n0\r\n\r\n",
  "an invalid size": "g\r\nhello\r\n",
  "a size with a prefix": "0x5\r\nhello\r\n0\r\n\r\n",
  "a negative size": "-5\r\nhello\r\n",
  "a blank before the size": " 5\r\nhello\r\n0\r\n\r\n",
  "a blank after the size": "5 \r\nhello\r\n0\r\n\r\n",
  "a blank before the extension": "5 ;a\r\nhello\r\n0\r\n\r\n",
  "a size of too many digits": "00000000000005\r\nhello\r\n0\r\n\r\n",
  "a bare LF after the size": "5\nhello\r\n0\r\n\r\n",
  "a bare LF after the data": "5\r\nhello\n0\r\n\r\n",
  "a CR in the size": "5\r\r\nhello\r\n0\r\n\r\n",
  "a chunk longer than its size": "4\r\nhello\r\n0\r\n\r\n",
  "a control character in an extension": "5;a\0\r\nhello\r\n0\r\n\r\n",
  "an invalid trailer": "0\r\nX A: b\r\n\r\n",
  "a trailer with NUL": "0\r\nX-A: \0\r\n\r\n",
  "a bare LF after the trailers": "0\r\nX-A: b\n\r\n",
  "an endless line": `5;${"a".repeat(MAX_CHUNK_LINE)}`,
  "too many trailers": `0\r\n${"X-A: bcdefgh\r\n".repeat(MAX_TRAILERS / 10)}\r\n`,
};

for (const [name, text] of Object.entries(BAD)) {
  Deno.test(`A body with ${name} is rejected no matter how it is split`, async () => {
    const all = text.length < 100 ? cuts(text) : [[text]];
    for (const pieces of all) {
      await assertRejects(() => readAll(readerOf(...pieces)), MalformedMessage, "", String(pieces));
    }
  });
}

Deno.test("A line that ends with a bare LF is rejected at once", async () => {
  const reader = readerOf("0\n\nGET / HTTP/1.1");
  const body = new ChunkedBody(reader);
  await reader.fill();
  assertThrows(() => body.take(), MalformedMessage);
});

Deno.test("After a malformed line the body stays malformed", async () => {
  for (const text of ["g\r\n0\r\n\r\n", "1\r\na0\r\n\r\n0\r\n\r\n", "0\r\nno colon\r\n\r\n"]) {
    const reader = readerOf(text);
    const body = new ChunkedBody(reader);
    await reader.fill();
    for (let tries = 0; tries < 3; tries++) assertThrows(() => body.take(), MalformedMessage);
    assertEquals(body.isDone, false);
  }
});

Deno.test("A truncated body is incomplete", async () => {
  const [text] = GOOD["trailers"] ?? [""];
  for (let end = 0; end < text.length; end++) {
    assertEquals(await readAll(readerOf(text.slice(0, end))), undefined, text.slice(0, end));
  }
});

Deno.test("Chunks that arrive together are returned together", async () => {
  const reader = readerOf("1\r\na\r\n2\r\nbc\r\n3\r\nde");
  const body = new ChunkedBody(reader);
  await reader.fill();
  assertEquals(new TextDecoder().decode(body.take()), "abcde");
  assertEquals(body.isDone, false);
});

Deno.test("A body larger than the buffer is read completely", async () => {
  const data = Array.from({ length: 50_000 }, (_, i) => String(i)).join(" ");
  const chunks = data.match(/[^]{1,7777}/g) ?? [];
  const text = chunks.map((one) => `${one.length.toString(16)}\r\n${one}\r\n`).join("");
  assertEquals(await readAll(readerOf(`${text}0\r\n\r\n`)), data);
});
