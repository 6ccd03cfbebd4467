import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { delay } from "@std/async/delay";
import { createHash } from "node:crypto";
import { MemoryExhausted } from "../store/engine/errors.ts";
import { MemoryPart } from "../store/engine/memory_budget.ts";
import { errors, HttpError } from "./http_error.ts";
import { Fields, MAX_FIELDS_BODY, readJson, SMALL_BODY } from "./json_body.ts";
import { someContext } from "./test_support.ts";

/** More than a chunk, so that memory is reserved. */
const LIMIT = 6 * 2 ** 20;
const bad = (problem: string) => errors.badObject(["names"], problem);
const LIMITS = { limit: LIMIT, idle: 60_000, bad };

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

Deno.test("a body is read as JSON, in pieces of any size", async () => {
  const values = [{ names: ["a", "😀", "\u0000", "ü"] }, [], null, 0, "a", { names: [] }];
  for (const value of values) {
    const text = JSON.stringify(value);
    assertEquals(await readJson(requestOf(text), LIMITS), value);
    assertEquals(await readJson(requestOf(bytewise(text)), LIMITS), value);
  }
});

Deno.test("each piece of a body is copied before the next one is read", async () => {
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

Deno.test("an empty body has no value", async () => {
  for (const body of [undefined, "", new Uint8Array()]) {
    assertEquals(await readJson(requestOf(body), LIMITS), undefined);
  }
});

Deno.test("a body that is not JSON is 400, and the error does not repeat it", async () => {
  const texts = [" ", "{", "names=a", "{names: []}", "'a'", "[1,]", "NaN", '{"a":1} x'];
  for (const text of texts) {
    const error = await refusal(requestOf(text));
    assertEquals([error.status, error.message.includes("it is not JSON")], [400, true], text);
  }
});

Deno.test("a body that is not UTF-8 is 400, even if only its last character is incomplete", async () => {
  const bodies = [[0x22, 0xff, 0x22], [0x22, 0xc3], [0x22, 0xed, 0xa0, 0x80, 0x22]];
  for (const bytes of bodies) {
    const error = await refusal(requestOf(Uint8Array.from(bytes)));
    assertEquals([error.status, error.message.includes("it is not UTF-8")], [400, true]);
  }
});

Deno.test("a body must match Content-Digest", async () => {
  const text = '{"names": ["a"]}';
  const right = requestOf(text, { "content-digest": digestOf(text) });
  assertEquals(await readJson(right, LIMITS), { names: ["a"] });
  for (const wrong of [digestOf("other"), "sha-256=nonsense"]) {
    assertEquals((await refusal(requestOf(text, { "content-digest": wrong }))).status, 400);
  }
  const empty = requestOf(undefined, { "content-digest": digestOf(text) });
  assertEquals((await refusal(empty)).status, 400);
});

Deno.test("a body of exactly the limit is read, and a larger one is 413", async () => {
  const names = Array.from({ length: 1000 }, () => "\u0001".repeat(1024));
  assertEquals(await readJson(requestOf(JSON.stringify({ names })), LIMITS), { names });
  const { status, message } = await refusal(requestOf(" ".repeat(LIMIT + 1)));
  assertEquals([status, message.includes("parts")], [413, false]);
});

Deno.test("a silent sender gets 408", async () => {
  const silent = new ReadableStream<Uint8Array<ArrayBuffer>>({ pull: () => {} });
  const error = await assertRejects(
    () => readJson(requestOf(silent), { ...LIMITS, idle: 5 }),
    HttpError,
  );
  assertEquals(error.status, 408);
});

Deno.test("a body must arrive in time, even if its bytes keep coming", async () => {
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

Deno.test("memory for a body is reserved before it is read, and extended if it is large", async () => {
  const part = new MemoryPart("json", 64 * 2 ** 20, 0);
  const text = JSON.stringify({ names: ["a".repeat(100_000)] });
  const size = String(text.length);
  {
    using memory = await part.reserve("p", 0);
    await readJson(requestOf(text, { "Content-Length": size }), { ...LIMITS, memory });
    assertEquals(part.used, 3 * text.length);
  }
  using memory = await part.reserve("p", 0);
  await readJson(requestOf(ReadableStream.from(["{}"]).pipeThrough(new TextEncoderStream())), {
    ...LIMITS,
    memory,
  });
  assertEquals(part.used, 3 * 16_384);
  using more = await part.reserve("q", 0);
  await readJson(requestOf(bytewise(text)), { ...LIMITS, memory: more });
  assertEquals(part.used, 3 * (16_384 + LIMIT));
});

Deno.test("a body without memory is not read", async () => {
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

const ACCEPT = () => undefined;

/** Enough for one of the largest bodies. */
const JSON_MEMORY = new MemoryPart("json", 6 * MAX_FIELDS_BODY, 0);

function read(
  body: BodyInit,
  known: readonly string[] = ["name", "on"],
  json = JSON_MEMORY,
): Promise<Fields> {
  const request = new Request("http://kv.example/", { method: "POST", body });
  const context = someContext();
  return Fields.read(
    { request, context, reauthorize: () => Promise.resolve() },
    { idleTimeout: 60_000, store: { memory: { json } } },
    known,
  );
}

/** An object with a name, and white space up to a size. */
function padded(size: number): string {
  return '{"name": "a"}'.padEnd(size);
}

async function errorOf(body: string): Promise<HttpError> {
  return await assertRejects(() => read(body), HttpError);
}

Deno.test("fields are read from an object, and an empty body has none", async () => {
  const fields = await read('{"name": "a", "on": false}');
  assertEquals(fields.text("name", ACCEPT), "a");
  assertEquals(fields.flag("on"), false);
  assertEquals((await read("")).optionalText("name", ACCEPT), undefined);
});

Deno.test("null is not a text, and differs from an absent field", async () => {
  const fields = await read('{"name": null}');
  assertEquals(fields.optionalText("name", ACCEPT), undefined);
  assertEquals(fields.textOrNull("name", ACCEPT), null);
  assertEquals((await read("{}")).textOrNull("name", ACCEPT), undefined);
  assertThrows(() => fields.text("name", ACCEPT), HttpError, '"name" is missing');
});

Deno.test("a body that is not an object with the known fields is 400, and the error names them", async () => {
  for (const body of ["[]", "null", "null x", '"name"', "1", "{", '["name"]']) {
    const { status, message } = await errorOf(body);
    assertEquals([status, message.includes('with "name" and "on"')], [400, true], body);
  }
  for (const name of ["nam", "NAME", "__proto__", "constructor", ""]) {
    const { status, message } = await errorOf(JSON.stringify({ name: "a" }).replace("name", name));
    assertEquals([status, message.includes(`"${name}" is unknown`)], [400, true], name);
  }
});

Deno.test("a field of another type or with a problem is 400, and the error names it", async () => {
  for (const value of [1, true, [], {}, ["a"]]) {
    const fields = await read(JSON.stringify({ name: value }));
    const error = assertThrows(() => fields.text("name", ACCEPT), HttpError);
    assertEquals([error.status, error.message], [400, 'The field "name" must be a string']);
  }
  const fields = await read('{"name": "a", "on": "true"}');
  assertThrows(() => fields.text("name", () => "is bad"), HttpError, 'The field "name" is bad');
  assertThrows(() => fields.flag("on"), HttpError, 'The field "on" must be true or false');
  const empty = await read("{}");
  assertThrows(() => empty.flag("on"), HttpError, 'The field "on" is missing');
});

Deno.test("a body of fields has up to 1 MiB, and a larger one is 413", async () => {
  for (const size of [SMALL_BODY, SMALL_BODY + 1, 2 ** 20]) {
    const text = padded(size);
    assertEquals((await read(text)).text("name", ACCEPT), "a");
    assertEquals((await read(new Blob([text]).stream())).text("name", ACCEPT), "a");
    assertEquals(JSON_MEMORY.used, 0);
  }
  const { status, message } = await errorOf(padded(2 ** 20 + 1));
  assertEquals([status, message.includes("parts")], [413, false]);
});

Deno.test("a body of fields needs memory only if it is larger than a small one", async () => {
  const part = new MemoryPart("json", 100, 0);
  using _held = await part.reserve("a", 50);
  using _heldToo = await part.reserve("b", 25);
  const bodies = (size: number) => [padded(size), new Blob([padded(size)]).stream()];
  for (const body of bodies(SMALL_BODY)) await read(body, ["name"], part);
  for (const body of bodies(SMALL_BODY + 1)) {
    await assertRejects(() => read(body, ["name"], part), MemoryExhausted);
  }
});

Deno.test("too many or too deep values are 400, and nothing is built of them", async () => {
  const many = Array.from({ length: 10_001 }, (_, i) => [`${i}`, i]);
  const bodies: [string, string][] = [
    [JSON.stringify(many.map(([name]) => name)), "10000 values"],
    [JSON.stringify(Object.fromEntries(many)), "10000 values"],
    [`{${'"a":{},'.repeat(700_000)}`, "10000 values"],
    [`[${"[],".repeat(1_500_000)}`, "10000 values"],
    [`[${"1 ".repeat(2_000_000)}`, "10000 values"],
    ["[".repeat(5_000_000), "8 levels"],
    ['{"a":'.repeat(9), "8 levels"],
  ];
  for (const [text, problem] of bodies) {
    const { status, message } = await refusal(requestOf(text));
    assertEquals([status, message.includes(problem)], [400, true], `${problem}: ${message}`);
  }
});

Deno.test("as many values as are allowed are read", async () => {
  const texts = Array.from({ length: 9_998 }, (_, i) => `,:[{"${i}\\`);
  assertEquals(await readJson(requestOf(JSON.stringify({ texts })), LIMITS), { texts });
  const deep = "[".repeat(8) + "]".repeat(8);
  assertEquals(JSON.stringify(await readJson(requestOf(deep), LIMITS)), deep);
  const object = Object.fromEntries(texts.map((text) => [text, null]));
  assertEquals(await readJson(requestOf(JSON.stringify(object)), LIMITS), object);
});

Deno.test("odd JSON is read as it is, or refused", async () => {
  assertEquals(await readJson(requestOf('\ufeff{"a":1,"a":2}'), LIMITS), { a: 2 });
  const digits = `[${"9".repeat(5_000_000)}]`;
  assertEquals(await readJson(requestOf(digits), LIMITS), [Infinity]);
  for (const text of ["]".repeat(100), ":".repeat(100), '"\\"', "[1:::::::::]", "\\".repeat(9)]) {
    assertEquals((await refusal(requestOf(text))).status, 400, text);
  }
});

Deno.test("an error names only the beginning of an unknown field", async () => {
  const { status, message } = await errorOf(JSON.stringify({ ["x".repeat(60_000)]: 1 }));
  assertEquals([status, message.length < 400], [400, true]);
});
