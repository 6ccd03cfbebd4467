import { assert, assertEquals, assertRejects } from "@std/assert";
import { assertSameBytes, KIB, MIB, patternBytes } from "../support/bytes.ts";
import type { TestServer } from "../support/server.ts";
import { clientSuite, connectTo, Interceptor, refused } from "../support/typed_client/client.ts";
import { type Drive, KvdriveError } from "../support/typed_client/package.ts";

const BYTES = patternBytes(3 * MIB, 2);

const step = clientSuite("Downloads are complete, and of one version");

function through(server: TestServer, drive: Drive, interceptor: Interceptor): Drive {
  return connectTo(server, { fetch: interceptor.fetch, retryFor: 5000 }).drive(drive.name);
}

/** Breaks the bodies of the first downloads off. @param after Receives the bytes after which each breaks. */
function breaking(
  after: number[],
  then: () => Promise<unknown> = () => Promise.resolve(),
): Interceptor {
  return new Interceptor().on(async (request, call) => {
    const limit = call === "GET files/download" ? after.shift() : undefined;
    if (limit === undefined) return undefined;
    const answer = await fetch(request);
    let left = limit;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      async transform(piece, controller) {
        if (left > 0) controller.enqueue(piece.subarray(0, left));
        left -= piece.byteLength;
        if (left > 0) return;
        await then();
        controller.error(new TypeError("connection reset"));
      },
    });
    return new Response(answer.body?.pipeThrough(cut), answer);
  });
}

step("A broken download goes on where it ended", async (drive, _, server) => {
  await drive.put("a", BYTES);
  const calls = breaking([MIB, 5, 0, 700 * KIB]);
  const file = await through(server, drive, calls).get("a");
  assertSameBytes(await file?.bytes() ?? new Uint8Array(), BYTES);
  assertEquals(calls.count(/download/), 5);
  const range = { start: 1000, end: 2 * MIB };
  const part = await through(server, drive, breaking([MIB])).get("a", { range });
  assertSameBytes(await part?.bytes() ?? new Uint8Array(), BYTES.subarray(range.start, range.end));
});

step("A body that ends early counts as broken", async (drive, _, server) => {
  await drive.put("a", BYTES);
  let isFirst = true;
  const calls = new Interceptor().on(async (request) => {
    if (!isFirst) return undefined;
    isFirst = false;
    const answer = await fetch(request);
    await answer.body?.cancel();
    return new Response(BYTES.subarray(0, 1000), answer);
  });
  const file = await through(server, drive, calls).get("a");
  assertSameBytes(await file?.bytes() ?? new Uint8Array(), BYTES);
});

step("Bytes of another version are never mixed in", async (drive, _, server) => {
  for (const change of [() => drive.put("a", patternBytes(3 * MIB, 9)), () => drive.delete("a")]) {
    await drive.put("a", BYTES);
    const file = await through(server, drive, breaking([MIB], change)).get("a");
    const error = await assertRejects(async () => await file?.bytes(), KvdriveError);
    assertEquals(error.code, "file_changed");
  }
});

step("A download that stays broken fails in the end", async (drive, _, server) => {
  await drive.put("a", BYTES);
  const calls = breaking([MIB, ...Array(100).fill(0)]);
  const other = connectTo(server, { fetch: calls.fetch, retryFor: 500 }).drive(drive.name);
  const file = await other.get("a");
  const error = await assertRejects(async () => await file?.bytes(), KvdriveError);
  assertEquals([error.status, error.code], [0, "unreachable"]);
});

step("A slow reader gets all bytes, and no more is read than it takes", async (drive) => {
  await drive.put("a", BYTES);
  const file = await drive.get("a");
  const pieces: Uint8Array[] = [];
  for await (const piece of file?.body ?? []) {
    if (pieces.length < 3) await new Promise((resolve) => setTimeout(resolve, 50));
    pieces.push(piece);
  }
  assertSameBytes(new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer()), BYTES);
});

step("A proxy that compresses hides the length, and ranges tell it", async (drive, _, server) => {
  await drive.put("a", "Hello");
  const compressing = new Interceptor().on(async (request) => {
    const answer = await fetch(request);
    const headers = new Headers(answer.headers);
    if (answer.status === 200) headers.delete("content-length");
    headers.set("ETag", `W/${headers.get("etag")}`);
    return new Response(answer.body, { status: answer.status, headers });
  });
  const other = through(server, drive, compressing);
  const file = await other.get("a");
  assertEquals([file?.size, await file?.text()], [5, "Hello"]);
  assertEquals(file?.etag, (await drive.head("a"))?.etag);
  assertEquals((await refused(() => other.head("a")))[1], "invalid_answer");
});

step("A body of text or JSON is read by its methods", async (drive) => {
  await drive.put("a.json", '{"a": 1}');
  assertEquals(await (await drive.get("a.json"))?.json(), { a: 1 });
  const blob = await (await drive.get("a.json"))?.blob();
  assertEquals([blob?.type, blob?.size], ["application/json", 8]);
  const file = await drive.get("a.json");
  await file?.text();
  await assertRejects(async () => await file?.text(), TypeError);
  assert(file?.sha256 !== undefined);
});
