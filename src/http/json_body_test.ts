import { assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async/delay";
import { createHash } from "node:crypto";
import { MemoryExhausted } from "../store/engine/errors.ts";
import { MemoryPart } from "../store/engine/memory_budget.ts";
import { errors, HttpError } from "./http_error.ts";
import { readJson } from "./json_body.ts";

/** More than a chunk, so that memory is reserved. */
const LIMIT = 6 * 2 ** 20;
const LIMITS = { limit: LIMIT, idle: 60_000, bad: errors.badJson };

const encoder = new TextEncoder();

function requestOf(
  body: BodyInit | undefined,
  headers: Record<string, string> = {},
): Request {
  return new Request("http://kv.example/", {
    method: "DELETE",
    headers,
    ...(body === undefined ? {} : { body }),
  });
}

function bytewise(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from([...encoder.encode(text)].map((byte) => Uint8Array.of(byte)));
}

function digestOf(text: string): string {
  return `sha-256=:${createHash("sha256").update(text).digest("base64")}:`;
}

async function refusal(request: Request): Promise<HttpError> {
  return await assertRejects(() => readJson(request, LIMITS), HttpError);
}

Deno.test("A body is read as JSON, however it is cut into pieces", async () => {
  const values = [{ names: ["a", "😀", "\u0000", "ü"] }, [], null, 0, "a", { names: [] }];
  for (const value of values) {
    const text = JSON.stringify(value);
    assertEquals(await readJson(requestOf(text), LIMITS), value);
    assertEquals(await readJson(requestOf(bytewise(text)), LIMITS), value);
  }
});

Deno.test("No piece of a body is kept: each is copied before the next one is read", async () => {
  const piece = new Uint8Array(1);
  const bytes = encoder.encode(JSON.stringify({ names: ["a", "😀"] }));
  let at = 0;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const byte = bytes[at++];
      if (byte === undefined) return controller.close();
      piece[0] = byte;
      controller.enqueue(piece);
    },
  }, { highWaterMark: 0 });
  assertEquals(await readJson(requestOf(stream), LIMITS), { names: ["a", "😀"] });
});

Deno.test("An empty body is no value", async () => {
  for (const body of [undefined, "", new Uint8Array()]) {
    assertEquals(await readJson(requestOf(body), LIMITS), undefined);
  }
});

Deno.test("What is not JSON is refused without repeating it", async () => {
  const texts = [" ", "{", "names=a", "{names: []}", "'a'", "[1,]", "NaN", '{"a":1} x'];
  for (const text of texts) {
    const error = await refusal(requestOf(text));
    assertEquals([error.status, error.message.includes("it is not JSON")], [400, true], text);
  }
});

Deno.test("What is not UTF-8 is refused, also where it ends within a character", async () => {
  const bodies = [[0x22, 0xff, 0x22], [0x22, 0xc3], [0x22, 0xed, 0xa0, 0x80, 0x22]];
  for (const bytes of bodies) {
    const error = await refusal(requestOf(Uint8Array.from(bytes)));
    assertEquals([error.status, error.message.includes("it is not UTF-8")], [400, true]);
  }
});

Deno.test("A body must have the digest that Content-Digest names", async () => {
  const text = '{"names": ["a"]}';
  const right = requestOf(text, { "content-digest": digestOf(text) });
  assertEquals(await readJson(right, LIMITS), { names: ["a"] });
  for (const wrong of [digestOf("other"), "sha-256=nonsense"]) {
    assertEquals((await refusal(requestOf(text, { "content-digest": wrong }))).status, 400);
  }
  const empty = requestOf(undefined, { "content-digest": digestOf(text) });
  assertEquals((await refusal(empty)).status, 400);
});

Deno.test("The largest list of names fits, and a larger body does not", async () => {
  const names = Array.from({ length: 1000 }, () => "\u0001".repeat(1024));
  assertEquals(await readJson(requestOf(JSON.stringify({ names })), LIMITS), { names });
  assertEquals((await refusal(requestOf(" ".repeat(LIMIT + 1)))).status, 413);
});

Deno.test("A sender that falls silent gets 408", async () => {
  const silent = new ReadableStream<Uint8Array<ArrayBuffer>>({ pull: () => {} });
  const error = await assertRejects(
    () => readJson(requestOf(silent), { ...LIMITS, idle: 5 }),
    HttpError,
  );
  assertEquals(error.status, 408);
});

Deno.test("A body has to be there in time, however steadily its bytes come", async () => {
  const trickling = ReadableStream.from(async function* () {
    for (;;) {
      await delay(5);
      yield encoder.encode(" ");
    }
  }());
  const error = await assertRejects(
    () => readJson(requestOf(trickling), { ...LIMITS, pace: { grace: 50 } }),
    HttpError,
  );
  assertEquals(error.status, 408);
});

Deno.test("Memory for a body is taken before it is read, and more once it is larger than usual", async () => {
  const part = new MemoryPart("json", 16 * 2 ** 20, 0);
  const text = JSON.stringify({ names: ["a".repeat(100_000)] });
  const size = String(text.length);
  {
    using memory = await part.reserve("p", 0);
    await readJson(requestOf(text, { "Content-Length": size }), { ...LIMITS, memory });
    assertEquals(part.used, text.length);
  }
  using memory = await part.reserve("p", 0);
  await readJson(requestOf(ReadableStream.from(["{}"]).pipeThrough(new TextEncoderStream())), {
    ...LIMITS,
    memory,
  });
  assertEquals(part.used, 16_384);
  using more = await part.reserve("q", 0);
  await readJson(requestOf(bytewise(text)), { ...LIMITS, memory: more });
  assertEquals(part.used, 16_384 + LIMIT);
});

Deno.test("A body for which there is no memory is not read", async () => {
  const part = new MemoryPart("json", 2 ** 20, 0);
  using _held = await part.reserve("p", 2 ** 19);
  using memory = await part.reserve("p", 0);
  let pulls = 0;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: () => void pulls++,
  }, { highWaterMark: 0 });
  const request = requestOf(stream, { "Content-Length": "500000" });
  await assertRejects(() => readJson(request, { ...LIMITS, memory }), MemoryExhausted);
  assertEquals(pulls, 0);
});
