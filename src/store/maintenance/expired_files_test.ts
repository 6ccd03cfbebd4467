import { assert, assertEquals } from "@std/assert";
import { HOUR, MINUTE, SECOND } from "../../rules/units.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { ANYWAY, bytes, DRIVE, inPieces, place } from "../testing/bodies.ts";
import { assertKeys, assertUsage } from "../testing/entries.ts";
import {
  assertQuotaExceeded,
  LIFETIME,
  names,
  put,
  putExpiring,
  read,
  setQuota,
  sweep,
  usedBytes,
} from "../testing/files.ts";
import { otherProcess, sweepElsewhere, sweepLater, testOnAll } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";

const always = () => true;

testOnAll(
  "A sweep deletes expired files with all that belongs to them, and no others",
  async (bench) => {
    await withClock(async (forward) => {
      await putExpiring(bench, "small", 10);
      await putExpiring(bench, "large", 2 * CHUNK_SIZE);
      await putExpiring(bench, "later", 5, LIFETIME + 1);
      await put(bench, "lasting", bytes(7));
      forward(LIFETIME - 1);
      await sweep(bench);
      await assertUsage(bench, { files: 4, bytes: 22 + 2 * CHUNK_SIZE });
      forward(1);
      await sweep(bench);
      // The chunks stay for readers that have already started.
      const left = { file: 2, content: 2, expiry: 1, "usage files": 1, "usage bytes": 1 };
      await assertKeys(bench, { ...left, chunk: 2, garbage: 1 });
      await assertUsage(bench, { files: 2, bytes: 12 });
      forward(2 * MINUTE);
      await sweep(bench);
      await assertKeys(bench, { file: 1, content: 1, "usage files": 1, "usage bytes": 1 });
    });
  },
);

testOnAll(
  "A write that only expired files keep from fitting into the quota is accepted after a sweep",
  async (bench) => {
    const { store } = bench;
    await setQuota(bench, 300_000);
    await withClock(async (forward) => {
      for (const name of ["a", "b"]) await putExpiring(bench, name, 150_000);
      await assertQuotaExceeded(put(bench, "c", bytes(10)));
      forward(LIFETIME);
      await sweep(bench);
      await put(bench, "c", bytes(10));
      for (const [size, announced] of [[200_000, 200_000], [90_000, undefined]] as const) {
        const name = `n${size}`;
        await putExpiring(bench, "x", 300_000 - (await usedBytes(bench)));
        forward(LIFETIME);
        await sweep(bench);
        const options = { ...ANYWAY, announced };
        await store.files.put(place(name), inPieces(bytes(size)), options);
      }
      assertEquals(await usedBytes(bench), 290_010);
      await assertQuotaExceeded(put(bench, "d", bytes(10_000)));
    });
  },
);

testOnAll("Files that several processes sweep leave the counters once", async (bench) => {
  await withClock(async (forward) => {
    for (let i = 0; i < 120; i++) await putExpiring(bench, `n${i}`, 10);
    await put(bench, "lasting", bytes(7));
    forward(LIFETIME);
    await Promise.all([sweep(bench), sweepElsewhere(bench), sweep(otherProcess(bench))]);
    await assertUsage(bench, { files: 1, bytes: 7 });
    await assertKeys(bench, { file: 1, content: 1, "usage files": 1, "usage bytes": 1 });
  });
});

testOnAll("A file that is moved while a sweep begins is deleted by the next one", async (bench) => {
  const { reader } = bench.db;
  const list = reader.list.bind(reader);
  const from = place("a");
  const request = { from, to: place("b"), overwrite: false, condition: always };
  await setQuota(bench, 1000);
  await withClock(async (forward) => {
    await putExpiring(bench, "a", 10);
    forward(LIFETIME - 1);
    reader.list = ((...args: Parameters<typeof list>) =>
      (async function* () {
        const entries = await Array.fromAsync(list(...args));
        if (entries.some(({ key }) => key[0] === "expiry")) {
          reader.list = list;
          forward(-1);
          assert(typeof await bench.store.files.copies.run("move", request) === "object");
          forward(1);
        }
        yield* entries;
      })()) as typeof list;
    forward(1);
    for (let i = 0; i < 2; i++) await sweep(bench);
    assertEquals(reader.list, list, "The sweep has read the index");
    await assertUsage(bench, { files: 0, bytes: 0 });
    assertEquals(await usedBytes(bench), 0);
    await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
  });
});

testOnAll("A sweep beside writers of the same names deletes no new version", async (bench) => {
  await setQuota(bench, 1_000_000);
  for (let round = 0; round < 10; round++) {
    await withClock(async (forward) => {
      for (let i = 0; i < 10; i++) await putExpiring(bench, `n${i}`, 10);
      forward(LIFETIME);
      const work: Promise<unknown>[] = [sweep(bench), sweep(otherProcess(bench))];
      for (let i = 0; i < 10; i++) work.push(put(bench, `n${i}`, bytes(20)));
      await Promise.all(work);
      await assertUsage(bench, { files: 10, bytes: 200 });
      assertEquals(await usedBytes(bench), 200);
      await assertKeys(bench, {
        ...{ file: 10, content: 10, "usage files": 1, "usage bytes": 1 },
      });
    });
  }
});

testOnAll("A deleted drive takes the deadlines of its files along", async (bench) => {
  await putExpiring(bench, "a", 10, HOUR);
  await putExpiring(bench, "b", 2 * CHUNK_SIZE, HOUR);
  await bench.store.projects.deleteDrive(DRIVE.project, DRIVE.drive);
  for (let i = 0; i < 2; i++) await sweepLater(bench);
  await assertKeys(bench, {});
});

testOnAll(
  "A clock that jumps forward sweeps only a minute later, and not if it is set right",
  async (bench) => {
    await withClock(async (forward, set) => {
      await putExpiring(bench, "a", 10, HOUR);
      await sweep(bench);
      set(2 * HOUR);
      assertEquals(await names(bench), []);
      await sweep(bench);
      forward(30 * SECOND);
      await sweep(bench);
      set(-2 * HOUR);
      await sweep(bench);
      assertEquals(await read(bench, "a"), bytes(10));
      set(2 * HOUR);
      await sweep(bench);
      forward(2 * MINUTE);
      await sweep(bench);
      await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
    });
  },
);
