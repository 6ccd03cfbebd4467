import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { DAY } from "../../rules/units.ts";
import { MIN_PART } from "../../rules/payloads.ts";
import { keys } from "../engine/keys.ts";
import { CHUNK_SIZE, type ScrubRecord } from "../engine/records.ts";
import { digest } from "../bytes/checksums.ts";
import { OpenVersions } from "../bytes/open_versions.ts";
import { bytes, place } from "../testing/bodies.ts";
import { damageBytes, flipBit, setEntry } from "../testing/entries.ts";
import { assertCompleted, put, putPart, read, recordOf } from "../testing/files.ts";
import { BACKENDS, scrubOf, testOnAll, type TestStore } from "../testing/stores.ts";
import { once, withClock } from "../testing/time.ts";
import { type CheckOutcome, FileCheck } from "./file_check.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const always = () => true;
const PART_SIZES = [MIN_PART + 123, 7];
const WHOLE = new Uint8Array(
  await new Blob(PART_SIZES.map((size, i) => bytes(size, i))).arrayBuffer(),
);

async function putParts(bench: TestStore, name: string): Promise<void> {
  const id = await bench.store.uploads.start(place(name), undefined);
  for (const [i, size] of PART_SIZES.entries()) {
    await putPart(bench, name, id, i + 1, bytes(size, i));
  }
  assertCompleted(await bench.store.uploads.complete(place(name), id, always));
}

testOnAll("A file of several parts gets its digest and is otherwise unchanged", async (bench) => {
  await putParts(bench, "a");
  const { scrub } = scrubOf(bench);
  const before = await recordOf(bench, "a");
  assertEquals(before.sha256, undefined);
  await scrub.checkUrgent();
  assertEquals(await recordOf(bench, "a"), { ...before, sha256: digest(WHOLE) });
  assertEquals((await bench.db.reader.get(keys.undigested(place("a")))).value, null);
  assertEquals(await read(bench, "a"), WHOLE);
});

testOnAll("An upload of one part or none has its digest at once", async (bench) => {
  for (const size of [undefined, 10, 100_000]) {
    const id = await bench.store.uploads.start(place("a"), undefined);
    if (size !== undefined) await putPart(bench, "a", id, 1, bytes(size));
    await bench.store.uploads.complete(place("a"), id, always);
    const { sha256 } = await recordOf(bench, "a");
    assertEquals(sha256, digest(bytes(size ?? 0)));
    assertEquals((await bench.db.reader.get(keys.undigested(place("a")))).value, null);
  }
});

/** Checks the file `a` while something happens, and returns the outcome. */
async function checkDuring(
  { db }: TestStore,
  happens: () => Promise<void>,
): Promise<CheckOutcome> {
  const source = { db, openVersions: new OpenVersions(db) };
  return await new FileCheck(source, place("a"), once(happens)).run();
}

testOnAll(
  "A file that is replaced while its digest is computed keeps its own digest",
  async (bench) => {
    await putParts(bench, "a");
    const outcome = await checkDuring(bench, async () => {
      await put(bench, "a", bytes(10, 9));
    });
    assertEquals(outcome, { kind: "gone" });
    assertEquals((await recordOf(bench, "a")).sha256, digest(bytes(10, 9)));
    assertEquals(await read(bench, "a"), bytes(10, 9));
  },
);

testOnAll(
  "A file that is copied, or gets a deadline, while its digest is computed has the digest in the end",
  async (bench) => {
    const { store } = bench;
    const changes: (() => Promise<unknown>)[] = [
      () =>
        store.files.copies.run("copy", {
          from: place("a"),
          to: place("b"),
          overwrite: true,
          condition: always,
        }),
      () => store.changeFile(place("a"), { lifetime: DAY }, always),
    ];
    for (const change of changes) {
      await putParts(bench, "a");
      const outcome = await checkDuring(bench, async () => void await change());
      assertEquals(outcome.kind, "whole");
      assertEquals((await recordOf(bench, "a")).sha256, digest(WHOLE));
      assertEquals((await bench.db.reader.get(keys.undigested(place("a")))).value, null);
    }
  },
);

testOnAll(
  "A file whose drive is deleted while its digest is computed does not come back",
  async (bench) => {
    await putParts(bench, "a");
    const outcome = await checkDuring(bench, async () => {
      await bench.store.projects.deleteDrive("p", "d");
      await bench.store.sweeper.sweep();
    });
    assertEquals(outcome, { kind: "gone" });
    await scrubOf(bench).scrub.checkUrgent();
    const left = await Array.fromAsync(bench.db.reader.list({ prefix: ["undigested"] }));
    assertEquals(left, []);
    assertEquals((await bench.db.reader.get(keys.file(place("a")))).value, null);
  },
);

testOnFile("A pass does not delay the digest of a new file", async (bench) => {
  await put(bench, "0", bytes(40 * CHUNK_SIZE));
  await put(bench, "1", bytes(40 * CHUNK_SIZE));
  await putParts(bench, "z");
  const { scrub } = scrubOf(bench);
  scrub.wake();
  const pass = scrub.pass();
  while ((await recordOf(bench, "z")).sha256 === undefined) {
    await new Promise((go) => setTimeout(go, 1));
  }
  const { pass: record } = await scrub.state();
  assertEquals([record?.finished, record?.files], [undefined, 0]);
  await pass;
  assertEquals((await scrub.state()).pass?.files, 3);
});

testOnAll("Digests are computed soon, however long the scrub had no work", async (bench) => {
  await putParts(bench, "a");
  const { scrub } = scrubOf(bench);
  await withClock(async (forward) => {
    forward(30 * DAY);
    const work = scrub.checkUrgent();
    await Promise.race([work, delay(20_000)]);
    assertEquals((await recordOf(bench, "a")).sha256, digest(WHOLE));
    forward(30 * DAY);
    await Promise.race([scrub.pass(), delay(20_000)]);
    assertEquals((await scrub.state()).progress, 1);
  });
});

testOnAll("Two scrubs that compute a digest at once write it once", async (bench) => {
  await putParts(bench, "a");
  await Promise.all([scrubOf(bench), scrubOf(bench)].map(({ scrub }) => scrub.checkUrgent()));
  assertEquals((await recordOf(bench, "a")).sha256, digest(WHOLE));
});

/** Runs a test on a store in a file only: the damage is independent of the backend. */
function testOnFile(name: string, work: (bench: TestStore) => Promise<void>): void {
  const backend = BACKENDS.find(({ name }) => name === "file");
  Deno.test(name, async () => await backend?.use(work));
}

/** Kinds of damage, and the message about each. */
const DAMAGES: Record<
  string,
  { kind: "chunk" | "checksums"; edit: (it: Bytes) => Bytes | undefined; message: RegExp }
> = {
  "a chunk with a flipped bit": {
    kind: "chunk",
    edit: flipBit,
    message: /does not match its checksum/,
  },
  "a chunk that is shorter": {
    kind: "chunk",
    edit: (it) => it.slice(1),
    message: /bytes instead of/,
  },
  "a chunk that is missing": { kind: "chunk", edit: () => undefined, message: /is missing/ },
  "checksums with a flipped bit": {
    kind: "checksums",
    edit: flipBit,
    message: /not match its checksum/,
  },
  "checksums that are missing": {
    kind: "checksums",
    edit: () => undefined,
    message: /page 0 of its checksums is missing/,
  },
};

for (const [what, { kind, edit, message }] of Object.entries(DAMAGES)) {
  testOnFile(`The scrub finds ${what}, of a large file and of a part`, async (bench) => {
    await put(bench, "large", bytes(3 * CHUNK_SIZE));
    await putParts(bench, "parts");
    await put(bench, "fine", bytes(2 * CHUNK_SIZE));
    const { scrub, messages, damaged } = scrubOf(bench);
    for (const name of ["large", "parts"]) await damageBytes(bench, kind, name, edit);
    await scrub.pass();
    assertEquals((await damaged.list()).map(({ place }) => place.name), ["large", "parts"]);
    for (const { problem } of await damaged.list()) assertMatch(problem, message);
    assertEquals(messages.filter((text) => text.includes("is damaged")).length, 2);
    assertMatch(messages.at(-1) ?? "", /checked 3 files of \d+ bytes: 2 are damaged/);
    await put(bench, "large", bytes(10));
    await bench.store.files.delete(place("parts"));
    assertEquals(await damaged.list(), []);
    assertEquals(await Array.fromAsync(bench.db.reader.list({ prefix: ["damage"] })), []);
  });
}

testOnAll("The scrub finds a small file with other bytes and reports it once", async (bench) => {
  await put(bench, "small", bytes(100));
  await damageBytes(bench, "content", "small", flipBit);
  const { scrub, damaged, messages } = scrubOf(bench);
  await scrub.pass();
  const [damage] = await damaged.list();
  assertMatch(damage?.problem ?? "", /SHA-256/);
  await scrub.pass();
  const reports = messages.filter((text) => text.includes("is damaged"));
  assertEquals(reports.length, 1, "Known damage is not reported again");
  // The bytes are right again without a write.
  await damageBytes(bench, "content", "small", flipBit);
  await scrub.pass();
  assertEquals(await damaged.list(), []);
});

testOnAll(
  "An interrupted pass continues after the last file that was checked",
  async (bench) => {
    for (const name of ["a", "b", "c"]) await put(bench, name, bytes(2 * CHUNK_SIZE));
    const last = place("a");
    const begun: ScrubRecord = {
      started: Date.now(),
      files: 1,
      bytes: 2 * CHUNK_SIZE,
      damaged: 0,
      last,
    };
    await setEntry(bench.db, keys.scrub(), begun);
    const { scrub, messages } = scrubOf(bench);
    await scrub.pass();
    const { pass, progress } = await scrub.state();
    assertEquals([pass?.files, pass?.bytes, progress], [3, 6 * CHUNK_SIZE, 1]);
    assertMatch(messages[0] ?? "", /after "a"/);
  },
);

testOnAll("Stopping the scrub takes effect soon and keeps its position", async (bench) => {
  for (let i = 0; i < 8; i++) await put(bench, `f${i}`, bytes(20 * CHUNK_SIZE));
  const { scrub } = scrubOf(bench);
  const running = scrub.pass().catch((error: unknown) => error);
  while (((await scrub.state()).pass?.files ?? 0) === 0) {
    await new Promise((go) => setTimeout(go, 5));
    await bench.db.reader.get(["none"]);
    if ((await bench.db.reader.get(keys.scrub())).value !== null) break;
  }
  const began = performance.now();
  await scrub.stop();
  await running;
  assert(performance.now() - began < 5000);
  const { pass } = await scrub.state();
  assertEquals(pass?.finished, undefined);
});
