import { assertEquals } from "@std/assert";
import { presignedQuery, S3Bench } from "./test_support.ts";

/** Sends a presigned request. */
async function sendPresigned(
  bench: S3Bench,
  method: string,
  path: string,
  query: string,
  { body = null, headers = {} }: { body?: string | null; headers?: Record<string, string> } = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const url = `http://s3.test${path}?${presignedQuery(bench.key, method, path, query)}`;
  const length = body === null ? {} : { "content-length": String(body.length) };
  const request = new Request(url, {
    method,
    body,
    headers: { host: "s3.test", ...length, ...headers },
  });
  const response = await bench.handle(request);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

function codeOf({ status, text }: { status: number; text: string }): string | number {
  return /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? status;
}

Deno.test("Parameters x-amz-… of a presigned request count as headers", () =>
  S3Bench.use(async (bench) => {
    const query = "x-amz-meta-color=red%20%2B&x-amz-meta-Name=%C3%A9&x-amz-acl=private" +
      "&x-amz-storage-class=STANDARD&x-id=PutObject";
    const put = await sendPresigned(bench, "PUT", "/photos/a", query, { body: "hello" });
    assertEquals(put.status, 200);
    const { headers } = await bench.send("HEAD", "/photos/a");
    assertEquals(headers.get("x-amz-meta-color"), "red +");
    assertEquals(headers.get("x-amz-meta-name"), "\u00c3\u00a9", "UTF-8, as headers carry it");

    const copy = "x-amz-copy-source=photos%2Fa&x-amz-metadata-directive=REPLACE&x-amz-meta-b=c";
    assertEquals((await sendPresigned(bench, "PUT", "/photos/b", copy)).status, 200);
    const copied = await bench.send("GET", "/photos/b");
    assertEquals([await copied.text(), copied.headers.get("x-amz-meta-b")], ["hello", "c"]);

    const attributes = "attributes&x-amz-object-attributes=ObjectSize";
    const { text } = await sendPresigned(bench, "GET", "/photos/a", attributes);
    assertEquals(/<ObjectSize>(\d+)</.exec(text)?.[1], "5");
    const owner = "x-amz-expected-bucket-owner=other";
    assertEquals(codeOf(await sendPresigned(bench, "GET", "/photos/a", owner)), "AccessDenied");
  }));

Deno.test("A presigned request that asks for what the server does not do is refused", () =>
  S3Bench.use(async (bench) => {
    for (
      const [query, code] of [
        ["x-amz-acl=public-read", "NotImplemented"],
        ["x-amz-tagging=a%3Db", "NotImplemented"],
        ["x-amz-server-side-encryption=AES256", "NotImplemented"],
        ["x-amz-object-lock-mode=GOVERNANCE", "NotImplemented"],
        ["x-amz-storage-class=GLACIER", "InvalidStorageClass"],
        ["x-amz-meta-a=1&x-amz-meta-a=2", "InvalidRequest"],
        ["x-amz-meta-a=1%0A2", "InvalidArgument"],
        [`x-amz-meta-a=${"x".repeat(2048)}`, "MetadataTooLarge"],
      ] as const
    ) {
      const put = await sendPresigned(bench, "PUT", "/photos/refused", query, { body: "x" });
      assertEquals(codeOf(put), code, query);
    }
    assertEquals((await bench.send("HEAD", "/photos/refused")).status, 404);
  }));

Deno.test("Checksums in the query of a presigned request are not of its body", () =>
  S3Bench.use(async (bench) => {
    const query = "x-amz-checksum-crc32=AAAAAA%3D%3D&x-amz-sdk-checksum-algorithm=CRC32";
    const put = await sendPresigned(bench, "PUT", "/photos/a", query, { body: "hello" });
    assertEquals(put.status, 200);
    const { text } = await sendPresigned(bench, "GET", "/photos/a", "x-amz-checksum-mode=ENABLED");
    assertEquals(text, "hello");
  }));

Deno.test("Parameters x-amz-… of a request that is not presigned are no headers", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a", { body: "hello", query: "x-amz-meta-color=red" });
    const { headers } = await bench.send("HEAD", "/photos/a");
    assertEquals(headers.get("x-amz-meta-color"), null);
  }));
