import { assert } from "@std/assert";
import { MINUTE } from "../../rules/units.ts";
import { keys } from "../engine/keys.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { bytes } from "../testing/bodies.ts";
import { put } from "../testing/files.ts";
import { scrubOf, testOnAll } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";

testOnAll("A pass saves its position also during a large file", async (bench) => {
  await put(bench, "large", bytes(40 * CHUNK_SIZE));
  const { reader, bytes: { diskReader } } = bench.db;
  const { scrub } = scrubOf(bench);
  const stamps = new Set<string | null>();
  await withClock(async (forward) => {
    const { list } = diskReader;
    diskReader.list = ((...args: Parameters<typeof list>) => {
      reader.get(keys.scrub()).then(({ versionstamp }) => stamps.add(versionstamp));
      forward(2 * MINUTE);
      return list.apply(diskReader, args);
    }) as typeof list;
    try {
      await scrub.pass();
    } finally {
      diskReader.list = list;
    }
  });
  assert(stamps.size >= 4, `${stamps.size} positions were seen`);
});
