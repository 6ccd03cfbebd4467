import { assert, assertEquals } from "@std/assert";
import { ANYWAY, bytes, inPieces, place } from "../testing/bodies.ts";
import { assertUsage } from "../testing/entries.ts";
import { put, read } from "../testing/files.ts";
import { testOnAll } from "../testing/stores.ts";
import { isPresent, NEW_NAMES_IN_A_ROW, NewNames, validators } from "./file_record.ts";

Deno.test("Names are assumed to be new until one exists, and again after many new ones", () => {
  const names = new NewNames();
  assert(names.areLikely);
  names.note(false);
  assert(names.areLikely);
  names.note(true);
  for (let i = 0; i < NEW_NAMES_IN_A_ROW; i++) {
    assertEquals(names.areLikely, false);
    names.note(false);
  }
  assert(names.areLikely);
});

testOnAll("A name that was wrongly assumed to be new is overwritten", async (bench) => {
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < NEW_NAMES_IN_A_ROW; i += 64) {
      await Promise.all(
        Array.from({ length: 64 }, (_, n) => put(bench, `new-${round}-${i + n}`, bytes(1))),
      );
    }
    await put(bench, "old", bytes(10, round));
    assertEquals(await read(bench, "old"), bytes(10, round));
  }
  await assertUsage(bench, { files: 769, bytes: 778 });
});

testOnAll(
  "A conditional write checks the current version, also when a new name is likely",
  async (bench) => {
    const { files } = bench.store;
    const ifAbsent = { ...ANYWAY, condition: (current: unknown) => current === undefined };
    const ifPresent = { ...ANYWAY, condition: (current: unknown) => current !== undefined };
    assertEquals(await files.put(place("a"), inPieces(bytes(1)), ifPresent), "refused");
    assert(await files.put(place("a"), inPieces(bytes(2)), ifAbsent) !== "refused");
    assertEquals(await files.put(place("a"), inPieces(bytes(3)), ifAbsent), "refused");
    assert(await files.put(place("a"), inPieces(bytes(4)), ifPresent) !== "refused");
    assertEquals(await read(bench, "a"), bytes(4));
  },
);

Deno.test("The date of a version is a strong validator unless another has the same second", () => {
  const layout = { kind: "inline" } as const;
  const record = { version: "V", size: 1, type: "a/b", created: 0, modified: 5000, layout };
  assertEquals(validators(record), {
    etag: "V",
    tag: undefined,
    modified: 5000,
    dateIsStrong: true,
  });
  assertEquals(validators({ ...record, sameSecond: true }).dateIsStrong, false);
});

Deno.test("A file is absent from its deadline on, to the millisecond", () => {
  assert(isPresent({}, Number.MAX_SAFE_INTEGER));
  assert(isPresent({ expires: 1000 }, 999));
  assertEquals([1000, 1001].map((now) => isPresent({ expires: 1000 }, now)), [false, false]);
});
