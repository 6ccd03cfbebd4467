import { assert, assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertSameBytes, MIB, patternBytes, streamOf } from "../support/bytes.ts";
import { PROJECT_KEY, TestServer } from "../support/server.ts";
import {
  all,
  clientSuite,
  connectTo,
  Interceptor,
  namesIn,
  refused,
  temporaryAnswer,
} from "../support/typed_client/client.ts";
import { connect, type Drive, type UploadProgress } from "../support/typed_client/package.ts";

const PART = 10 * MIB;
const SIZE = 3 * PART + 7;
const LARGE = patternBytes(SIZE, 5);

const step = clientSuite("Files of any size are stored whole or not at all");

async function assertStored(drive: Drive, name: string, bytes: Uint8Array): Promise<void> {
  assertSameBytes(await (await drive.get(name))?.bytes() ?? new Uint8Array(), bytes, name);
}

/** The same drive, reached through an interceptor. */
function through(server: TestServer, drive: Drive, interceptor: Interceptor): Drive {
  return connectTo(server, { fetch: interceptor.fetch, retryFor: 5000 }).drive(drive.name);
}

async function* piecesOf(bytes: Uint8Array, failAt = Infinity): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += MIB) {
    if (start >= failAt) throw new Error("The disk is gone");
    yield bytes.subarray(start, start + MIB);
  }
}

step("Large files go in parts side by side, and tell their progress", async (drive, _, server) => {
  let running = 0;
  let most = 0;
  const contents = {
    bytes: () => LARGE,
    blob: () => new Blob([LARGE]),
    stream: () => streamOf(LARGE),
    pieces: () => piecesOf(LARGE),
    "one piece": async function* () {
      yield LARGE;
    },
  };
  for (const [name, content] of Object.entries(contents)) {
    const calls = new Interceptor().on(async (request) => {
      most = Math.max(most, ++running);
      const answer = await fetch(request);
      running--;
      return answer;
    });
    const seen: UploadProgress[] = [];
    const stored = await through(server, drive, calls).put(name, content(), {
      contentType: "text/x-own",
      expiresIn: 3600,
      onProgress: (progress) => seen.push(progress),
    });
    assertEquals(Object.keys(stored).toSorted(), ["drive_name", "expires", "name", "project_id"]);
    await assertStored(drive, name, LARGE);
    assertEquals((await drive.details(name))?.content_type, "text/x-own");
    assertEquals(calls.count(/parts$/), 4);
    const total = name === "bytes" || name === "blob" ? SIZE : undefined;
    assertEquals(seen.at(-1), { sent: SIZE, total });
    assertEquals(
      seen.map(({ sent }) => sent),
      seen.map(({ sent }) => sent).toSorted((a, b) => a - b),
    );
  }
  assert(most >= 3, `${most} requests at once`);
  assertEquals(await all(drive.uploads.list()), []);
});

step("A file of exactly one request, and of exactly two parts", async (drive, _, server) => {
  for (const [size, requests] of [[PART, 1], [PART + 1, 4], [2 * PART, 4]] as const) {
    for (const content of [LARGE.subarray(0, size), piecesOf(LARGE.subarray(0, size))]) {
      const calls = new Interceptor();
      await through(server, drive, calls).put("a", content);
      assertEquals(calls.calls.length, requests);
      await assertStored(drive, "a", LARGE.subarray(0, size));
    }
  }
});

step("429, 503 and broken connections are repeated", async (drive, _, server) => {
  for (const content of [new Uint8Array([1, 2, 3]), LARGE]) {
    const failed = new Set<string>();
    const calls = new Interceptor().on((request, call) => {
      const key = `${call} ${new URL(request.url).searchParams.get("part")}`;
      if (failed.has(key)) return;
      failed.add(key);
      if (failed.size % 3 === 0) throw new TypeError("connection reset");
      return temporaryAnswer(failed.size % 3 === 1 ? 429 : 503);
    });
    await through(server, drive, calls).put("a", content);
    await assertStored(drive, "a", content);
    assertEquals(calls.calls.length, 2 * failed.size);
  }
});

step("Retry-After is honoured", async (drive, _, server) => {
  const times: number[] = [];
  const calls = new Interceptor().on(() => {
    times.push(performance.now());
    if (times.length > 1) return;
    const body = { errors: ["Wait"], code: "shutting_down" };
    return Response.json(body, { status: 503, headers: { "Retry-After": "2" } });
  });
  await through(server, drive, calls).put("a", "x");
  const [first = 0, second = 0] = times;
  assert(second - first >= 2000, `${second - first} ms`);
  const late = new Interceptor().on(() =>
    Response.json({ errors: ["Wait"], code: "shutting_down" }, {
      status: 503,
      headers: { "Retry-After": "3600" },
    })
  );
  assertEquals(await refused(() => through(server, drive, late).put("a", "x")), [
    503,
    "shutting_down",
  ]);
  assertEquals(late.calls.length, 1);
});

step("A lost answer to a conditional write is no failure", async (drive, _, server) => {
  for (const content of ["first", LARGE]) {
    let isLost = false;
    const calls = new Interceptor().on(async (request, call) => {
      if (isLost || !/^POST .*files$|^PATCH/.test(call)) return undefined;
      isLost = true;
      await (await fetch(request)).body?.cancel();
      throw new TypeError("connection reset");
    });
    await drive.delete("a");
    await through(server, drive, calls).put("a", content, { ifNoneMatch: "*" });
    assert(isLost);
  }
  // The file of another client is one.
  await drive.put("b", "theirs");
  let count = 0;
  const calls = new Interceptor().on((_, call) => {
    if (call.startsWith("POST") && count++ === 0) throw new TypeError("connection reset");
    return undefined;
  });
  assertEquals(
    await refused(() => through(server, drive, calls).put("b", "ours", { ifNoneMatch: "*" })),
    [412, "precondition_failed"],
  );
});

step("A stream that fails, or has another length, stores nothing", async (drive) => {
  await drive.put("a", "before");
  for (const failAt of [MIB, 2 * PART]) {
    const error = await assertRejects(() => drive.put("a", piecesOf(LARGE, failAt)), Error);
    assertEquals(error.message, "The disk is gone");
    const stream = new ReadableStream({
      pull(controller) {
        controller.error(new Error("The disk is gone"));
      },
    });
    await assertRejects(() => drive.put("a", stream), Error, "The disk is gone");
  }
  for (const size of [SIZE - 1, SIZE + 1, 5]) {
    assertEquals(await refused(() => drive.put("a", piecesOf(LARGE), { size })), [
      0,
      "source_changed",
    ]);
  }
  assertEquals(await refused(() => drive.put("a", new Blob(["abc"]), { size: 2 })), [
    0,
    "source_changed",
  ]);
  await drive.put("b", piecesOf(LARGE), { size: SIZE });
  assertEquals(await (await drive.get("a"))?.text(), "before");
  assertEquals(await all(drive.uploads.list()), []);
});

step("A Blob whose length changes is refused", async (drive) => {
  class Growing extends Blob {
    #reads = 0;
    override get size() {
      return super.size + (this.#reads > 2 ? 1 : 0);
    }
    override slice(start?: number, end?: number, type?: string) {
      this.#reads++;
      return super.slice(start, end, type);
    }
  }
  class Cut extends Blob {
    override slice(start = 0, end = 0) {
      return super.slice(start, end - 1);
    }
  }
  for (const content of [new Growing([LARGE]), new Cut([LARGE]), new Cut(["abc"])]) {
    assertEquals(await refused(() => drive.put("a", content)), [0, "source_changed"]);
  }
  assertEquals([await namesIn(drive), await all(drive.uploads.list())], [[], []]);
});

step("What cannot be stored is refused", async (drive) => {
  for (const content of [undefined, null, 5, {}, ["a"]]) {
    assertEquals(await refused(() => drive.put("a", content as never)), [0, "invalid_argument"]);
  }
  async function* numbers() {
    yield 5;
  }
  assertEquals(await refused(() => drive.put("a", numbers() as never)), [0, "invalid_argument"]);
  assertEquals(await refused(() => drive.put("a", "x", { mtime: "yesterday" })), [
    0,
    "invalid_argument",
  ]);
  assertEquals(await refused(() => drive.put("a", "x", { contentType: "a\nb" })), [
    0,
    "invalid_argument",
  ]);
  assertEquals(await namesIn(drive), []);
});

step("An aborted upload stores nothing, and rejects with the reason", async (drive, _, server) => {
  await drive.put("a", "before");
  for (const content of [LARGE, new Blob([LARGE]), piecesOf(LARGE)]) {
    const abort = new AbortController();
    const calls = new Interceptor().on((_, call) => {
      if (call.endsWith("parts")) abort.abort(new Error("Enough"));
      return undefined;
    });
    const put = () => through(server, drive, calls).put("a", content, { signal: abort.signal });
    await assertRejects(put, Error, "Enough");
  }
  // The server may open the upload when the caller has given up.
  const early = new AbortController();
  const calls = new Interceptor().on(async (request, call) => {
    if (call !== "POST uploads") return undefined;
    const answer = await fetch(request);
    early.abort(new Error("Enough"));
    await delay(100);
    return answer;
  });
  const put = () => through(server, drive, calls).put("a", LARGE, { signal: early.signal });
  await assertRejects(put, Error, "Enough");
  const aborted = AbortSignal.abort();
  await assertRejects(() => drive.put("a", "x", { signal: aborted }), DOMException);
  // A stream that never answers does not keep the upload waiting.
  const abort = new AbortController();
  let isCancelled = false;
  const silent = new ReadableStream<Uint8Array>({
    cancel() {
      isCancelled = true;
    },
  });
  setTimeout(() => abort.abort(), 50);
  await assertRejects(() => drive.put("a", silent, { signal: abort.signal }), DOMException);
  await delay(0);
  assert(isCancelled);
  assertEquals(await (await drive.get("a"))?.text(), "before");
  assertEquals(await all(drive.uploads.list()), []);
});

step("A refused part aborts the upload", async (drive, _, server) => {
  const calls = new Interceptor().on((request) =>
    new URL(request.url).searchParams.get("part") === "3"
      ? Response.json({ errors: ["Full"], code: "quota_exceeded" }, { status: 507 })
      : undefined
  );
  const put = () => through(server, drive, calls).put("a", LARGE);
  assertEquals(await refused(put), [507, "quota_exceeded"]);
  assertEquals([await namesIn(drive), await all(drive.uploads.list())], [[], []]);
});

step("Without a server the error has no status", async () => {
  const drive = connect({ url: "http://127.0.0.1:9", key: PROJECT_KEY }).drive("photos");
  const began = performance.now();
  assertEquals(await refused(() => drive.put("a", "x")), [0, "unreachable"]);
  assert(performance.now() - began < 20_000);
});

step("Other answers are not taken for kvdrive's", async (drive, _, server) => {
  const answers = [
    () => new Response("<html>", { status: 200, headers: { "Content-Type": "text/html" } }),
    () => new Response("<html>", { status: 404 }),
    () => new Response(null, { status: 302, headers: { Location: "https://example.com/" } }),
    () => Response.json({ message: "no" }, { status: 400 }),
  ];
  for (const answer of answers) {
    const other = through(server, drive, new Interceptor().on(answer));
    for (const call of [() => other.put("a", "x"), () => other.details("a")]) {
      assertEquals((await refused(call))[1], "invalid_answer");
    }
  }
  const empty = through(server, drive, new Interceptor().on(() => Response.json({})));
  assertEquals((await refused(() => namesIn(empty)))[1], "invalid_answer");
});

step(
  "Only what certainly did not happen is repeated, if it must not happen twice",
  async (drive, _, server) => {
    await drive.put("a", "x");
    let failures = 0;
    const lost = new Interceptor().on(async (request) => {
      failures++;
      await (await fetch(request)).body?.cancel();
      throw new TypeError("connection reset");
    });
    const unlucky = through(server, drive, lost);
    assertEquals((await refused(() => unlucky.links.create({ name: "a" })))[1], "unreachable");
    assertEquals((await refused(() => unlucky.move("a", "b")))[1], "unreachable");
    assertEquals([failures, (await all(drive.links.list())).length], [2, 1]);
    let count = 0;
    const busy = new Interceptor().on(() => count++ === 0 ? temporaryAnswer() : undefined);
    await through(server, drive, busy).links.create({ name: "b" });
    assertEquals((await all(drive.links.list())).length, 2);
  },
);
