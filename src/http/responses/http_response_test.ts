import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { HttpResponse, ResponseHeaders, toRuntimeResponse } from "./http_response.ts";
import { PieceStream } from "./response_stream.ts";

/** Changes of the same headers, for our own map and for the runtime's. */
const CHANGES: ((headers: Headers) => void)[] = [
  (headers) => headers.set("Content-Type", "text/plain"),
  (headers) => headers.set("content-type", " \t text/html \r\n"),
  (headers) => headers.append("Vary", "Origin"),
  (headers) => headers.append("VARY", "Accept"),
  (headers) => headers.set("X-Latin", "caf\u00e9 \u00ff"),
  (headers) => headers.set("X-Empty", ""),
  (headers) => headers.delete("X-Absent"),
  (headers) => headers.set("X-Gone", "1"),
  (headers) => headers.delete("x-gone"),
];

Deno.test("Headers hold what the runtime's headers hold", () => {
  const [own, native] = [new ResponseHeaders({ "A-b": "1" }), new Headers({ "A-b": "1" })];
  for (const change of CHANGES) {
    change(own);
    change(native);
    assertEquals([...own].sort(), [...native].sort());
  }
  for (const name of ["content-type", "Content-Type", "VARY", "x-latin", "x-empty", "x-gone"]) {
    assertEquals([own.get(name), own.has(name)], [native.get(name), native.has(name)], name);
  }
  assertEquals([...own.keys()].sort(), [...native.keys()]);
  assertEquals([...own.values()].sort(), [...native.values()].sort());
  const seen: string[] = [];
  own.forEach((value, name, parent) => {
    assert(parent === own);
    seen.push(`${name}: ${value}`);
  });
  assertEquals(seen.sort(), [...native].map((field) => field.join(": ")).sort());
  assertEquals(new ResponseHeaders({ "Set-Cookie": "a=1" }).getSetCookie(), ["a=1"]);
  assertEquals(own.getSetCookie(), []);
});

Deno.test("A header that could end its line, or is not HTTP, is rejected as by the runtime", () => {
  const values = ["a\r\nB: c", "a\nb", "a\rb", "a\0b", "\u0100", "\ud83d\ude00"];
  for (
    const init of [...values.map((value) => ["X", value]), ["", "x"], ["a b", "x"], ["é", "x"]]
  ) {
    const [name = "", value = ""] = init;
    for (const headers of [new ResponseHeaders(), new Headers()]) {
      assertThrows(() => headers.set(name, value), TypeError);
      assertThrows(() => headers.append(name, value), TypeError);
      assertEquals([...headers], []);
    }
    assertThrows(() => new ResponseHeaders({ [name]: value }), TypeError);
  }
});

Deno.test("A long value of spaces takes no longer than other text", () => {
  const value = `a${" ".repeat(1_000_000)}b`;
  const start = performance.now();
  assertEquals(new ResponseHeaders({ X: ` ${value} ` }).get("X"), value);
  assertEquals(new ResponseHeaders({ X: " ".repeat(1_000_000) }).get("X"), "");
  assert(performance.now() - start < 2000);
});

Deno.test("A response has its status, its body and its own headers", async () => {
  const response = new HttpResponse("text", { status: 201, headers: { "X-A": "1" } });
  response.headers.set("X-B", "2");
  assertEquals([...response.headers], [["x-a", "1"], ["x-b", "2"]]);
  assertEquals([response.status, await response.text()], [201, "text"]);
  const shared = new HttpResponse(null, { headers: response.headers });
  assertEquals([shared.status, shared.body, shared.headers.get("X-B")], [200, null, "2"]);
});

Deno.test("A body of bytes is read once, in every way, and never changed", async () => {
  const bytes = new TextEncoder().encode("[1]");
  const ways: ((response: Response) => Promise<unknown>)[] = [
    (response) => response.text(),
    (response) => response.json(),
    (response) => response.bytes(),
    (response) => response.arrayBuffer(),
    (response) => Array.fromAsync(response.body ?? []),
  ];
  for (const read of ways) {
    const own = new HttpResponse(bytes);
    assertEquals([own.bodyUsed, own.content === bytes], [false, true]);
    assertEquals(await read(own), await read(new Response(bytes)));
    assertEquals(own.bodyUsed, true);
    await assertRejects(() => own.bytes(), TypeError);
    assertEquals(bytes.byteLength, 3);
  }
  const part = new HttpResponse(bytes.subarray(1, 2));
  assertEquals((await part.arrayBuffer()).byteLength, 1);
});

Deno.test("A copy for the runtime's server has the same status, body and headers", async () => {
  const own = new HttpResponse("text", { status: 203, headers: { "X-A": "1", Vary: "a" } });
  const copy = toRuntimeResponse(own);
  assert(!(copy instanceof HttpResponse));
  assertEquals([...copy.headers], [["vary", "a"], ["x-a", "1"]]);
  assertEquals([copy.status, await copy.text()], [203, "text"]);
  const native = new Response("x");
  assert(toRuntimeResponse(native) === native);
});

Deno.test("A body in pieces can be read like any other", async () => {
  async function* pieces(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (const text of ["a", "bc"]) yield await Promise.resolve(new TextEncoder().encode(text));
  }
  const made = () =>
    new HttpResponse(
      new PieceStream(pieces(), { idle: 60_000, onEnd: () => {}, onError: () => {} }),
    );
  assertEquals(await made().text(), "abc");
  assertEquals(await toRuntimeResponse(made()).text(), "abc");
  assertEquals((await Array.fromAsync(made().body ?? [])).length, 2);
});
