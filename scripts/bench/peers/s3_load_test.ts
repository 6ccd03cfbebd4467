import { assertEquals, assertStringIncludes } from "@std/assert";
import { type S3Load, s3Script, signedHeads } from "./s3_load.ts";
import { s3Access } from "./servers/s3_bucket.ts";

const FILES = { heads: "/h", body: "/b" };
const access = s3Access("http://127.0.0.1:1", "key", "secret");
const reading: S3Load = {
  access,
  method: "GET",
  target: "/bucket/name",
  from: 0,
  connections: 1,
  seconds: 1,
};

Deno.test("signedHeads() signs a single request if all are the same", () => {
  const time = new Date("2026-01-02T03:04:05Z");
  const [head = "", ...others] = signedHeads(reading, time);
  assertEquals(others, []);
  const signature = access.signer.sign({ method: "GET", target: "/bucket/name", time });
  const lines = [
    "GET /bucket/name HTTP/1.1",
    "Host: 127.0.0.1:1",
    `Authorization: ${signature.Authorization}`,
    `x-amz-content-sha256: ${signature["x-amz-content-sha256"]}`,
    "x-amz-date: 20260102T030405Z",
  ];
  assertEquals(head, `${lines.join("\r\n")}\r\n\r\n`);
});

Deno.test("signedHeads() signs each new name", () => {
  const body = new Uint8Array(3);
  const load: S3Load = { ...reading, method: "PUT", target: "/b/{n}", from: 40, body };
  const heads = signedHeads(load, new Date());
  assertStringIncludes(heads[0] ?? "", "PUT /b/0000000040 HTTP/1.1\r\n");
  assertStringIncludes(heads[1] ?? "", "PUT /b/0000000041 HTTP/1.1\r\n");
  assertStringIncludes(heads[1] ?? "", "Content-Length: 3\r\n\r\n");
  const signatures = heads.map((head) => /Signature=(\w+)/.exec(head)?.[1]);
  assertEquals(new Set(signatures).size, heads.length);
});

Deno.test("s3Script() builds a request once if all are the same", () => {
  assertStringIncludes(s3Script(1, FILES), "local fixed = heads[1] .. body");
  const script = s3Script(2, FILES);
  assertEquals(script.includes("wrk.format"), false);
  assertStringIncludes(script, "return heads[n % #heads + 1] .. body");
});
