import { assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import type { TestServer } from "../support/server.ts";
import {
  all,
  clientSuite,
  connectTo,
  Interceptor,
  refused,
} from "../support/typed_client/client.ts";
import type { Content, Drive, PutOptions } from "../support/typed_client/package.ts";

const PART = 10 * MIB;
const SIZE = 3 * PART + 7;
const LARGE = patternBytes(SIZE, 5);
const OTHER = patternBytes(SIZE, 6);

const step = clientSuite("An interrupted upload goes on after a restart");

/** The same drive, reached through an interceptor. */
function through(server: TestServer, drive: Drive, interceptor: Interceptor): Drive {
  return connectTo(server, { fetch: interceptor.fetch, retryFor: 0 }).drive(drive.name);
}

/** Starts an upload, of which some parts do not arrive, and leaves it open. */
async function interrupt(
  server: TestServer,
  drive: Drive,
  content: Content,
  { lost = ["3", "4"], ...options }: PutOptions & { lost?: string[] } = {},
): Promise<void> {
  const calls = new Interceptor().on(async (request) => {
    if (!lost.includes(new URL(request.url).searchParams.get("part") ?? "")) return undefined;
    // The others arrive first.
    while (calls.answered.filter((call) => call.endsWith("parts")).length < 4 - lost.length) {
      await delay(10);
    }
    throw new TypeError("connection reset");
  });
  const cut = through(server, drive, calls);
  assertEquals(
    (await refused(() => cut.put("a", content, { resume: true, ...options })))[1],
    "unreachable",
  );
}

/** Resumes, and returns the numbers of the parts that are sent. */
async function resume(
  server: TestServer,
  drive: Drive,
  content: Content,
  options: PutOptions = {},
): Promise<string[]> {
  const sent: string[] = [];
  const calls = new Interceptor().on((request) => {
    const part = new URL(request.url).searchParams.get("part");
    if (part !== null) sent.push(part);
    return undefined;
  });
  let last = 0;
  await through(server, drive, calls).put("a", content, {
    resume: true,
    onProgress: ({ sent, total }) => {
      last = sent;
      assertEquals(total, SIZE);
    },
    ...options,
  });
  assertEquals(last, SIZE);
  return sent.toSorted();
}

async function assertStored(drive: Drive, bytes: Uint8Array): Promise<void> {
  assertSameBytes(await (await drive.get("a"))?.bytes() ?? new Uint8Array(), bytes);
}

step(
  "Only the missing parts of a Blob, of bytes and of a stream are sent",
  async (drive, _, server) => {
    const contents: [() => Content, PutOptions][] = [
      [() => new Blob([LARGE]), {}],
      [() => LARGE, {}],
      [() => new Blob([LARGE]).stream(), { size: SIZE }],
    ];
    for (const [content, options] of contents) {
      await interrupt(server, drive, content(), options);
      const [open, ...others] = await all(drive.uploads.list());
      assertEquals(others, []);
      const { parts = [] } = await drive.uploads.get(open?.upload_id ?? "", "a") ?? {};
      assertEquals(parts.map(({ part }) => part), [1, 2]);
      assertEquals(await resume(server, drive, content(), options), ["3", "4"]);
      await assertStored(drive, LARGE);
      assertEquals(await all(drive.uploads.list()), []);
      await drive.delete("a");
    }
  },
);

step("The first part may be the one that is missing", async (drive, _, server) => {
  await interrupt(server, drive, LARGE, { lost: ["1", "4"] });
  assertEquals(await resume(server, drive, new Blob([LARGE])), ["1", "4"]);
  await assertStored(drive, LARGE);
});

step("Other content is never mixed in", async (drive, _, server) => {
  const half = new Blob([LARGE.subarray(0, PART), OTHER.subarray(PART)]);
  await interrupt(server, drive, LARGE);
  assertEquals(await resume(server, drive, OTHER), ["1", "2", "3", "4"]);
  await assertStored(drive, OTHER);
  // It has the same first part.
  assertEquals(await resume(server, drive, half), ["1", "2", "3", "4"]);
  await assertStored(drive, new Uint8Array(await half.arrayBuffer()));
  // Of a stream that is known only when the first part is gone.
  const stream = () => drive.put("a", half.stream(), { size: SIZE, resume: true });
  assertEquals(await refused(stream), [0, "upload_conflict"]);
  await stream();
  await assertStored(drive, new Uint8Array(await half.arrayBuffer()));
  // Other attributes are another upload.
  await interrupt(server, drive, LARGE);
  for (const options of [{ contentType: "a/b" }, { expiresIn: 99 }, { mtime: 5 }]) {
    assertEquals((await resume(server, drive, LARGE, options)).length, 4);
  }
  assertEquals(await resume(server, drive, LARGE), ["3", "4"]);
  // A shorter file, and a longer one.
  await interrupt(server, drive, LARGE, { lost: ["2", "4"] });
  const shorter = LARGE.subarray(0, PART + 5);
  await drive.put("a", shorter, { resume: true });
  await assertStored(drive, shorter);
});

step("A resumed upload that another client changes stores nothing", async (drive, _, server) => {
  await interrupt(server, drive, LARGE);
  const [open] = await all(drive.uploads.list());
  const id = open?.upload_id ?? "";
  const calls = new Interceptor().on(async (_, call) => {
    // After our last part.
    if (call.startsWith("GET uploads/") && calls.count(/parts$/) === 2) {
      await drive.uploads.putPart(id, "a", 2, OTHER.subarray(0, PART));
    }
    return undefined;
  });
  const put = () => through(server, drive, calls).put("a", LARGE, { resume: true });
  assertEquals(await refused(put), [0, "upload_conflict"]);
  assertEquals(await drive.get("a"), undefined);
  assertEquals(await all(drive.uploads.list()), []);
});

step("An upload without resume leaves none open, one with it does", async (drive, _, server) => {
  const abort = new AbortController();
  const calls = new Interceptor().on((request) => {
    if (new URL(request.url).searchParams.get("part") === "2") abort.abort(new Error("Enough"));
    return undefined;
  });
  const other = through(server, drive, calls);
  const { signal } = abort;
  await assertRejects(() => other.put("a", LARGE, { signal, resume: true }), Error, "Enough");
  assertEquals((await all(drive.uploads.list())).length, 1);
});

step("A stream without a length cannot be resumed", async (drive) => {
  const put = () => drive.put("a", new Blob([LARGE]).stream(), { resume: true });
  assertEquals(await refused(put), [0, "invalid_argument"]);
  await drive.put("small", new Blob(["small"]).stream(), { resume: true });
  assertEquals(await all(drive.uploads.list()), []);
});

step("A key that may not list starts from the beginning", async (drive, project, server) => {
  const { project_key } = await project.keys.create({ permissions: ["write"] });
  await connectTo(server, { key: project_key }).drive(drive.name).put("a", LARGE, { resume: true });
  await assertStored(drive, LARGE);
});
