import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { UploadSlots } from "../http/store_body.ts";
import { KIB, MIB } from "../rules/units.ts";
import { S3Bench } from "./test_support.ts";
import { childrenNamed, childText } from "../xml/xml_reader.ts";

const BYTES = new Uint8Array(200 * KIB).map((_, i) => i * 31 & 255);
const md5 = (text: string) => createHash("md5").update(text).digest("hex");
const sha1 = createHash("sha1").update(BYTES).digest("base64");
const sha256 = createHash("sha256").update(BYTES).digest("base64");

const SOURCE = { "x-amz-copy-source": "/photos/a" };

function crcOf(bytes: Uint8Array): string {
  const value = Buffer.alloc(4);
  value.writeUInt32BE(crc32(bytes));
  return value.toString("base64");
}

/** Returns the checksums of an object, by the names of their headers without the prefix. */
async function checksumsOf(bench: S3Bench, key: string, query = ""): Promise<unknown> {
  const headers = { "x-amz-checksum-mode": "ENABLED" };
  const response = await bench.send("GET", `/photos/${key}`, { query, headers });
  await response.body?.cancel();
  const prefix = "x-amz-checksum-";
  const sent = [...response.headers].filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(sent.map(([name, value]) => [name.slice(prefix.length), value]));
}

Deno.test("A copy keeps the metadata of its source or replaces it, also in place", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a", {
      body: "hello",
      headers: { "content-type": "text/x-a", "x-amz-meta-a": "1" },
    });
    const copy = async (key: string, headers: Record<string, string>) =>
      await bench.ask("PUT", `/photos/${key}`, {
        headers: { "x-amz-copy-source": "/photos/a", ...headers },
      });
    const copied = await copy("b", {});
    assertEquals(childText(copied, "ETag"), `"${md5("hello")}"`);
    const replace = { "x-amz-metadata-directive": "REPLACE", "content-type": "text/x-c" };
    await copy("c", { ...replace, "x-amz-meta-c": "2" });
    const show = async (key: string) => {
      const { headers } = await bench.send("HEAD", `/photos/${key}`);
      return ["content-type", "x-amz-meta-a", "x-amz-meta-c"].map((name) => headers.get(name));
    };
    assertEquals(await show("b"), ["text/x-a", "1", null]);
    assertEquals(await show("c"), ["text/x-c", null, "2"]);
    await copy("a", { ...replace, "x-amz-meta-c": "3" });
    assertEquals(await show("a"), ["text/x-c", null, "3"]);
    // Some clients encode the whole path, with its first slash.
    await bench.send("PUT", "/photos/e", {
      headers: { "x-amz-copy-source": encodeURIComponent("/photos/b") },
    });
    assertEquals(await show("e"), ["text/x-a", "1", null]);
    const source = { "x-amz-copy-source": "photos/a" };
    const fail = async (key: string, headers: Record<string, string>) =>
      await bench.fail("PUT", `/photos/${key}`, { headers: { ...source, ...headers } });
    assertEquals(await fail("a", {}), "InvalidRequest");
    assertEquals(await fail("d", { "x-amz-copy-source": "photos/none" }), "NoSuchKey");
    assertEquals(await fail("d", { "x-amz-copy-source": "none/a" }), "NoSuchBucket");
    assertEquals(await fail("d", { "x-amz-copy-source": "photos" }), "InvalidArgument");
    assertEquals(await fail("d", { "x-amz-copy-source-if-match": '"x"' }), "PreconditionFailed");
    assertEquals(await fail("b", { "if-none-match": "*" }), "PreconditionFailed");
  }));

Deno.test("A copy has a checksum of the algorithm that the request names", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a", { body: BYTES, headers: { "x-amz-meta-a": "1" } });
    const copy = async (algorithm: string, headers: Record<string, string> = {}) => {
      const named = { ...SOURCE, ...headers, "x-amz-checksum-algorithm": algorithm };
      return await bench.ask("PUT", "/photos/b", { headers: named });
    };
    const copied = await copy("SHA1");
    assertEquals(childText(copied, "ChecksumSHA1"), sha1);
    assertEquals(childText(copied, "ChecksumType"), "FULL_OBJECT");
    assertEquals(await checksumsOf(bench, "b"), { sha1, type: "FULL_OBJECT" });
    const got = await bench.send("GET", "/photos/b");
    assertEquals(got.headers.get("x-amz-meta-a"), "1");
    assertEquals(new Uint8Array(await got.arrayBuffer()), BYTES);
    await copy("sha256", { "x-amz-metadata-directive": "REPLACE" });
    assertEquals(await checksumsOf(bench, "b"), { sha256, type: "FULL_OBJECT" });
    assertEquals((await bench.send("HEAD", "/photos/b")).headers.get("x-amz-meta-a"), null);
    assertEquals(await checksumsOf(bench, "a"), {});
  }));

Deno.test("A copy keeps the checksum of its source unless the request names another algorithm", () =>
  S3Bench.use(async (bench) => {
    const crc = crcOf(BYTES);
    await bench.send("PUT", "/photos/a", { body: BYTES, headers: { "x-amz-checksum-crc32": crc } });
    for (const named of [{}, { "x-amz-checksum-algorithm": "CRC32" }]) {
      await bench.ask("PUT", "/photos/b", { headers: { ...SOURCE, ...named } });
      assertEquals(await checksumsOf(bench, "b"), { crc32: crc, type: "FULL_OBJECT" });
    }
    const headers = { ...SOURCE, "x-amz-checksum-algorithm": "SHA1" };
    await bench.ask("PUT", "/photos/b", { headers });
    assertEquals(await checksumsOf(bench, "b"), { sha1, type: "FULL_OBJECT" });
  }));

Deno.test("A copy in place gets another checksum, and its bytes stay", () =>
  S3Bench.use(async (bench) => {
    for (const body of [new Uint8Array(), BYTES]) {
      await bench.send("PUT", "/photos/a", { body });
      const headers = { ...SOURCE, "x-amz-metadata-directive": "REPLACE" };
      await bench.ask("PUT", "/photos/a", {
        headers: { ...headers, "x-amz-checksum-algorithm": "CRC32" },
      });
      assertEquals(await checksumsOf(bench, "a"), { crc32: crcOf(body), type: "FULL_OBJECT" });
      const got = await bench.send("GET", "/photos/a");
      assertEquals(new Uint8Array(await got.arrayBuffer()), body);
    }
  }));

Deno.test("A copy with an unknown checksum algorithm is refused", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a", { body: BYTES });
    const copy = async (headers: Record<string, string>) =>
      await bench.fail("PUT", "/photos/b", { headers: { ...SOURCE, ...headers } });
    assertEquals(await copy({ "x-amz-checksum-algorithm": "MD4" }), "InvalidRequest");
    const known = { "x-amz-checksum-algorithm": "SHA1" };
    assertEquals(await copy({ ...known, "x-amz-copy-source": "/photos/none" }), "NoSuchKey");
    const condition = { "x-amz-copy-source-if-match": '"x"' };
    assertEquals(await copy({ ...known, ...condition }), "PreconditionFailed");
    assertEquals(await bench.fail("GET", "/photos/b"), "NoSuchKey");
  }));

Deno.test("A copy of an object made of parts does not give the parts another algorithm", () =>
  S3Bench.use(async (bench) => {
    const started = await bench.ask("POST", "/photos/a", {
      query: "uploads",
      headers: { "x-amz-checksum-algorithm": "CRC32" },
    });
    const id = childText(started, "UploadId") ?? "";
    const bodies = [new Uint8Array(5 * MIB).fill(1), BYTES];
    const parts: string[] = [];
    for (const [i, body] of bodies.entries()) {
      const query = `partNumber=${i + 1}&uploadId=${id}`;
      const { headers } = await bench.send("PUT", "/photos/a", { query, body });
      const [number, etag] = [`<PartNumber>${i + 1}</PartNumber>`, headers.get("etag")];
      parts.push(`<Part>${number}<ETag>${etag}</ETag></Part>`);
    }
    const body = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
    await bench.ask("POST", "/photos/a", { query: `uploadId=${id}`, body });
    const copy = async (algorithm: string) => {
      const headers = { ...SOURCE, "x-amz-checksum-algorithm": algorithm };
      await bench.ask("PUT", "/photos/b", { headers });
    };
    const listedParts = async () => {
      const headers = { "x-amz-object-attributes": "ObjectParts" };
      const attributes = await bench.ask("GET", "/photos/b", { query: "attributes", headers });
      const [list] = childrenNamed(attributes, "ObjectParts");
      const each = list === undefined ? [] : childrenNamed(list, "Part");
      return each.map(({ children }) => children.map(({ name }) => name));
    };
    const whole = Buffer.concat(bodies);
    const partCrc = { crc32: crcOf(BYTES), type: "FULL_OBJECT" };
    await copy("CRC32");
    assertEquals(await checksumsOf(bench, "b"), { crc32: crcOf(whole), type: "FULL_OBJECT" });
    assertEquals(await checksumsOf(bench, "b", "partNumber=2"), partCrc);
    assertEquals((await listedParts())[1], ["PartNumber", "Size", "ChecksumCRC32"]);
    await copy("SHA1");
    const wholeSha1 = createHash("sha1").update(whole).digest("base64");
    assertEquals(await checksumsOf(bench, "b"), { sha1: wholeSha1, type: "FULL_OBJECT" });
    assertEquals(await checksumsOf(bench, "b", "partNumber=2"), {});
    assertEquals((await listedParts())[1], ["PartNumber", "Size"]);
  }));

Deno.test("A copy fails if its source is replaced while the checksum is computed", async () => {
  let replace = async () => {};
  class Slots extends UploadSlots {
    override async run<T>(project: string, work: () => Promise<T>): Promise<T> {
      const result = await super.run(project, work);
      await replace();
      return result;
    }
  }
  const slots = new Slots({ max: 64, maxWait: 60_000 });
  await S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a", { body: BYTES });
    replace = async () => {
      replace = async () => {};
      await bench.send("PUT", "/photos/a", { body: "other" });
    };
    const headers = { ...SOURCE, "x-amz-checksum-algorithm": "SHA1" };
    assertEquals(await bench.fail("PUT", "/photos/b", { headers }), "SlowDown");
    assertEquals(await bench.fail("GET", "/photos/b"), "NoSuchKey");
  }, { slots });
});
