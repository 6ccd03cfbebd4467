import { assertEquals, assertMatch } from "@std/assert";
import { createHash } from "node:crypto";
import { operations } from "./s3_app.ts";
import { S3Bench } from "./test_support.ts";
import { childrenNamed, childText, type XmlNode } from "../xml/xml_reader.ts";

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

/** The texts of all elements with a name. */
function texts(node: XmlNode, parent: string, name: string): (string | undefined)[] {
  return childrenNamed(node, parent).map((child) => childText(child, name));
}

Deno.test("An object has its MD5 as entity tag, and keeps its headers and metadata", () =>
  S3Bench.use(async (bench) => {
    const put = await bench.send("PUT", "/photos/a%20b/c.txt", {
      body: "hello",
      headers: {
        "content-type": "text/x-greeting",
        "cache-control": "max-age=60",
        "content-disposition": 'attachment; filename="c"',
        "content-encoding": "identity",
        "content-language": "en",
        "expires": "Thu, 01 Dec 2044 16:00:00 GMT",
        "x-amz-meta-Color": "Grün",
        "x-amz-acl": "private",
      },
    });
    assertEquals([put.status, put.headers.get("etag")], [200, `"${md5("hello")}"`]);
    for (const method of ["GET", "HEAD"]) {
      const { status, headers, body } = await bench.send(method, "/photos/a%20b/c.txt");
      const names = ["etag", "content-type", "cache-control", "content-disposition"];
      names.push("content-encoding", "content-language", "expires", "x-amz-meta-color");
      assertEquals([status, ...names.map((name) => headers.get(name))], [
        200,
        `"${md5("hello")}"`,
        "text/x-greeting",
        "max-age=60",
        'attachment; filename="c"',
        "identity",
        "en",
        "Thu, 01 Dec 2044 16:00:00 GMT",
        "Grün",
      ]);
      assertEquals(headers.get("content-length"), "5");
      assertEquals(body === null, method === "HEAD");
      await body?.cancel();
    }
    const record = await bench.store.files.reader.stat({
      project: "p",
      drive: "photos",
      name: "a b/c.txt",
    });
    assertEquals([record?.size, record?.type], [5, "text/x-greeting"]);
  }));

Deno.test("Ranges, conditions and overrides of a response", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a", { body: "0123456789" });
    const tag = `"${md5("0123456789")}"`;
    const get = async (headers: Record<string, string>, query = "") => {
      const response = await bench.send("GET", "/photos/a", { headers, query });
      return [response.status, await response.text(), response.headers.get("content-range")];
    };
    assertEquals(await get({ range: "bytes=2-4" }), [206, "234", "bytes 2-4/10"]);
    assertEquals(await get({ range: "bytes=-3" }), [206, "789", "bytes 7-9/10"]);
    assertEquals((await get({ range: "bytes=10-" }))[0], 416);
    assertEquals((await get({ "if-none-match": tag }))[0], 304);
    assertEquals((await get({ "if-match": tag }))[0], 200);
    assertEquals((await get({ "if-match": '"other"' }))[0], 412);
    assertEquals(await get({}, "partNumber=1"), [206, "0123456789", "bytes 0-9/10"]);
    assertEquals(
      await bench.fail("GET", "/photos/a", { query: "partNumber=2" }),
      "InvalidPartNumber",
    );
    const query = "response-content-type=text%2Fx-other&response-cache-control=no-store";
    const { headers, body } = await bench.send("GET", "/photos/a", { query });
    await body?.cancel();
    assertEquals(headers.get("content-type"), "text/x-other");
    assertEquals(headers.get("cache-control"), "no-store");
  }));

Deno.test("Writes may require what they replace", () =>
  S3Bench.use(async (bench) => {
    const put = async (headers: Record<string, string>) => {
      const response = await bench.send("PUT", "/photos/a", { body: "new", headers });
      await response.body?.cancel();
      return response.status;
    };
    assertEquals(await put({ "if-match": '"x"' }), 404);
    assertEquals(await put({ "if-none-match": "*" }), 200);
    assertEquals(await put({ "if-none-match": "*" }), 412);
    assertEquals(await put({ "if-match": '"x"' }), 412);
    assertEquals(await put({ "if-match": `"${md5("new")}"` }), 200);
  }));

Deno.test("A file that was stored by the drive API is an object, whose entity tag is no MD5", () =>
  S3Bench.use(async (bench) => {
    const place = { project: "p", drive: "photos", name: "a" };
    const body = async function* () {
      yield await Promise.resolve(new TextEncoder().encode("hello"));
    };
    const options = { type: "text/plain", condition: () => true, accept: () => {} };
    await bench.store.files.put(place, body(), options);
    const response = await bench.send("GET", "/photos/a");
    assertEquals([response.status, await response.text()], [200, "hello"]);
    const tag = response.headers.get("etag") ?? "";
    assertMatch(tag, /^"[0-9A-Za-z]+-0"$/);
    const [listed] = childrenNamed(await bench.ask("GET", "/photos"), "Contents");
    assertEquals(listed && childText(listed, "ETag"), tag);
    const headers = { "if-match": tag };
    assertEquals((await bench.send("PUT", "/photos/a", { body: "new", headers })).status, 200);
  }));

Deno.test("Altered bodies, wrong digests and unsupported headers are refused, and nothing is stored", () =>
  S3Bench.use(async (bench) => {
    const wrong: { headers: Record<string, string>; code: string }[] = [
      { headers: { "x-amz-content-sha256": "0".repeat(64) }, code: "XAmzContentSHA256Mismatch" },
      { headers: { "content-md5": "AAAAAAAAAAAAAAAAAAAAAA==" }, code: "BadDigest" },
      { headers: { "content-md5": "hello" }, code: "InvalidDigest" },
      { headers: { "x-amz-checksum-crc32": "AAAAAA==" }, code: "BadDigest" },
      { headers: { "x-amz-server-side-encryption": "AES256" }, code: "NotImplemented" },
      { headers: { "x-amz-acl": "public-read" }, code: "NotImplemented" },
      { headers: { "x-amz-storage-class": "GLACIER" }, code: "InvalidStorageClass" },
      { headers: { "x-amz-meta-a": "x".repeat(3000) }, code: "MetadataTooLarge" },
    ];
    for (const { headers, code } of wrong) {
      assertEquals(await bench.fail("PUT", "/photos/a", { body: "hello", headers }), code);
    }
    const { children } = await bench.ask("GET", "/photos");
    assertEquals(children.filter(({ name }) => name === "Contents"), []);
  }));

Deno.test("Keys that end with a slash are folder markers", () =>
  S3Bench.use(async (bench) => {
    assertEquals((await bench.send("PUT", "/photos/trip/", { body: "" })).status, 200);
    assertEquals(await bench.fail("PUT", "/photos/trip/", { body: "x" }), "InvalidRequest");
    const head = await bench.send("HEAD", "/photos/trip/");
    assertEquals([head.status, head.headers.get("content-length")], [200, "0"]);
    const listed = await bench.ask("GET", "/photos", { query: "list-type=2" });
    assertEquals(texts(listed, "Contents", "Key"), ["trip/"]);
    const top = await bench.ask("GET", "/photos", { query: "list-type=2&delimiter=%2F" });
    assertEquals(texts(top, "CommonPrefixes", "Prefix"), ["trip/"]);
    assertEquals((await bench.send("DELETE", "/photos/trip/")).status, 204);
    assertEquals(await bench.fail("GET", "/photos/trip/"), "NoSuchKey");
  }));

Deno.test("Many objects are deleted in one call, and failures are listed", () =>
  S3Bench.use(async (bench) => {
    for (const name of ["a", "b", "c"]) await bench.send("PUT", `/photos/${name}`, { body: name });
    const body = "<Delete><Object><Key>a</Key></Object><Object><Key>none</Key></Object>" +
      "<Object><Key>b</Key><ETag>wrong</ETag></Object></Delete>";
    const result = await bench.ask("POST", "/photos", { query: "delete", body });
    assertEquals(texts(result, "Deleted", "Key"), ["a", "none"]);
    assertEquals(texts(result, "Error", "Code"), ["PreconditionFailed"]);
    const quiet = body.replace("<Object>", "<Quiet>true</Quiet><Object>");
    assertEquals(
      (await bench.ask("POST", "/photos", { query: "delete", body: quiet })).children.length,
      1,
    );
    assertEquals(texts(await bench.ask("GET", "/photos"), "Contents", "Key"), ["b", "c"]);
    const empty = { query: "delete", body: "<Delete></Delete>" };
    assertEquals(await bench.fail("POST", "/photos", empty), "MalformedXML");
  }));

Deno.test("DeleteObjects accepts control characters in keys only as references of XML 1.1", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a%01b", { body: "x" });
    await bench.send("PUT", "/photos/b", { body: "x" });
    const send = async (key: string, declaration = "") => {
      const keys = [key, "b"].map((key) => `<Object><Key>${key}</Key></Object>`);
      const body = `${declaration}<Delete>${keys.join("")}</Delete>`;
      const response = await bench.send("POST", "/photos", { query: "delete", body });
      return [response.status, await response.text()] as const;
    };
    for (const key of ["a\x01b", "a&#1;b", "a&#x1f;b", "a&#0;b", "a&#xffff;b"]) {
      const [status, text] = await send(key);
      assertEquals(status, 400, key);
      assertMatch(text, /<Code>MalformedXML<\/Code>/);
    }
    assertEquals((await bench.send("HEAD", "/photos/a%01b")).status, 200);
    assertEquals((await bench.send("HEAD", "/photos/b")).status, 200);
    const [status, text] = await send("a&#1;b", '<?xml version="1.1"?>');
    assertEquals(status, 200);
    assertMatch(text, /<Deleted><Key>a&#x1;b<\/Key><\/Deleted><Deleted><Key>b<\/Key><\/Deleted>/);
    assertEquals((await bench.send("HEAD", "/photos/a%01b")).status, 404);
  }));

Deno.test("Lists have pages, prefixes and encoded names", () =>
  S3Bench.use(async (bench) => {
    const names = ["a/1", "a/2", "b", "c+d e", "ü/x"];
    for (const name of names) {
      await bench.send("PUT", `/photos/${encodeURIComponent(name)}`, { body: "x" });
    }
    const seen: (string | undefined)[] = [];
    let query = "list-type=2&max-keys=2&delimiter=%2F&encoding-type=url";
    for (let pages = 0; pages < 5; pages++) {
      const page = await bench.ask("GET", "/photos", { query });
      seen.push(...texts(page, "Contents", "Key"), ...texts(page, "CommonPrefixes", "Prefix"));
      const token = childText(page, "NextContinuationToken");
      assertEquals(childText(page, "IsTruncated"), String(token !== undefined));
      if (token === undefined) break;
      query = query.replace(/&continuation-token=.*/, "") + `&continuation-token=${token}`;
    }
    assertEquals(seen, ["b", "a/", "c%2Bd%20e", "%C3%BC/"]);
    const v1 = await bench.ask("GET", "/photos", { query: "prefix=a%2F&marker=a%2F1" });
    assertEquals(texts(v1, "Contents", "Key"), ["a/2"]);
    const none = await bench.ask("GET", "/photos", { query: "max-keys=0" });
    assertEquals([childText(none, "IsTruncated"), childText(none, "MaxKeys")], ["false", "0"]);
    assertEquals(await bench.fail("GET", "/photos", { query: "max-keys=x" }), "InvalidArgument");
    const versions = await bench.ask("GET", "/photos", { query: "versions" });
    assertEquals(texts(versions, "Version", "VersionId"), names.map(() => "null"));
  }));

Deno.test("Buckets are created, found and deleted", () =>
  S3Bench.use(async (bench) => {
    const status = async (method: string, path: string) => {
      const { status, body } = await bench.send(method, path);
      await body?.cancel();
      return status;
    };
    assertEquals(await status("HEAD", "/docs"), 404);
    assertEquals(await bench.fail("PUT", "/docs/a", { body: "x" }), "NoSuchBucket");
    assertEquals(await status("PUT", "/docs"), 200);
    assertEquals(await bench.fail("PUT", "/docs"), "BucketAlreadyOwnedByYou");
    assertEquals(await bench.fail("PUT", "/Docs_1"), "InvalidBucketName");
    assertEquals(await status("HEAD", "/docs"), 200);
    const buckets = await bench.ask("GET", "/");
    const list = buckets.children.find(({ name }) => name === "Buckets");
    assertEquals(list && texts(list, "Bucket", "Name"), ["docs", "photos"]);
    await bench.send("PUT", "/docs/a", { body: "x" });
    assertEquals(await bench.fail("DELETE", "/docs"), "BucketNotEmpty");
    await bench.send("DELETE", "/docs/a");
    assertEquals(await status("DELETE", "/docs"), 204);
    assertEquals(await bench.fail("GET", "/docs"), "NoSuchBucket");
  }));

Deno.test("An access key has the rights that it was given", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/in/a", { body: "x" });
    await bench.send("PUT", "/photos/out/b", { body: "x" });
    const reader = await bench.newKey({ permissions: ["read", "list"], namePrefix: "in/" });
    const other = await bench.newKey({ drives: ["other"] });
    const listed = await bench.ask("GET", "/photos", { key: reader, query: "delimiter=%2F" });
    assertEquals(texts(listed, "CommonPrefixes", "Prefix"), ["in/"]);
    assertEquals((await bench.send("GET", "/photos/in/a", { key: reader })).status, 200);
    for (
      const [method, path, key] of [
        ["GET", "/photos/out/b", reader],
        ["PUT", "/photos/in/a", reader],
        ["DELETE", "/photos/in/a", reader],
        ["GET", "/photos/in/a", other],
        ["GET", "/photos", other],
        ["DELETE", "/photos", reader],
      ] as const
    ) assertEquals(await bench.fail(method, path, { key }), "AccessDenied", `${method} ${path}`);
    const unknown = { ...reader, accessKeyId: "KV0000000000000000ZZ" };
    assertEquals(await bench.fail("GET", "/", { key: unknown }), "InvalidAccessKeyId");
    const wrong = { ...reader, secret: "wrong" };
    assertEquals(await bench.fail("GET", "/", { key: wrong }), "SignatureDoesNotMatch");
  }));

Deno.test("Queries of configurations get empty answers, and changes are not implemented", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a", { body: "x" });
    assertEquals((await bench.ask("GET", "/photos", { query: "versioning" })).children, []);
    assertEquals((await bench.ask("GET", "/photos/a", { query: "tagging" })).children.length, 1);
    assertEquals(await bench.fail("GET", "/photos", { query: "policy" }), "NoSuchBucketPolicy");
    assertEquals(await bench.fail("GET", "/none", { query: "acl" }), "NoSuchBucket");
    assertEquals(
      await bench.fail("PUT", "/photos", { query: "versioning", body: "<a/>" }),
      "NotImplemented",
    );
    assertEquals(
      await bench.fail("PUT", "/photos/a", { query: "tagging", body: "<a/>" }),
      "NotImplemented",
    );
    assertEquals(await bench.fail("DELETE", "/photos/a", { query: "tagging" }), "NotImplemented");
    assertEquals(await bench.fail("GET", "/photos/a", { query: "versionId=x" }), "NoSuchVersion");
    assertEquals((await bench.send("GET", "/photos/a")).status, 200);
  }));

Deno.test("Operations have names as in Amazon's reference, each of one method and level", () => {
  for (const { name } of operations) assertMatch(name, /^(?:[A-Z][a-z0-9]*)+$/);
  const names = operations.map(({ name, parameter, header }) => [name, parameter, header].join());
  assertEquals(new Set(names).size, names.length);
});
