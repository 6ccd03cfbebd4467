import { assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 as zlibCrc } from "node:zlib";
import { MIB } from "../rules/units.ts";
import { S3Error } from "./s3_error.ts";
import { S3Bench, type TestRequest } from "./test_support.ts";
import { chooseParts } from "./uploads/complete_upload.ts";
import { childrenNamed, childText } from "../xml/xml_reader.ts";

const md5 = (bytes: Uint8Array | string) => createHash("md5").update(bytes).digest();

/** Bytes that differ from those of other seeds. */
function bytesOf(size: number, seed: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(size).map((_, i) => (i * 31 + seed) & 255);
}

async function start(bench: S3Bench, request: TestRequest = {}): Promise<string> {
  const started = await bench.ask("POST", "/photos/big", { ...request, query: "uploads" });
  return childText(started, "UploadId") ?? "";
}

async function sendPart(
  bench: S3Bench,
  id: string,
  part: number,
  body: Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<string> {
  const query = `partNumber=${part}&uploadId=${id}`;
  const response = await bench.send("PUT", "/photos/big", { query, body, headers });
  assertEquals(response.status, 200, await response.text());
  return response.headers.get("etag") ?? "";
}

function completion(parts: readonly (readonly [number, string])[]): string {
  const list = parts.map(([number, tag]) =>
    `<Part><PartNumber>${number}</PartNumber><ETag>${tag}</ETag></Part>`
  );
  return `<CompleteMultipartUpload>${list.join("")}</CompleteMultipartUpload>`;
}

Deno.test("An object is made of the parts that the caller names", () =>
  S3Bench.use(async (bench) => {
    const id = await start(bench, {
      headers: { "content-type": "text/x-big", "x-amz-meta-a": "1" },
    });
    const [one, two, unused] = [bytesOf(5 * MIB, 1), bytesOf(100, 2), bytesOf(5 * MIB, 3)];
    const first = await sendPart(bench, id, 2, one);
    await sendPart(bench, id, 4, unused);
    const last = await sendPart(bench, id, 7, two);
    assertEquals(first, `"${md5(one).toString("hex")}"`);
    const listed = await bench.ask("GET", "/photos/big", { query: `uploadId=${id}` });
    const numbers = childrenNamed(listed, "Part").map((part) => childText(part, "PartNumber"));
    assertEquals(numbers, ["2", "4", "7"]);
    const query = `uploadId=${id}`;
    const body = completion([[2, first], [7, last]]);
    const completed = await bench.ask("POST", "/photos/big", { query, body });
    const tag = md5(Buffer.concat([md5(one), md5(two)])).toString("hex");
    assertEquals(childText(completed, "ETag"), `"${tag}-2"`);
    const again = await bench.ask("POST", "/photos/big", { query, body });
    assertEquals(childText(again, "ETag"), `"${tag}-2"`);
    const got = await bench.send("GET", "/photos/big");
    assertEquals(new Uint8Array(await got.arrayBuffer()), new Uint8Array([...one, ...two]));
    assertEquals(got.headers.get("x-amz-meta-a"), "1");
    const part = await bench.send("GET", "/photos/big", { query: "partNumber=2" });
    assertEquals(part.headers.get("x-amz-mp-parts-count"), "2");
    assertEquals(new Uint8Array(await part.arrayBuffer()), two);
    const headers = { "x-amz-object-attributes": "ETag,ObjectParts,ObjectSize" };
    const attributes = await bench.ask("GET", "/photos/big", { query: "attributes", headers });
    assertEquals(childText(attributes, "ObjectSize"), String(5 * MIB + 100));
    const [parts] = childrenNamed(attributes, "ObjectParts");
    assertEquals(parts && childText(parts, "PartsCount"), "2");
  }));

Deno.test("Parts that do not make an object are refused, and the upload stays open", () =>
  S3Bench.use(async (bench) => {
    const id = await start(bench);
    const small = await sendPart(bench, id, 1, bytesOf(100, 1));
    const last = await sendPart(bench, id, 2, bytesOf(100, 2));
    const query = `uploadId=${id}`;
    const fail = async (body: string, headers: Record<string, string> = {}) =>
      await bench.fail("POST", "/photos/big", { query, body, headers });
    assertEquals(await fail(completion([[1, small], [2, last]])), "EntityTooSmall");
    assertEquals(await fail(completion([[2, last], [1, small]])), "InvalidPartOrder");
    assertEquals(await fail(completion([[1, small], [1, small]])), "InvalidPartOrder");
    assertEquals(await fail(completion([[1, last]])), "InvalidPart");
    assertEquals(await fail(completion([[3, last]])), "InvalidPart");
    assertEquals(await fail(completion([])), "MalformedXML");
    assertEquals(await fail("<a/>"), "MalformedXML");
    const wrongSize = { "x-amz-mp-object-size": "5" };
    assertEquals(await fail(completion([[2, last]]), wrongSize), "InvalidRequest");
    assertEquals(
      (await bench.send("POST", "/photos/big", {
        query,
        body: completion([[2, last]]),
      })).status,
      200,
    );
    assertEquals(
      await bench.fail("POST", "/photos/other", { query, body: completion([[2, last]]) }),
      "NoSuchUpload",
    );
  }));

Deno.test("Uploads are listed in the order of their keys, and aborted", () =>
  S3Bench.use(async (bench) => {
    const ids: string[] = [];
    for (const key of ["b/2", "a", "b/1"]) {
      const started = await bench.ask("POST", `/photos/${key}`, { query: "uploads" });
      ids.push(childText(started, "UploadId") ?? "");
    }
    const list = async (query: string) => {
      const listed = await bench.ask("GET", "/photos", { query });
      return [
        ...childrenNamed(listed, "Upload").map((upload) => childText(upload, "Key")),
        ...childrenNamed(listed, "CommonPrefixes").map((prefix) => childText(prefix, "Prefix")),
      ];
    };
    assertEquals(await list("uploads"), ["a", "b/1", "b/2"]);
    assertEquals(await list("uploads&delimiter=%2F"), ["a", "b/"]);
    assertEquals(await list("uploads&prefix=b%2F"), ["b/1", "b/2"]);
    assertEquals(await list("uploads&max-uploads=1"), ["a"]);
    assertEquals(await list("uploads&key-marker=b%2F1"), ["b/2"]);
    assertEquals(
      (await bench.send("DELETE", "/photos/a", { query: `uploadId=${ids[1]}` })).status,
      204,
    );
    assertEquals(await list("uploads"), ["b/1", "b/2"]);
    assertEquals(
      await bench.fail("DELETE", "/photos/a", { query: `uploadId=${ids[1]}` }),
      "NoSuchUpload",
    );
  }));

Deno.test("A part is copied from an object, or from a range of it", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/source", { body: "0123456789" });
    const id = await start(bench);
    const headers = {
      "x-amz-copy-source": "/photos/source",
      "x-amz-copy-source-range": "bytes=2-5",
    };
    const query = `partNumber=1&uploadId=${id}`;
    const copied = await bench.ask("PUT", "/photos/big", { query, headers });
    const tag = childText(copied, "ETag") ?? "";
    assertEquals(tag, `"${md5("2345").toString("hex")}"`);
    const beyond = { ...headers, "x-amz-copy-source-range": "bytes=2-10" };
    assertEquals(
      await bench.fail("PUT", "/photos/big", { query, headers: beyond }),
      "InvalidArgument",
    );
    await bench.ask("POST", "/photos/big", {
      query: `uploadId=${id}`,
      body: completion([[1, tag]]),
    });
    assertEquals(await (await bench.send("GET", "/photos/big")).text(), "2345");
  }));

Deno.test("An object of parts has a checksum of the kind that its upload was started with", () =>
  S3Bench.use(async (bench) => {
    const [one, two] = [bytesOf(5 * MIB, 1), bytesOf(100, 2)];
    const crc = (bytes: Uint8Array) => {
      const value = Buffer.alloc(4);
      value.writeUInt32BE(zlibCrc(bytes));
      return value;
    };
    for (const type of ["FULL_OBJECT", "COMPOSITE"]) {
      const id = await start(bench, {
        headers: { "x-amz-checksum-algorithm": "CRC32", "x-amz-checksum-type": type },
      });
      const query = `partNumber=1&uploadId=${id}`;
      const other = { "x-amz-checksum-sha1": createHash("sha1").update(two).digest("base64") };
      const wrong = { query, body: two, headers: other };
      assertEquals(await bench.fail("PUT", "/photos/big", wrong), "InvalidRequest");
      const tags: [number, string][] = [];
      for (const [i, bytes] of [one, two].entries()) {
        const headers = { "x-amz-checksum-crc32": crc(bytes).toString("base64") };
        tags.push([i + 1, await sendPart(bench, id, i + 1, bytes, headers)]);
      }
      const body = completion(tags);
      const completed = await bench.ask("POST", "/photos/big", { query: `uploadId=${id}`, body });
      const expected = type === "FULL_OBJECT"
        ? crc(new Uint8Array([...one, ...two])).toString("base64")
        : `${crc(new Uint8Array([...crc(one), ...crc(two)])).toString("base64")}-2`;
      assertEquals(childText(completed, "ChecksumCRC32"), expected);
      const head = await bench.send("HEAD", "/photos/big", {
        headers: { "x-amz-checksum-mode": "ENABLED" },
      });
      assertEquals(head.headers.get("x-amz-checksum-crc32"), expected);
      assertEquals(head.headers.get("x-amz-checksum-type"), type);
    }
  }));

Deno.test("An object has at most 5 TiB", () => {
  const size = 5 * 2 ** 30;
  const session = { name: "a", created: 0, expires: 0, number: 1 };
  const choose = (count: number) => {
    const numbers = Array.from({ length: count }, (_, i) => i + 1);
    const md5 = "d41d8cd98f00b204e9800998ecf8427e";
    const named = numbers.map((number) => ({ number, etag: md5, checksum: undefined }));
    const stored = numbers.map((part) => ({ part, size, sha256: "", md5 }));
    return chooseParts(new Headers(), named, stored, session).parts.length;
  };
  assertEquals(choose(1024), 1024);
  assertThrows(() => choose(1025), S3Error, "at most 5497558138880");
});
