import { assert, assertEquals, assertMatch } from "@std/assert";
import { DAY, MINUTE } from "../../rules/units.ts";
import { StoreDamaged, VersionReplaced } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { bytesVersion, CHUNK_SIZE } from "../engine/records.ts";
import { bytes, place } from "../testing/bodies.ts";
import { damageBytes, deleteEntry, flipBit } from "../testing/entries.ts";
import { put, read, recordOf } from "../testing/files.ts";
import { scrubOf, testOnAll } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";

testOnAll("A download that meets damage records the file as damaged", async (bench) => {
  await put(bench, "a", bytes(3 * CHUNK_SIZE));
  await damageBytes(bench, "chunk", "a", flipBit);
  const error = await read(bench, "a").catch((error: unknown) => error);
  assert(error instanceof StoreDamaged);
  assertMatch(
    error.message,
    /"a" in drive "d" of project p is damaged: chunk 2 of 3 does not match/,
  );
  while ((await bench.store.integrity()).damages.length === 0) {
    await new Promise((go) => setTimeout(go));
  }
});

testOnAll(
  "A version that another process has removed under a slow reader is not reported as damaged",
  async (bench) => {
    const { store, db } = bench;
    const data = bytes(100 * CHUNK_SIZE);
    await put(bench, "a", data);
    const file = await store.files.reader.open(place("a"));
    assert(file !== undefined);
    const pieces = (await file.read({ start: 0, end: data.byteLength }))[Symbol.asyncIterator]();
    assertEquals((await pieces.next()).done, false);
    const version = bytesVersion(await recordOf(bench, "a"));
    for (const key of [keys.file(place("a")), keys.chunk(version, 99)]) await deleteEntry(db, key);
    const error = await Array.fromAsync({ [Symbol.asyncIterator]: () => pieces })
      .catch((error: unknown) => error);
    assert(error instanceof VersionReplaced, String(error));
    assertEquals((await store.integrity()).damages, []);
    file.close();
  },
);

testOnAll(
  "Damage that a reader met is checked soon and dropped if it has passed",
  async (bench) => {
    await put(bench, "passed", bytes(3 * CHUNK_SIZE));
    await put(bench, "stays", bytes(3 * CHUNK_SIZE));
    const { scrub, damaged, messages } = scrubOf(bench);
    for (const name of ["passed", "stays"]) {
      const { version } = await recordOf(bench, name);
      assert(await damaged.note(place(name), version, "the database cannot be read there"));
    }
    await damageBytes(bench, "chunk", "stays", flipBit);
    await scrub.checkUrgent();
    const known = await damaged.list();
    assertEquals(known.map(({ place }) => place.name), ["stays"]);
    assertMatch(known[0]?.problem ?? "", /does not match its checksum/);
    assertMatch(messages.join("\n"), /"passed" in drive "d" of project p is whole/);
  },
);

testOnAll(
  "A file that stays damaged is checked again after longer and longer times",
  async (bench) => {
    await put(bench, "a", bytes(3 * CHUNK_SIZE));
    await damageBytes(bench, "chunk", "a", flipBit);
    const { scrub, damaged } = scrubOf(bench);
    await withClock(async (forward) => {
      await scrub.pass();
      const found = Date.now();
      for (const minutes of [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440, 1440]) {
        forward(minutes * MINUTE - 1);
        assertEquals(await damaged.due(), [], `${minutes} minutes are not over`);
        forward(1);
        assertEquals((await damaged.due()).length, 1, `${minutes} minutes are over`);
        await scrub.checkUrgent();
      }
      assertEquals((await damaged.list()).map(({ found }) => found), [found]);
      await damageBytes(bench, "chunk", "a", flipBit);
      forward(DAY);
      await scrub.checkUrgent();
      assertEquals(await damaged.list(), []);
    });
  },
);

testOnAll("A read that fails once is not damage", async (bench) => {
  await put(bench, "a", bytes(20 * CHUNK_SIZE));
  const { scrub, damaged, messages } = scrubOf(bench);
  const { diskReader: reader } = bench.db.bytes;
  const { list } = reader;
  let failures = 1;
  reader.list = (...args: Parameters<typeof list>) => {
    const isOfChunks = "start" in args[0] && args[0].start[0] === "chunk";
    if (isOfChunks && failures-- > 0) throw new TypeError("database disk image is malformed");
    return list.apply(reader, args) as never;
  };
  await scrub.pass();
  reader.list = list;
  assertEquals(failures < 1, true);
  assertEquals(await damaged.list(), []);
  assertMatch(messages.at(-1) ?? "", /: 0 are damaged/);
});
