import { assert, assertEquals } from "@std/assert";
import { compareNames } from "../rules/names.ts";
import { PERMISSIONS } from "../rules/rights.ts";
import { S3Bench, signedHeaders } from "./test_support.ts";
import { childrenNamed, childText, type XmlNode } from "../xml/xml_reader.ts";

function namesIn(list: XmlNode): string[] {
  const [buckets] = childrenNamed(list, "Buckets");
  return (buckets?.children ?? []).map((bucket) => childText(bucket, "Name") ?? "");
}

Deno.test("Buckets are listed page by page, with a prefix, and as far as the key sees them", () =>
  S3Bench.use(async (bench) => {
    const names = ["logs-1", "logs-2", "logs-3", "photos"];
    for (const name of names.slice(0, 3)) await bench.store.projects.createDrive("p", name);
    assertEquals(namesIn(await bench.ask("GET", "/")), names);
    const found: string[] = [];
    let token = "";
    do {
      const query = `max-buckets=1&prefix=logs-${token && `&continuation-token=${token}`}`;
      const page = await bench.ask("GET", "/", { query });
      assertEquals(childText(page, "Prefix"), "logs-");
      found.push(...namesIn(page));
      token = childText(page, "ContinuationToken") ?? "";
    } while (token !== "");
    assertEquals(found, names.slice(0, 3));
    const key = await bench.newKey({ drives: ["photos", "logs-2", "none"] });
    assertEquals(namesIn(await bench.ask("GET", "/", { key })), ["logs-2", "photos"]);
    const query = `continuation-token=${"x".repeat(5000)}`;
    assertEquals(namesIn(await bench.ask("GET", "/", { query })), []);
  }));

/** Parameters that Amazon's clients send to ask for something else than the bucket or object itself. */
const SUBRESOURCES = [
  ...["acl", "attributes", "cors", "delete", "encryption", "lifecycle", "list-type=2", "location"],
  ...["metadataInventoryTable", "policy", "renameObject", "restore", "retention", "select"],
  ...["tagging", "torrent", "uploadId=x", "uploads", "versioning", "versions", "website", "append"],
];

Deno.test("A sub-resource that a method does not have is refused, and nothing is touched", () =>
  S3Bench.use(async (bench) => {
    const ok = new Set<string>();
    for (const subresource of SUBRESOURCES) {
      for (const path of ["/photos/a", "/photos/", "/photos", "/"]) {
        for (const method of ["DELETE", "PUT", "POST", "GET", "HEAD"]) {
          await bench.send("PUT", "/photos/a", { body: "kept" });
          const body = method === "PUT" ? "other" : undefined;
          const answer = await bench.send(method, path, { query: subresource, body });
          const about = `${method} ${path}?${subresource}: ${answer.status}`;
          await answer.body?.cancel();
          assert([200, 400, 404, 405, 501].includes(answer.status), about);
          if (answer.status === 200) ok.add(`${method} ${subresource}`);
          if (answer.status === 405) assert(answer.headers.has("allow"), about);
          assertEquals(await (await bench.send("GET", "/photos/a")).text(), "kept", about);
        }
      }
    }
    assertEquals([...ok].filter((one) => /^(?:DELETE|PUT)/.test(one)), []);
    assert(ok.has("GET list-type=2") && ok.has("POST uploads") && ok.has("HEAD acl"));
    const both = await bench.send("DELETE", "/photos/a", { query: "tagging&uploadId=x" });
    assertEquals(both.status, 405);
    const form = new FormData();
    form.set("key", "b");
    form.set("file", new Blob(["x"]));
    const url = "http://s3.test/photos?restore";
    const sent = await bench.handle(new Request(url, { method: "POST", body: form }));
    assertEquals([sent.status < 500, sent.ok], [true, false]);
  }));

Deno.test("A path without a bucket is no list of buckets", () =>
  S3Bench.use(async (bench) => {
    for (const path of ["//photos/a", "//photos", "//", "/%2Fphotos/a"]) {
      for (const method of ["GET", "PUT", "DELETE"]) {
        assertEquals(await bench.fail(method, path), "InvalidBucketName", path);
      }
    }
  }));

/** Sends a signed request whose body comes once `before` has run. */
async function sendLate(
  bench: S3Bench,
  path: string,
  bytes: Uint8Array<ArrayBuffer>,
  before: () => Promise<unknown>,
): Promise<Response> {
  const headers = signedHeaders(bench.key, {
    ...{ method: "PUT", path, query: "", bytes },
    headers: { "content-length": String(bytes.byteLength) },
  });
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await before();
      controller.enqueue(bytes);
      controller.close();
    },
  }, { highWaterMark: 0 });
  return await bench.handle(new Request(`http://s3.test${path}`, { method: "PUT", headers, body }));
}

Deno.test("A write whose bucket is deleted meanwhile does not create it again", () =>
  S3Bench.use(async (bench) => {
    for (const size of [0, 10, 300_000]) {
      for (const path of ["/gone/a", "/gone/folder/"]) {
        if (path.endsWith("/") && size > 0) continue;
        await bench.store.projects.createDrive("p", "gone");
        const remove = async () => assertEquals((await bench.send("DELETE", "/gone")).status, 204);
        const answer = await sendLate(bench, path, new Uint8Array(size), remove);
        assertEquals([answer.status, /<Code>(\w+)/.exec(await answer.text())?.[1]], [
          404,
          "NoSuchBucket",
        ]);
        assertEquals(namesIn(await bench.ask("GET", "/")), ["photos"]);
      }
    }
  }));

Deno.test("Of a write and a deletion of its bucket at the same time, one succeeds", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/source", { body: "x" });
    const headers = { "x-amz-copy-source": "/photos/source" };
    for (let round = 0; round < 30; round++) {
      await bench.store.projects.createDrive("p", "race");
      const write = round % 3 === 0
        ? bench.send("PUT", "/race/a", { headers })
        : bench.send("PUT", round % 3 === 1 ? "/race/a" : "/race/a/", {
          body: round % 3 === 1 ? "x" : "",
        });
      const [written, deleted] = await Promise.all([write, bench.send("DELETE", "/race")]);
      await written.body?.cancel();
      await deleted.body?.cancel();
      const exists = namesIn(await bench.ask("GET", "/")).includes("race");
      const outcome = `${round}: ${written.status} ${deleted.status}`;
      assertEquals(exists, deleted.status !== 204, outcome);
      assertEquals(written.ok, exists, outcome);
      for (const key of ["a", "a/"]) {
        if (exists) await (await bench.send("DELETE", `/race/${key}`)).body?.cancel();
      }
    }
  }));

Deno.test("Above its prefix, a limited key lists what a full key would list of its names", () =>
  S3Bench.use(async (bench) => {
    const names = ["a", "team/a/", "team/a/1", "team/a/2/x", "team/a-", "team/b", "z"];
    for (const name of names) await bench.send("PUT", `/photos/${name}`, { body: "" });
    const all = [...names].sort(compareNames);
    const markers = ["", ...all, "team", "team/", "team/a", "team/a/0", "team/a/1/", "team/a/2/"];
    for (const namePrefix of ["team/a", "team/a/", "team/a/2/", "team/a/9"]) {
      const key = await bench.newKey({ namePrefix, permissions: PERMISSIONS });
      const own = all.filter((name) => name.startsWith(namePrefix));
      for (const prefix of ["", "t", "team/", "team/a", "team/a/"]) {
        for (const delimiter of ["", "/", "a", "a/", "m/a"]) {
          for (const after of markers) {
            const groupOf = (name: string) => {
              const at = delimiter === "" ? -1 : name.indexOf(delimiter, prefix.length);
              return at === -1 ? name : `${name.slice(0, at + delimiter.length)}*`;
            };
            const expected = own.filter((name) =>
              name.startsWith(prefix) && compareNames(name, after) > 0 &&
              groupOf(name) !== `${after}*`
            ).map(groupOf);
            const query = new URLSearchParams({ prefix, delimiter, marker: after }).toString();
            const list = await bench.ask("GET", "/photos", { key, query });
            const found = list.children.flatMap((child) => {
              if (child.name === "Contents") return [childText(child, "Key") ?? ""];
              return child.name === "CommonPrefixes" ? [`${childText(child, "Prefix")}*`] : [];
            });
            assertEquals(
              found.sort(compareNames),
              [...new Set(expected)].sort(compareNames),
              `${namePrefix} ${query}`,
            );
          }
        }
      }
    }
  }));

/** Values that fit into a request and into no key of the store. */
const LONG = [
  "x".repeat(3000),
  "%F0%9F%A6%96".repeat(1200),
  "%00".repeat(1500),
  "%00",
  "x".repeat(20_000),
];

Deno.test("Parameters of any length are answered without a defect", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a", { body: "x" });
    await bench.ask("POST", "/photos/a", { query: "uploads" });
    const calls: [method: string, path: string, query: string][] = [
      ...["prefix", "continuation-token", "max-buckets"].map((name) =>
        ["GET", "/", `${name}=`] as [string, string, string]
      ),
      ...["prefix", "marker", "delimiter", "max-keys"].map((name) =>
        ["GET", "/photos", `${name}=`] as [string, string, string]
      ),
      ...["prefix", "start-after", "continuation-token", "delimiter"].map((name) =>
        ["GET", "/photos", `list-type=2&${name}=`] as [string, string, string]
      ),
      ["GET", "/photos", "versions&key-marker="],
      ["GET", "/photos", "versions&key-marker=a&version-id-marker="],
      ["GET", "/photos", "uploads&key-marker="],
      ["GET", "/photos", "uploads&prefix="],
      ["GET", "/photos", "uploads&delimiter="],
      ["GET", "/photos", "uploads&key-marker=a&upload-id-marker="],
      ["GET", "/photos/a", "uploadId="],
      ["PUT", "/photos/a", "partNumber=1&uploadId="],
      ["POST", "/photos/a", "uploadId="],
      ["DELETE", "/photos/a", "uploadId="],
      ["GET", "/photos/a", "versionId="],
      ["DELETE", "/photos/a", "versionId="],
    ];
    for (const [method, path, query] of calls) {
      for (const value of LONG) {
        const answer = await bench.send(method, path, { query: query + value });
        await answer.body?.cancel();
        assert(
          answer.status < 500,
          `${method} ${path}?${query}${value.slice(0, 20)}: ${answer.status}`,
        );
      }
    }
  }));
