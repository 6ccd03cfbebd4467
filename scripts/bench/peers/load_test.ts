import { assertEquals, assertStringIncludes } from "@std/assert";
import { type PeerLoad, peerScript } from "./load.ts";
import type { Template } from "./template.ts";

const FILES = { targets: "/t", before: "/b", after: "/a" };
const reading: PeerLoad = {
  origin: "http://127.0.0.1:1",
  read: { targets: ["/one", "/two"], headers: { "X-Api-Key": "key" } },
  connections: 1,
  seconds: 1,
};
const template: Template = {
  method: "PUT",
  target: "/{n}",
  headers: {},
  body: new Uint8Array(1),
};

Deno.test("peerScript() reads targets in scattered order", () => {
  const script = peerScript(reading, FILES);
  assertStringIncludes(script, "return reads[n * 7919 % #reads + 1]");
  assertStringIncludes(script, String.raw`X-Api-Key: key\r\n\r\n"`);
  assertEquals(script.includes("wrk.format"), false);
});

Deno.test("peerScript() makes a request once where all are the same", () => {
  const one = peerScript({ ...reading, read: { targets: ["/one"], headers: {} } }, FILES);
  assertStringIncludes(one, "local fixed = reads[1]");
  assertEquals(one.includes("function request()"), false);

  const write = { template, from: 40, every: 1, isRepeated: true };
  const repeated = peerScript({ origin: reading.origin, write, connections: 4, seconds: 1 }, FILES);
  assertStringIncludes(repeated, 'before .. string.format("%010d", 40 + id) .. after');
  assertEquals(repeated.includes("function request()"), false);
});

Deno.test("peerScript() mixes uploads to new names into the downloads", () => {
  const write = { template, from: 1000, every: 20, isRepeated: false };
  const script = peerScript({ ...reading, write }, FILES);
  assertStringIncludes(
    script,
    'if n % 20 == 0 then return before .. string.format("%010d", 1000 + n) .. after end',
  );
});

Deno.test("peerScript() sends the same upload where the server names it", () => {
  const write = {
    template: { ...template, target: "/files/" },
    from: 0,
    every: 1,
    isRepeated: false,
  };
  const script = peerScript({ origin: reading.origin, write, connections: 1, seconds: 1 }, FILES);
  assertStringIncludes(script, "if n % 1 == 0 then return before end");
});
