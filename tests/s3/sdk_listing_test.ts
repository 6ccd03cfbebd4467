/**
 * Lists of objects by the SDK for JavaScript.
 *
 * @module
 */
import {
  ListObjectsCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  paginateListObjectsV2,
} from "@aws-sdk/client-s3";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { byUtf8Bytes } from "../support/names.ts";
import { assertRefusal, type S3Bench, sdkSuite } from "./support/sdk.ts";

const test = sdkSuite("Lists by the SDK for JavaScript", ["http"]);

const KEYS = [
  "a.txt",
  "b/1",
  "b/2",
  "b/c/3",
  "b/c/4",
  "b.txt",
  "z/é/1",
  "z/é/2",
  "caf\u00e9",
  "cafe\u0301",
  "日本/語",
  "🦖",
  "\uffee",
  "1+1 = 2 & <3>",
  "100%",
].sort(byUtf8Bytes);

async function putAll(bench: S3Bench, keys: readonly string[] = KEYS): Promise<void> {
  for (let i = 0; i < keys.length; i += 50) {
    await Promise.all(keys.slice(i, i + 50).map((key) => bench.put(key, key)));
  }
}

async function list(bench: S3Bench, more: Partial<ListObjectsV2CommandInput> = {}) {
  return await bench.s3.send(new ListObjectsV2Command({ Bucket: bench.bucket, ...more }));
}

function keysOf({ Contents }: { Contents?: { Key?: string | undefined }[] | undefined }): string[] {
  return (Contents ?? []).map(({ Key = "" }) => Key);
}

type Prefixes = { CommonPrefixes?: { Prefix?: string | undefined }[] | undefined };

function prefixesOf({ CommonPrefixes }: Prefixes): string[] {
  return (CommonPrefixes ?? []).map(({ Prefix = "" }) => Prefix);
}

test("an empty bucket", async (bench) => {
  const answer = await list(bench);
  assertEquals([answer.KeyCount, answer.IsTruncated, keysOf(answer)], [0, false, []]);
  assertEquals([answer.Name, answer.MaxKeys], [bench.bucket, 1000]);
});

test("keys are in the order of their bytes, with size, time and entity tag", async (bench) => {
  await putAll(bench);
  const answer = await list(bench, { FetchOwner: true });
  assertEquals(keysOf(answer), KEYS);
  assertEquals([answer.KeyCount, answer.IsTruncated], [KEYS.length, false]);
  for (const { ETag, Size, StorageClass, LastModified, Key = "", Owner } of answer.Contents ?? []) {
    assertMatch(ETag ?? "", /^"[0-9a-f]{32}"$/);
    assertEquals([Size, StorageClass], [new TextEncoder().encode(Key).length, "STANDARD"]);
    assert(Math.abs(Number(LastModified) - Date.now()) < 60_000);
    assert(Owner?.ID !== undefined);
  }
  const { Contents } = await list(bench);
  assertEquals(Contents?.[0]?.Owner, undefined);
});

test("a prefix and a delimiter make folders", async (bench) => {
  await putAll(bench);
  const top = await list(bench, { Delimiter: "/" });
  assertEquals(prefixesOf(top), ["b/", "z/", "日本/"]);
  assertEquals(keysOf(top), KEYS.filter((key) => !key.includes("/")));
  assertEquals(top.KeyCount, keysOf(top).length + 3);
  const below = await list(bench, { Delimiter: "/", Prefix: "b/" });
  assertEquals([keysOf(below), prefixesOf(below)], [["b/1", "b/2"], ["b/c/"]]);
  const plain = await list(bench, { Prefix: "b" });
  assertEquals(keysOf(plain), ["b.txt", "b/1", "b/2", "b/c/3", "b/c/4"]);
  const none = await list(bench, { Prefix: "none/", Delimiter: "/" });
  assertEquals([keysOf(none), prefixesOf(none)], [[], []]);
});

test("any text is a delimiter", async (bench) => {
  await putAll(bench, ["a--1", "a--2", "a-3", "b", "cé1", "cé2"]);
  const dashes = await list(bench, { Delimiter: "--" });
  assertEquals([prefixesOf(dashes), keysOf(dashes)], [["a--"], ["a-3", "b", "cé1", "cé2"]]);
  const accents = await list(bench, { Delimiter: "é" });
  assertEquals(prefixesOf(accents), ["cé"]);
});

test("pages hold every key and every common prefix once", async (bench) => {
  await putAll(bench);
  for (const Delimiter of [undefined, "/"]) {
    for (const pageSize of [1, 2, 3, 7]) {
      const [keys, prefixes]: [string[], string[]] = [[], []];
      const input = { Bucket: bench.bucket, ...Delimiter && { Delimiter } };
      for await (const page of paginateListObjectsV2({ client: bench.s3, pageSize }, input)) {
        assert(keysOf(page).length + prefixesOf(page).length <= pageSize);
        keys.push(...keysOf(page));
        prefixes.push(...prefixesOf(page));
      }
      const expected = Delimiter ? KEYS.filter((key) => !key.includes("/")) : KEYS;
      assertEquals(keys, expected);
      assertEquals(prefixes, Delimiter ? ["b/", "z/", "日本/"] : []);
    }
  }
});

test("a list begins after a key", async (bench) => {
  await putAll(bench, ["a", "b", "c", "d"]);
  assertEquals(keysOf(await list(bench, { StartAfter: "b" })), ["c", "d"]);
  assertEquals(keysOf(await list(bench, { StartAfter: "bb", MaxKeys: 1 })), ["c"]);
  assertEquals(keysOf(await list(bench, { StartAfter: "z" })), []);
});

test("lists of version 1 continue at a marker", async (bench) => {
  await putAll(bench);
  const { s3, bucket: Bucket } = bench;
  const first = await s3.send(new ListObjectsCommand({ Bucket, MaxKeys: 4 }));
  assertEquals([keysOf(first), first.IsTruncated], [KEYS.slice(0, 4), true]);
  assert(first.Contents?.[0]?.Owner !== undefined);
  const Marker = KEYS[3] ?? "";
  const rest = await s3.send(new ListObjectsCommand({ Bucket, Marker }));
  assertEquals([keysOf(rest), rest.IsTruncated], [KEYS.slice(4), false]);
});

test.unlikePeer("a page of version 1 ends at a common prefix", async (bench) => {
  await putAll(bench);
  const { s3, bucket: Bucket } = bench;
  const page = await s3.send(new ListObjectsCommand({ Bucket, Delimiter: "/", MaxKeys: 5 }));
  assertEquals([prefixesOf(page), page.NextMarker], [["b/"], "b/"]);
  const after = await s3.send(
    new ListObjectsCommand({ Bucket, Delimiter: "/", Marker: page.NextMarker ?? "" }),
  );
  assertEquals(prefixesOf(after), ["z/", "日本/"]);
});

test("names are encoded if the caller asks for it", async (bench) => {
  await putAll(bench);
  const answer = await list(bench, { EncodingType: "url" });
  const decoded = keysOf(answer).map((key) => decodeURIComponent(key.replaceAll("+", "%20")));
  assertEquals(decoded, KEYS);
  for (const key of keysOf(answer)) assertMatch(key, /^[\w.%+*/-]*$/);
});

test("a page has at most 1,000 entries", async (bench) => {
  const keys = Array.from({ length: 1100 }, (_, i) => `key-${String(i).padStart(4, "0")}`);
  await putAll(bench, keys);
  const first = await list(bench, { MaxKeys: 5000 });
  assertEquals([keysOf(first).length, first.IsTruncated], [1000, true]);
  const rest = await list(bench, { ContinuationToken: first.NextContinuationToken ?? "" });
  assertEquals(keysOf(rest), keys.slice(1000));
  assertEquals(keysOf(await list(bench, { MaxKeys: 0 })), []);
});

test("folder markers are listed", async (bench) => {
  await putAll(bench, ["folder/file"]);
  await bench.put("folder/", "");
  await bench.put("folder/inner/", "");
  assertEquals(keysOf(await list(bench)), ["folder/", "folder/file", "folder/inner/"]);
  const below = await list(bench, { Prefix: "folder/", Delimiter: "/" });
  assertEquals(keysOf(below), ["folder/", "folder/file"]);
  assertEquals(prefixesOf(below), ["folder/inner/"]);
  assertEquals(prefixesOf(await list(bench, { Delimiter: "/" })), ["folder/"]);
});

test("wrong arguments are refused", async (bench) => {
  await assertRefusal(list(bench, { ContinuationToken: "no token" }), 400, "InvalidArgument");
  await assertRefusal(list(bench, { MaxKeys: -1 }), 400, "InvalidArgument");
  await assertRefusal(list(bench, { EncodingType: "other" as "url" }), 400, "InvalidArgument");
  await assertRefusal(list(bench, { Bucket: "no-such-bucket" }), 404, "NoSuchBucket");
});
