import { assert, assertEquals } from "@std/assert";
import { ANYWAY, bytes, inPieces, place } from "../testing/bodies.ts";
import { read } from "../testing/files.ts";
import { testOnAll } from "../testing/stores.ts";
import { isPresent, validators } from "./file_record.ts";

testOnAll(
  "A conditional write checks the current version",
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
