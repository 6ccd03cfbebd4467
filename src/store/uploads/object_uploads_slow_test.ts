import { assert, assertEquals, assertRejects } from "@std/assert";
import { MAX_PARTS } from "../../rules/payloads.ts";
import { DAY, KIB, MIB } from "../../rules/units.ts";
import { UploadRefused } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { CHUNK_SIZE, type PartRecord, type UploadSession } from "../engine/records.ts";
import { newVersion } from "../bytes/versions.ts";
import { addUsage } from "../quotas/usage.ts";
import { bytes, inPieces, place } from "../testing/bodies.ts";
import { assertKeys, assertUsage } from "../testing/entries.ts";
import { put, read } from "../testing/files.ts";
import { sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";
import type { ChooseParts } from "./parts.ts";

const always = () => true;
const CHECKSUM = { algorithm: "SHA256", type: "COMPOSITE" } as const;
const OBJECT = { user: { colour: "red" } };
/** Smaller than parts of the drive API may be. */
const PART = 2 * CHUNK_SIZE + 5;

async function start({ store }: TestStore): Promise<string> {
  return await store.uploads.start(place("a"), "a/b", {
    ...{ object: OBJECT, checksum: CHECKSUM },
    ttl: 7 * DAY,
  });
}

async function putPart({ store }: TestStore, id: string, part: number, data: Uint8Array) {
  const named = { id, part, type: undefined };
  const accept = () => ({ md5: `md5 of ${part}`, checksum: `checksum of ${part}` });
  await store.uploads.putPart(place("a"), named, inPieces(data), accept);
}

/** Returns a function that chooses parts with these numbers. */
function choosing(...numbers: number[]): ChooseParts {
  return (parts, session) => ({
    parts: parts.filter(({ part }) => numbers.includes(part)),
    md5Tag: `tag-${numbers.length}`,
    checksum: {
      value: "AA==-2",
      algorithm: "SHA256",
      type: session.checksum?.type ?? "FULL_OBJECT",
    },
  });
}

testOnAll("The parts of an upload are returned with what was kept about them", async (bench) => {
  await withClock(async (forward) => {
    const id = await start(bench);
    for (const part of [7, 2]) await putPart(bench, id, part, bytes(10, part));
    forward(6 * DAY);
    const { session, parts } = await bench.store.uploads.get(place("a"), id);
    assertEquals([session.object, session.checksum], [OBJECT, CHECKSUM]);
    assertEquals(
      parts.map(({ part, size, md5, checksum }) => [part, size, md5, checksum]),
      [2, 7].map((part) => [part, 10, `md5 of ${part}`, `checksum of ${part}`]),
    );
    for (const { modified = 0, sha256 } of parts) {
      assert(Math.abs(Date.now() - 6 * DAY - modified) < 10_000 && sha256.length === 44);
    }
    forward(DAY);
    await assertRejects(() => bench.store.uploads.get(place("a"), id), UploadRefused);
  });
});

testOnAll("A file has the chosen parts, and the bytes of the others are deleted", async (bench) => {
  const { uploads, files } = bench.store;
  for (const chosen of [[2, 3, 9], [9], [1, 2, 3, 9], [3, 9]]) {
    const id = await start(bench);
    for (const part of [1, 2, 3, 9]) await putPart(bench, id, part, bytes(PART, part));
    const outcome = await uploads.complete(place("a"), id, always, { choose: choosing(...chosen) });
    assert(outcome !== "refused");
    assertEquals(outcome.record?.md5Tag, `tag-${chosen.length}`);
    assertEquals(outcome.record?.checksum, { value: "AA==-2", ...CHECKSUM });
    assertEquals(outcome.record?.object, OBJECT);
    assertEquals(await uploads.complete(place("a"), id, always), outcome);
    const whole = await new Blob(chosen.map((part) => bytes(PART, part))).arrayBuffer();
    assertEquals(await read(bench, "a"), new Uint8Array(whole));
    await assertUsage(bench, { files: 1, bytes: chosen.length * PART }, "colourred".length);
    await sweepLater(bench);
    assertEquals(await read(bench, "a"), new Uint8Array(whole));
    await files.delete(place("a"));
    assertEquals(await uploads.complete(place("a"), id, always), {});
    await sweepLater(bench);
    const { key } = await bench.db.reader.get(keys.completedUpload("p", "d", id));
    await bench.db.commit(new Operation().delete(key));
    await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
  }
});

testOnAll(
  "A choice that throws, or has an empty part in the middle, leaves the upload open",
  async (bench) => {
    const { uploads } = bench.store;
    const id = await start(bench);
    await putPart(bench, id, 1, bytes(0));
    await putPart(bench, id, 2, bytes(10));
    const refuse = () => {
      throw new RangeError("InvalidPart");
    };
    const complete = (choose: ChooseParts) => uploads.complete(place("a"), id, always, { choose });
    await assertRejects(() => complete(refuse), RangeError, "InvalidPart");
    await assertRejects(() => complete(choosing(1, 2)), UploadRefused, "part 1 is empty");
    assert(await complete(choosing(2)) !== "refused");
    assertEquals(await read(bench, "a"), bytes(10));
  },
);

testOnAll("A repeated completion does not return the record of a later version", async (bench) => {
  const id = await start(bench);
  await putPart(bench, id, 1, bytes(10));
  const complete = () => bench.store.uploads.complete(place("a"), id, always);
  await complete();
  await put(bench, "a", bytes(1));
  assertEquals(await complete(), {});
});

testOnAll("An upload of 10,000 parts is completed with half of them", async (bench) => {
  const { uploads } = bench.store;
  const id = await start(bench);
  await writeParts(bench, id);
  const odd = Array.from({ length: MAX_PARTS / 2 }, (_, i) => 2 * i + 1);
  const outcome = await uploads.complete(place("a"), id, always, { choose: choosing(...odd) });
  assert(outcome !== "refused" && outcome.record?.size === 100 * odd.length);
  await sweepLater(bench);
  const kinds = { file: 1, completed_upload: 1, manifest: 10, undigested: 1 };
  await assertKeys(bench, { ...kinds, "usage files": 1, "usage bytes": 1 });
});

testOnAll(
  "Reading parts costs what is returned, and completing stays within the budget",
  async (bench) => {
    const { uploads, memory } = bench.store;
    const id = await start(bench);
    await putPart(bench, id, 1, bytes(10));
    const used: number[] = [];
    const complete = (numbers: number[]) =>
      uploads.complete(place("a"), id, always, {
        choose: (parts, session) => {
          used.push(memory.uploads.used);
          if (numbers.length === 0) throw new RangeError("none");
          return choosing(...numbers)(parts, session);
        },
      });
    await assertRejects(() => complete([]), RangeError);
    await writeParts(bench, id);
    await Promise.all(
      Array.from({ length: 8 }, () => assertRejects(() => complete([]), RangeError)),
    );
    assertEquals(memory.uploads.used, 0);
    // One of them fits at a time: each of the others waits for it.
    const [few = 0, ...many] = used;
    assertEquals([Math.round(few / MIB), Math.max(...many) / KIB], [1, MAX_PARTS]);
    const page = await uploads.get(place("a"), id, { after: 7, limit: 2 });
    assertEquals(page.parts.map(({ part }) => part), [8, 9]);
    const last = await uploads.get(place("a"), id, { after: MAX_PARTS, limit: 2 });
    assertEquals(last.parts, []);
  },
);

/** Adds the records of as many parts as there may be, without their bytes. */
async function writeParts({ db }: TestStore, id: string): Promise<void> {
  const size = 100;
  for (let part = 1; part <= MAX_PARTS;) {
    const operation = new Operation();
    for (let i = 0; i < 200; i++, part++) {
      const md5 = "0".repeat(32);
      const sha256 = "A".repeat(43) + "=";
      const record: PartRecord = { version: newVersion(), size, sha256, md5, modified: 0 };
      operation.set(keys.part("p", "d", id, part), record);
    }
    operation.sum(keys.partsRevision("p", "d", id), 200 * size);
    addUsage(operation, { project: "p", drive: "d" }, "open_bytes", 200 * size);
    await db.commit(operation);
  }
  const { value } = await db.reader.get<UploadSession>(keys.upload("p", "d", id));
  assert(value !== null);
}
