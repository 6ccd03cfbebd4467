import { assertEquals } from "@std/assert";
import { S3Bench, signedHeaders, type TestKey, type TestRequest } from "./test_support.ts";
import { childText } from "../xml/xml_reader.ts";

const DELETE_A = "<Delete><Object><Key>a</Key></Object></Delete>";

/** Sends a signed request whose body comes after `before` has run. */
async function sendLate(
  bench: S3Bench,
  key: TestKey,
  { method, path, query, text }: { method: string; path: string; query: string; text: string },
  before: () => Promise<unknown>,
): Promise<Response> {
  const bytes = new TextEncoder().encode(text);
  const headers = signedHeaders(key, { method, path, query, bytes, headers: {} });
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await before();
      controller.enqueue(bytes);
      controller.close();
    },
  }, { highWaterMark: 0 });
  return await bench.handle(
    new Request(`http://s3.test${path}?${query}`, { method, headers, body }),
  );
}

Deno.test("A key that is revoked while a list of deletions arrives deletes nothing", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a", { body: "x" });
    const key = await bench.newKey({});
    const request = { method: "POST", path: "/photos", query: "delete=", text: DELETE_A };
    const revoke = () => bench.store.s3Keys.revoke("p", key.accessKeyId);
    const refused = await sendLate(bench, key, request, revoke);
    assertEquals([refused.status, /<Code>(\w+)/.exec(await refused.text())?.[1]], [
      403,
      "InvalidAccessKeyId",
    ]);
    assertEquals((await bench.send("GET", "/photos/a")).status, 200);
    const other = await bench.newKey({});
    const deleted = await sendLate(bench, other, request, () => Promise.resolve());
    assertEquals(deleted.status, 200, await deleted.text());
    assertEquals(await bench.fail("GET", "/photos/a"), "NoSuchKey");
  }));

Deno.test("A copy source with an impossible bucket name is refused", () =>
  S3Bench.use(async (bench) => {
    for (const bucket of ["a".repeat(5000), "%00", "%20", "a%0Ab"]) {
      const headers = { "x-amz-copy-source": `/${bucket}/a` };
      assertEquals(await bench.fail("PUT", "/photos/a", { headers }), "InvalidArgument");
    }
  }));

/** Every operation on objects, tried with a key that is for other names or another drive. */
const TRIES: readonly (readonly [method: string, path: string, request?: TestRequest])[] = [
  ["GET", "/photos/b/x"],
  ["HEAD", "/photos/b/x"],
  ["GET", "/photos/b/"],
  ["GET", "/photos/b/x", { query: "partNumber=1" }],
  ["GET", "/photos/b/x", {
    query: "attributes=",
    headers: { "x-amz-object-attributes": "ObjectSize" },
  }],
  ["GET", "/photos/b/x", { query: "acl=" }],
  ["GET", "/photos/b/x", { query: "tagging=" }],
  ["PUT", "/photos/b/x", { body: "1" }],
  ["PUT", "/photos/b/", { body: "" }],
  ["PUT", "/photos/b/x", { headers: { "x-amz-copy-source": "/photos/a/x" } }],
  ["PUT", "/photos/a/y", { headers: { "x-amz-copy-source": "/photos/b/x" } }],
  ["PUT", "/photos/a/y", { headers: { "x-amz-copy-source": "photos%2Fb%2Fx" } }],
  ["PUT", "/photos/a/y", { headers: { "x-amz-copy-source": "/music/a/x" } }],
  ["DELETE", "/photos/b/x"],
  ["DELETE", "/photos/b/"],
  ["DELETE", "/photos"],
  ["POST", "/photos/b/x", { query: "uploads=" }],
  ["GET", "/photos/b/x", { query: "uploadId=ID" }],
  ["PUT", "/photos/b/x", { query: "partNumber=1&uploadId=ID", body: "1" }],
  ["PUT", "/photos/b/x", {
    query: "partNumber=1&uploadId=ID",
    headers: { "x-amz-copy-source": "/photos/a/x" },
  }],
  ["PUT", "/photos/a/x", {
    query: "partNumber=1&uploadId=OWN",
    headers: { "x-amz-copy-source": "/photos/b/x" },
  }],
  ["POST", "/photos/b/x", {
    query: "uploadId=ID",
    body:
      "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>",
  }],
  ["DELETE", "/photos/b/x", { query: "uploadId=ID" }],
  ["GET", "/music", { query: "list-type=2" }],
  ["HEAD", "/music"],
  ["GET", "/music", { query: "uploads=" }],
  ["GET", "/music", { query: "versions=" }],
  ["GET", "/music", { query: "location=" }],
  ["GET", "/music", { query: "policy=" }],
  ["GET", "/music/a/x"],
  ["PUT", "/music/a/x", { body: "1" }],
  ["PUT", "/new-bucket"],
  ["DELETE", "/music"],
  ["GET", "/no-such-bucket/a/x"],
];

Deno.test("A key for some names of one drive reaches no others, by no operation", () =>
  S3Bench.use(async (bench) => {
    await bench.store.projects.createDrive("p", "music");
    for (const path of ["/photos/a/x", "/photos/b/x", "/music/a/x"]) {
      await bench.send("PUT", path, { body: "x" });
    }
    await bench.send("PUT", "/photos/b/", { body: "" });
    const startAt = async (path: string) =>
      childText(await bench.ask("POST", path, { query: "uploads=" }), "UploadId") ?? "";
    const [id, own] = [await startAt("/photos/b/x"), await startAt("/photos/a/x")];
    const part = { query: `partNumber=1&uploadId=${id}`, body: "1" };
    assertEquals((await bench.send("PUT", "/photos/b/x", part)).status, 200);
    const key = await bench.newKey({ drives: ["photos"], namePrefix: "a/" });
    for (const [method, path, request = {}] of TRIES) {
      const query = request.query?.replace("ID", id).replace("OWN", own) ?? "";
      const code = await bench.fail(method, path, { ...request, query, key });
      assertEquals(code, method === "HEAD" ? "403" : "AccessDenied", `${method} ${path} ${query}`);
    }
    // The id of an upload of another name, with a name that the key is for.
    for (const method of ["GET", "DELETE"]) {
      const request = { query: `uploadId=${id}`, key };
      assertEquals(await bench.fail(method, "/photos/a/x", request), "NoSuchUpload");
    }
    const removal =
      "<Delete><Object><Key>b/x</Key></Object><Object><Key>a/none</Key></Object></Delete>";
    const removed = await bench.send("POST", "/photos", { query: "delete=", body: removal, key });
    assertEquals((await removed.text()).match(/<(Deleted|Code)>/g), ["<Code>", "<Deleted>"]);
    for (const query of ["", "list-type=2", "versions=", "uploads=", "prefix=b", "delimiter=x"]) {
      const text = await (await bench.send("GET", "/photos", { query, key })).text();
      assertEquals(/>b\//.test(text), false, text);
    }
    const buckets = await (await bench.send("GET", "/", { key })).text();
    assertEquals(buckets.match(/<Name>[a-z]+/g), ["<Name>photos"]);
    assertEquals((await bench.send("GET", "/photos/b/x")).status, 200);
  }));

Deno.test("A list above the names of a key has the common prefix like that of an unlimited key", () =>
  S3Bench.use(async (bench) => {
    for (const name of ["x", "y"]) {
      await bench.send("PUT", `/photos/team/a/${name}`, { body: name });
    }
    const key = await bench.newKey({ drives: ["photos"], namePrefix: "team/a/" });
    const prefixes = async (query: string, key?: TestKey) => {
      const request = key === undefined ? { query } : { query, key };
      const text = await (await bench.send("GET", "/photos", request)).text();
      return text.match(/<CommonPrefixes>.*?<\/CommonPrefixes>/g) ?? [];
    };
    let shown = 0;
    for (
      const after of ["", "a", "team", "team/", "team/a", "team/a/x", "team/a/y", "team/a/z", "z"]
    ) {
      for (const name of ["marker", "list-type=2&start-after", "versions=&key-marker"]) {
        const query = `delimiter=%2F&${name}=${encodeURIComponent(after)}`;
        const expected = await prefixes(query);
        assertEquals(await prefixes(query, key), expected, query);
        shown += expected.length;
      }
    }
    // Before, and within the common prefix.
    assertEquals(shown, 5 * 3);
  }));

/** What each operation needs. */
const PERMISSIONS: readonly (readonly [string, string, string, string[], TestRequest?])[] = [
  ["GET", "/", "", ["list"]],
  ["GET", "/photos", "", ["list"]],
  ["GET", "/photos", "versions=", ["list"]],
  ["GET", "/photos", "uploads=", ["list"]],
  ["GET", "/photos", "acl=", ["list"]],
  ["HEAD", "/photos", "", ["list"]],
  ["PUT", "/other-bucket", "", ["write"]],
  ["DELETE", "/other-bucket", "", ["delete"]],
  ["POST", "/photos", "delete=", ["delete"], { body: DELETE_A }],
  ["GET", "/photos/a", "", ["read"]],
  ["HEAD", "/photos/a", "", ["read"]],
  ["GET", "/photos/a", "acl=", ["read"]],
  ["GET", "/photos/a", "attributes=", ["read"]],
  ["PUT", "/photos/a", "", ["write"], { body: "x" }],
  ["PUT", "/photos/a", "", ["read", "write"], { headers: { "x-amz-copy-source": "/photos/b" } }],
  ["DELETE", "/photos/a", "", ["delete"]],
  ["POST", "/photos/a", "uploads=", ["write"]],
  ["PUT", "/photos/a", "partNumber=1&uploadId=x", ["write"], { body: "x" }],
  ["PUT", "/photos/a", "partNumber=1&uploadId=x", ["read", "write"], {
    headers: { "x-amz-copy-source": "/photos/b" },
  }],
  ["GET", "/photos/a", "uploadId=x", ["list"]],
  ["POST", "/photos/a", "uploadId=x", ["write"], { body: "<x/>" }],
  ["DELETE", "/photos/a", "uploadId=x", ["write"]],
];

Deno.test("Every operation needs its permissions, and no others", () =>
  S3Bench.use(async (bench) => {
    const all = ["read", "write", "delete", "list", "admin"] as const;
    for (const [method, path, query, needed, request = {}] of PERMISSIONS) {
      const isForbidden = async (permissions: readonly typeof all[number][]) => {
        const key = await bench.newKey({ permissions });
        const response = await bench.send(method, path, { ...request, query, key });
        await response.body?.cancel();
        return response.status === 403;
      };
      const what = `${method} ${path}?${query}`;
      assertEquals(await isForbidden(all.filter((one) => needed.includes(one))), false, what);
      for (const missing of needed) {
        assertEquals(await isForbidden(all.filter((one) => one !== missing)), true, what);
      }
    }
  }));

Deno.test("A listing does not hold the metadata of its objects", () =>
  S3Bench.use(async (bench) => {
    const headers = { "cache-control": "x".repeat(4000), "x-amz-meta-a": "y".repeat(2000) };
    await bench.send("PUT", "/photos/a", { body: "x", headers });
    const query = { project: "p", drive: "photos", prefix: "", after: "", limit: 1 };
    const { entries: [entry] } = await bench.store.listObjects(query);
    const listed = entry?.record ?? {};
    assertEquals([entry?.name, "object" in listed], ["a", false]);
    const { object } =
      await bench.store.files.reader.stat({ project: "p", drive: "photos", name: "a" }) ??
        {};
    assertEquals(object?.user, { a: "y".repeat(2000) });
  }));
