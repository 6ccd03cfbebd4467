import { assert, assertEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { MAX_PARTS, MIN_PART } from "../../rules/payloads.ts";
import { HOUR, MINUTE } from "../../rules/units.ts";
import { UploadRefused } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { KvReader } from "../reads/read_queue.ts";
import { CHUNK_SIZE, type PartRecord } from "../engine/records.ts";
import { newVersion } from "../bytes/versions.ts";
import { DEFAULT_UPLOAD_TTL, Store } from "../store.ts";
import { broken, bytes, place } from "../testing/bodies.ts";
import { assertKeys, assertUsage, keyKinds } from "../testing/entries.ts";
import { assertCompleted, put, putPart, read } from "../testing/files.ts";
import { sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";

const PART = MIN_PART + 123;
const always = () => true;

/** The entries of an open upload with one part, without its bytes. */
const OPEN = {
  ...{ upload: 1, garbage: 1, part: 1, parts_revision: 1 },
  ...{ "usage files": 1, "usage open_bytes": 1 },
};

async function start({ store }: TestStore): Promise<string> {
  return await store.uploads.start(place("a"), undefined);
}

testOnAll(
  "Starting an upload creates the drive, and aborting it removes the session",
  async (bench) => {
    const id = await start(bench);
    await assertKeys(bench, { upload: 1, garbage: 1, "usage files": 1 });
    await bench.store.uploads.abort(place("a"), id);
    await sweepLater(bench);
    await assertKeys(bench, { "usage files": 1 });
    const gone = await assertRejects(() => bench.store.uploads.get(place("a"), id), UploadRefused);
    assertEquals(gone.problem, "absent");
  },
);

testOnAll(
  "An upload that was found to be expired does not come back when the clock is set back",
  async (bench) => {
    const { uploads } = bench.store;
    const list = async () => {
      const page = await uploads.list("p", "d", { limit: 1000, last: "" });
      return page.uploads.map(({ id }) => id);
    };
    await withClock(async (forward, set) => {
      const [looked, listed, unseen] = [await start(bench), await start(bench), await start(bench)];
      const done = await start(bench);
      for (const id of [looked, done]) await putPart(bench, "a", id, 1, bytes(2 * CHUNK_SIZE));
      assertCompleted(await uploads.complete(place("a"), done, always));
      forward(DEFAULT_UPLOAD_TTL - HOUR);
      assertEquals(await list(), [looked, listed, unseen]);
      set(HOUR);
      for (const id of [looked, done]) {
        await assertRejects(() => uploads.get(place("a"), id), UploadRefused, "no upload");
      }
      const page = await uploads.list("p", "d", { limit: 1000, last: "" });
      assertEquals(page, { uploads: [], more: false });
      set(-2 * HOUR);
      assertEquals(await list(), []);
      await assertRejects(() => putPart(bench, "a", looked, 2, bytes(1)), UploadRefused);
      await assertRejects(() => uploads.complete(place("a"), done, always), UploadRefused);
      assertEquals(await read(bench, "a"), bytes(2 * CHUNK_SIZE));
      // The slot and the parts of an expired upload are freed now, although the clock was set back.
      await sweepLater(bench);
      await assertKeys(bench, { file: 1, chunk: 2, "usage files": 1, "usage bytes": 1 });
    });
  },
);

const COMPLETIONS: { name: string; sizes: number[]; lies: Record<string, number> }[] = [
  { name: "no part", sizes: [], lies: { content: 1 } },
  { name: "one empty part", sizes: [0], lies: {} },
  { name: "one small part", sizes: [10], lies: { chunk: 1, "usage bytes": 1 } },
  { name: "one large part", sizes: [PART], lies: { chunk: 77, "usage bytes": 1 } },
  {
    name: "three parts",
    sizes: [PART, MIN_PART, 7],
    lies: { chunk: 77 + 77 + 1, manifest: 1, undigested: 1, "usage bytes": 1 },
  },
];

for (const { name, sizes, lies } of COMPLETIONS) {
  testOnAll(
    `An upload of ${name} becomes a file, and deleting that leaves nothing`,
    async (bench) => {
      const id = await start(bench);
      await Promise.all(sizes.map((size, i) => putPart(bench, "a", id, i + 1, bytes(size, i))));
      assertCompleted(await bench.store.uploads.complete(place("a"), id, always));
      assertCompleted(await bench.store.uploads.complete(place("a"), id, always));
      const whole = await new Blob(sizes.map((size, i) => bytes(size, i))).arrayBuffer();
      assertEquals(await read(bench, "a"), new Uint8Array(whole));
      await assertUsage(bench, { files: 1, bytes: whole.byteLength });
      await sweepLater(bench);
      await assertKeys(bench, { file: 1, completed_upload: 1, "usage files": 1, ...lies });
      await bench.store.files.delete(place("a"));
      await sweepLater(bench);
      const counters = Object.keys(lies).filter((kind) => kind === "usage bytes");
      const left = Object.fromEntries(
        ["completed_upload", "usage files", ...counters].map((kind) => [kind, 1]),
      );
      await assertKeys(bench, left);
      await assertUsage(bench, { files: 0, bytes: 0 });
    },
  );
}

testOnAll("A range of a file of several parts contains the right bytes", async (bench) => {
  const id = await start(bench);
  const sizes = [PART, PART + 1, 100];
  for (const [i, size] of sizes.entries()) await putPart(bench, "a", id, i + 1, bytes(size, i));
  await bench.store.uploads.complete(place("a"), id, always);
  const whole = new Blob(sizes.map((size, i) => bytes(size, i)));
  const edges = [
    0,
    1,
    CHUNK_SIZE,
    PART - 1,
    PART,
    PART + 1,
    2 * PART + 1,
    whole.size - 1,
    whole.size,
  ];
  const file = await bench.store.files.reader.open(place("a"));
  assert(file !== undefined);
  for (const start of edges) {
    for (const end of edges.filter((edge) => edge >= start)) {
      const pieces = await Array.fromAsync(await file.read({ start, end }));
      const received = await new Blob(pieces).arrayBuffer();
      const expected = await whole.slice(start, end).arrayBuffer();
      assertEquals(received.byteLength, end - start);
      assert(sameBytes(received, expected), `Bytes ${start} to ${end} differ`);
    }
  }
  file.close();
});

testOnAll("A part that is sent again replaces the earlier one and its bytes", async (bench) => {
  const id = await start(bench);
  await putPart(bench, "a", id, 1, bytes(3 * CHUNK_SIZE, 1));
  await putPart(bench, "a", id, 1, bytes(2 * CHUNK_SIZE, 2));
  await sweepLaterThanParts(bench);
  await assertKeys(bench, { ...OPEN, chunk: 2 });
  await bench.store.uploads.complete(place("a"), id, always);
  assertEquals(await read(bench, "a"), bytes(2 * CHUNK_SIZE, 2));
});

testOnAll("A part whose body breaks off leaves the earlier one", async (bench) => {
  const id = await start(bench);
  await putPart(bench, "a", id, 1, bytes(10));
  const named = { id, part: 1, type: undefined };
  await assertRejects(
    () => bench.store.uploads.putPart(place("a"), named, broken(20 * CHUNK_SIZE), () => {}),
    Error,
    "The sender left",
  );
  await sweepLaterThanParts(bench);
  await assertKeys(bench, { ...OPEN, chunk: 1 });
});

testOnAll("Aborting an upload deletes its parts and their bytes", async (bench) => {
  const id = await start(bench);
  await putPart(bench, "a", id, 1, bytes(PART));
  await putPart(bench, "a", id, 4, bytes(10));
  await bench.store.uploads.abort(place("a"), id);
  await sweepLater(bench);
  await assertKeys(bench, { "usage files": 1 });
});

testOnAll("An expired upload is deleted with its parts and bytes", async ({ db }) => {
  const store = new Store(db, { uploadTtl: MINUTE, onError: () => {} });
  const bench = { store, db };
  const id = await start(bench);
  await putPart(bench, "a", id, 1, bytes(2 * CHUNK_SIZE));
  await store.sweeper.sweep(Date.now() + MINUTE + 1);
  const gone = await assertRejects(() => putPart(bench, "a", id, 2, bytes(1)), UploadRefused);
  assertEquals(gone.problem, "absent");
  await sweepLater(bench);
  await assertKeys(bench, { "usage files": 1 });
});

testOnAll("A part that is being sent when the upload is aborted leaves nothing", async (bench) => {
  const id = await start(bench);
  const body = async function* (): AsyncGenerator<Uint8Array> {
    yield bytes(3 * CHUNK_SIZE);
    await bench.store.uploads.abort(place("a"), id);
  };
  const named = { id, part: 1, type: undefined };
  await assertRejects(
    () => bench.store.uploads.putPart(place("a"), named, body(), () => {}),
    UploadRefused,
  );
  await sweepLater(bench);
  await assertKeys(bench, { "usage files": 1 });
});

testOnAll("Concurrent completions make one file", async (bench) => {
  const id = await start(bench);
  await putPart(bench, "a", id, 1, bytes(PART));
  await putPart(bench, "a", id, 2, bytes(10));
  const outcomes = await Promise.all(
    Array.from({ length: 5 }, () => bench.store.uploads.complete(place("a"), id, always)),
  );
  for (const outcome of outcomes) assertCompleted(outcome);
  await assertUsage(bench, { files: 1, bytes: PART + 10 });
  await sweepLater(bench);
  await assertKeys(bench, {
    file: 1,
    manifest: 1,
    undigested: 1,
    chunk: 78,
    completed_upload: 1,
    "usage files": 1,
    "usage bytes": 1,
  });
});

testOnAll(
  "A file contains one whole version of a part that is replaced during the completion",
  async (bench) => {
    for (let round = 0; round < 10; round++) {
      const id = await start(bench);
      await putPart(bench, "a", id, 1, bytes(2 * CHUNK_SIZE, 1));
      const [outcome] = await Promise.allSettled([
        bench.store.uploads.complete(place("a"), id, always),
        putPart(bench, "a", id, 1, bytes(2 * CHUNK_SIZE, 2)),
      ]);
      assertEquals(outcome.status, "fulfilled");
      await sweepLater(bench);
      const data = await read(bench, "a");
      const isOne = [1, 2].some((seed) =>
        sameBytes(data?.buffer, bytes(2 * CHUNK_SIZE, seed).buffer)
      );
      assert(isOne, "The file is neither of the two parts");
    }
  },
);

testOnAll(
  "A part that arrives during the completion is refused or in the file",
  async (bench) => {
    for (let round = 0; round < 20; round++) {
      const id = await start(bench);
      const [part, outcome] = await Promise.allSettled([
        putPart(bench, "a", id, 1, bytes(2 * CHUNK_SIZE)),
        passTurns(bench, round).then(() => bench.store.uploads.complete(place("a"), id, always)),
      ]);
      assertEquals(outcome.status, "fulfilled");
      const expected = part.status === "fulfilled" ? 2 * CHUNK_SIZE : 0;
      assertEquals((await read(bench, "a"))?.byteLength, expected);
      await bench.store.files.delete(place("a"));
    }
    await sweepLater(bench);
    const { chunk = 0, pending = 0, garbage = 0 } = await keyKinds(bench);
    assertEquals({ chunk, pending, garbage }, { chunk: 0, pending: 0, garbage: 0 });
  },
);

/** Lets concurrent calls run for some turns, so that the two meet at different steps. */
async function passTurns({ store }: TestStore, turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) await store.files.reader.stat(place("another"));
}

testOnAll("A completion whose condition does not hold leaves the upload open", async (bench) => {
  await put(bench, "a", bytes(10));
  const id = await start(bench);
  await putPart(bench, "a", id, 1, bytes(20));
  assertEquals(await bench.store.uploads.complete(place("a"), id, () => false), "refused");
  assertEquals(await read(bench, "a"), bytes(10));
  assertEquals((await bench.store.uploads.get(place("a"), id)).parts.length, 1);
  assertCompleted(await bench.store.uploads.complete(place("a"), id, always));
  assertEquals(await read(bench, "a"), bytes(20));
});

testOnAll(
  "10,000 parts are completed in one commit that touches none of their bytes",
  async (bench) => {
    const id = await start(bench);
    await seedParts(bench, id);
    const before = await lastVersionstamp(bench.db.reader, ["part"]);
    assertCompleted(await bench.store.uploads.complete(place("a"), id, always));
    assertEquals(await lastVersionstamp(bench.db.reader, ["part"]), before);
    await assertUsage(bench, { files: 1, bytes: MAX_PARTS * MIN_PART });
    const pages = await Array.fromAsync(bench.db.reader.list({ prefix: ["manifest"] }));
    assertEquals(pages.length, 20);
    assertEquals(new Set(pages.map(({ versionstamp }) => versionstamp)).size, 1);
    await sweepLater(bench);
    await assertKeys(bench, {
      file: 1,
      manifest: 20,
      undigested: 1,
      completed_upload: 1,
      "usage files": 1,
      "usage bytes": 1,
    });
  },
);

/** Stores part entries without bytes: the completion must not read them. */
async function seedParts({ db }: TestStore, id: string): Promise<void> {
  for (let first = 1; first <= MAX_PARTS; first += 500) {
    const operation = new Operation();
    for (let part = first; part < first + 500; part++) {
      const record: PartRecord = { version: newVersion(), size: MIN_PART, sha256: "" };
      operation.set(keys.part("p", "d", id, part), record);
    }
    await db.commitBulk(operation);
  }
}

async function lastVersionstamp(kv: KvReader, prefix: Deno.KvKey): Promise<string> {
  const stamps = await Array.fromAsync(kv.list({ prefix }), ({ versionstamp }) => versionstamp);
  return stamps.sort().at(-1) ?? "";
}

/** Sweeps what is due now; the session is not. */
async function sweepLaterThanParts({ store }: TestStore): Promise<void> {
  await store.sweeper.sweep(Date.now() + 1);
}

/** Returns whether two buffers hold the same bytes. `assertEquals` is slow for megabytes. */
function sameBytes(a: ArrayBufferLike | undefined, b: ArrayBufferLike): boolean {
  return a !== undefined && Buffer.from(a).equals(Buffer.from(b));
}

testOnAll("A completion that is not accepted leaves the upload open", async (bench) => {
  const { uploads, files } = bench.store;
  const id = await start(bench);
  await putPart(bench, "a", id, 1, bytes(10));
  const refuse = () => Promise.reject(new Error("The key was revoked"));
  await assertRejects(
    () => uploads.complete(place("a"), id, always, { accept: refuse }),
    Error,
    "revoked",
  );
  assertEquals(await files.reader.stat(place("a")), undefined);
  assertCompleted(await uploads.complete(place("a"), id, () => true));
});
