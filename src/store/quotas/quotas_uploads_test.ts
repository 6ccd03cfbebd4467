import { assert, assertEquals, assertRejects } from "@std/assert";
import { UploadRefused } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { ProjectCache } from "../engine/project_cache.ts";
import { CHUNK_SIZE, type Garbage } from "../engine/records.ts";
import { DEFAULT_UPLOAD_TTL } from "../store.ts";
import { bytes, DRIVE, inPieces, place } from "../testing/bodies.ts";
import { drivesOf } from "../testing/entries.ts";
import {
  assertCompleted,
  assertQuotaExceeded,
  ignoreQuotaExceeded,
  put,
  putAt,
  putPart,
  setQuota,
  sumOf,
  upload,
  usedBytes,
  usedNow,
} from "../testing/files.ts";
import { otherProcess, testOnAll } from "../testing/stores.ts";
import { uploadEnder } from "../uploads/session.ts";

const { project } = DRIVE;

testOnAll("Parts count as they arrive, and completing counts nothing twice", async (bench) => {
  await setQuota(bench, 1000);
  await put(bench, "a", bytes(100));
  const id = await upload(bench, place("a"), [700]);
  assertEquals(await usedBytes(bench), 800);
  assertEquals((await assertQuotaExceeded(put(bench, "b", bytes(201)))).numbers.used, 800);
  await put(bench, "b", bytes(200));
  const complete = () => bench.store.uploads.complete(place("a"), id, () => true);
  assertCompleted(await complete());
  assertCompleted(await complete());
  assertEquals(await usedBytes(bench), 900);
  await put(bench, "c", bytes(100));
  await assertQuotaExceeded(put(bench, "d", bytes(1)));
});

testOnAll("A part that is sent again counts by the difference in size", async (bench) => {
  await setQuota(bench, 1000);
  const id = await upload(bench, place("a"), [400, 400]);
  await putPart(bench, "a", id, 2, bytes(600));
  assertEquals(await usedBytes(bench), 1000);
  assertEquals((await assertQuotaExceeded(putPart(bench, "a", id, 2, bytes(601)))).numbers.more, 1);
  await putPart(bench, "a", id, 2, bytes(600, 2));
  await putPart(bench, "a", id, 2, bytes(0));
  assertEquals(await usedBytes(bench), 400);
});

testOnAll("Aborting an upload frees the bytes of its parts, and so does expiry", async (bench) => {
  await setQuota(bench, 1000);
  const first = await upload(bench, place("a"), [400]);
  const second = await upload(bench, place("b"), [500]);
  await bench.store.uploads.abort(place("a"), first);
  assertEquals(await usedBytes(bench), 500);
  await put(bench, "c", bytes(500));
  await assertQuotaExceeded(put(bench, "d", bytes(1)));
  await bench.store.sweeper.sweep(Date.now() + DEFAULT_UPLOAD_TTL + 1);
  assertEquals(await usedBytes(bench), 500);
  await put(bench, "d", bytes(500));
  await assertRejects(() => bench.store.uploads.get(place("b"), second), UploadRefused);
  assertEquals((await bench.store.usageOf(project)).openUploads, 0);
});

testOnAll("Concurrent parts, aborts and completions keep the sum exact", async (bench) => {
  const other = otherProcess(bench);
  const max = 20_000;
  await setQuota(bench, max);
  const work = Array.from({ length: 40 }, async (_, i) => {
    const one = i % 2 ? bench : other;
    const file = place(`${i % 12}`);
    const id = await one.store.uploads.start(file, undefined);
    for (let part = 1; part <= 3; part++) {
      await putPart(one, file.name, id, part, bytes(100 + (i * 97 + part * 331) % 900))
        .catch(ignoreQuotaExceeded);
      assert(await usedNow(bench) <= 2 * max);
    }
    await Promise.all([
      putPart(one, file.name, id, 1, bytes(500)).catch(unlessGone),
      i % 3 === 0 ? one.store.uploads.abort(file, id) : putPart(one, file.name, id, 2, bytes(50))
        .catch(unlessGone),
    ]);
    if (i % 3 === 1) await one.store.uploads.complete(file, id, () => true).catch(unlessGone);
  });
  await Promise.all(work);
  // Two processes may each fill what is left.
  assert(await usedBytes(bench) <= 2 * max);
  const drives = await drivesOf(bench.store, project);
  const entries = await Array.fromAsync(
    bench.db.reader.list<{ size: number }>({ prefix: ["part"] }),
  );
  const open = new Set(
    (await bench.store.uploads.list(project, "d", { limit: 1000, last: "" })).uploads
      .map(({ id }) => id),
  );
  const parts = entries.filter(({ key }) => open.has(String(key[3])));
  assertEquals(drives[0]?.openBytes, sumOf(parts.map(({ value }) => value.size)));
  await bench.store.sweeper.sweep(Date.now() + DEFAULT_UPLOAD_TTL + 1);
  const files = sumOf((await drivesOf(bench.store, project)).map(({ bytes }) => bytes));
  assertEquals([await usedBytes(bench), (await bench.store.usageOf(project)).openUploads], [
    files,
    0,
  ]);
});

function unlessGone(error: unknown): void {
  if (!(error instanceof UploadRefused)) ignoreQuotaExceeded(error);
}

testOnAll("Running uploads together never reserve more than the quota", async (bench) => {
  await setQuota(bench, 10 * CHUNK_SIZE);
  const gate = Promise.withResolvers<void>();
  let read = 0;
  const body = async function* () {
    for await (const piece of inPieces(bytes(4 * CHUNK_SIZE), CHUNK_SIZE)) {
      read += piece.byteLength;
      yield piece;
    }
    await gate.promise;
  };
  for (const announced of [4 * CHUNK_SIZE, undefined]) {
    read = 0;
    const id = await upload(bench, place("a"), []);
    const outcomes = Array.from({ length: 8 }, (_, i) => {
      const part = { id, part: i + 1, type: undefined, announced };
      return bench.store.uploads.putPart(place("a"), part, body(), () => {});
    });
    const refused = Array.from({ length: 8 - 2 }, () => Promise.withResolvers<void>());
    for (const outcome of outcomes) {
      outcome.catch(ignoreQuotaExceeded).then(() => refused.pop()?.resolve());
    }
    await Promise.all([...refused].map(({ promise }) => promise));
    gate.resolve();
    const settled = await Promise.allSettled(outcomes);
    assertEquals(settled.filter(({ status }) => status === "fulfilled").length, 2);
    // A body that was not announced is read until it is too large.
    assert(read <= (announced === undefined ? 30 : 8) * CHUNK_SIZE, `${read} bytes were read`);
    assertEquals(await usedBytes(bench), 8 * CHUNK_SIZE);
    await bench.store.uploads.abort(place("a"), id);
  }
});

testOnAll("Concurrent completions of one upload count it once", async (bench) => {
  const other = otherProcess(bench);
  await setQuota(bench, 1000);
  const id = await upload(bench, place("a"), [1000]);
  const outcomes = await Promise.all(Array.from({ length: 8 }, (_, i) => {
    return (i % 2 ? bench : other).store.uploads.complete(place("a"), id, () => true);
  }));
  assert(!outcomes.includes("refused"));
  assertEquals(await usedBytes(bench), 1000);
});

testOnAll(
  "Ending an upload of a drive that is being deleted frees nothing twice",
  async (bench) => {
    const { db, store } = bench;
    await setQuota(bench, 1000);
    const id = await upload(bench, place("a"), [400]);
    const { session } = await store.uploads.get(place("a"), id);
    await store.projects.deleteDrive(project, DRIVE.drive);
    await putAt(bench, { ...place("b"), drive: "other" }, bytes(300));
    assertEquals(await usedNow(bench), 300);
    const key = keys.garbage(session.expires, id);
    const { value, versionstamp } = await db.reader.get<Garbage & { kind: "upload" }>(key);
    assert(value !== null);
    const end = uploadEnder(db, new ProjectCache(db));
    assertEquals(await end({ key, value, versionstamp }), true);
    assertEquals(await usedBytes(bench), 300);
  },
);

testOnAll("An upload whose parts count already is completed even over the quota", async (bench) => {
  await setQuota(bench, 1000);
  const id = await upload(bench, place("a"), [700]);
  await setQuota(bench, 500);
  assertCompleted(await bench.store.uploads.complete(place("a"), id, () => true));
  assertEquals(await usedBytes(bench), 700);
});
