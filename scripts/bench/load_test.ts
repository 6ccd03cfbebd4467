import { assertEquals, assertStringIncludes } from "@std/assert";
import { type ClientInput, wrkScript } from "./load.ts";

const input: ClientInput = {
  origin: "http://127.0.0.1:1",
  method: "POST",
  target: "/files?name=a",
  headers: { "X-Api-Key": "key" },
  connections: 1,
  seconds: 1,
};

Deno.test("wrkScript() makes one request where all are the same", () => {
  const script = wrkScript(input, "/body");
  assertEquals(script.includes("function request()"), false);
  assertEquals(script.includes("io.open"), false);
  assertStringIncludes(script, 'wrk.headers["X-Api-Key"] = "key"');
});

Deno.test("wrkScript() counts requests, and starts over where that is wanted", () => {
  const counting = { ...input, target: "/files?name={n}" };
  assertStringIncludes(wrkScript(counting, "/body"), "local number = n\n");
  assertStringIncludes(wrkScript({ ...counting, cycle: 100 }, "/body"), "local number = n % 100\n");
  const shifted = { ...counting, cycle: 100, first: 7, start: 30 };
  assertStringIncludes(wrkScript(shifted, "/body"), "local number = 7 + n % 100\n");
  assertStringIncludes(wrkScript(shifted, "/body"), "local n = 29\n");
});

Deno.test("wrkScript() can scatter its numbers, and upload at times", () => {
  const counting = { ...input, target: "/files?name={n}", cycle: 100 };
  assertStringIncludes(wrkScript({ ...counting, isScattered: true }, "/body"), "n * 7919 % 100");
  const write = { every: 20, target: "/files?name=new-{n}", body: 5 };
  const script = wrkScript({ ...counting, write }, "/a body");
  assertStringIncludes(script, 'io.open("/a body", "rb")');
  assertStringIncludes(script, "if n % 20 == 0 then");
  assertStringIncludes(script, 'wrk.format("POST", path, nil, written)');
});

Deno.test("wrkScript() reads the body from its file", () => {
  assertStringIncludes(wrkScript({ ...input, body: 5 }, "/a body"), 'io.open("/a body", "rb")');
});

Deno.test("wrkScript() has each connection closed where that is wanted", () => {
  assertEquals(wrkScript(input, "/body").includes("Connection"), false);
  const script = wrkScript({ ...input, reconnect: true }, "/body");
  assertStringIncludes(script, 'wrk.headers["Connection"] = "close"');
});
