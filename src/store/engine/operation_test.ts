import { assert, assertEquals, assertRejects } from "@std/assert";
import { MAX_DRIVE_NAME, MAX_FILE_NAME, MAX_PROJECT_ID } from "../../rules/names.ts";
import { withKv } from "../testing/stores.ts";
import { encodedLength, keys } from "./keys.ts";
import { MAX_COMMIT_CHECKS, MAX_COMMIT_MUTATIONS, Operation, SharedCheck } from "./operation.ts";
import { CHUNK_SIZE } from "./records.ts";

const VERSION = "01KABCDEFGHJKMNPQRSTVWXYZ0";

/** Returns the `n`th place with names of maximum length. */
function longestPlace(n: number): { project: string; drive: string; name: string } {
  return {
    project: "p".repeat(MAX_PROJECT_ID),
    drive: String(n).padStart(MAX_DRIVE_NAME, "d"),
    name: String(n).padStart(MAX_FILE_NAME, "n"),
  };
}

/** Adds the `n`th of many similar changes to an operation. */
type Add = (operation: Operation, n: number) => void;

function many(count: number, add: Add): Operation {
  const operation = new Operation();
  for (let n = 0; n < count; n++) add(operation, n);
  return operation;
}

/** Returns how many changes fit, according to `Operation`. */
function countThatFits(add: Add): number {
  const fits = (count: number) => new Operation().hasRoomFor(many(count, add));
  let [low, high] = [0, 2000];
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** Asserts that Deno KV accepts a full operation, and that one more change is refused before Deno KV sees it. */
async function assertLimit(add: Add, wanted?: number): Promise<void> {
  const count = countThatFits(add);
  if (wanted !== undefined) assertEquals(count, wanted);
  await withKv(async (kv) => {
    assert((await many(count, add).commit(kv)).ok);
    await assertRejects(() => many(count + 1, add).commit(kv), RangeError, "Cannot commit");
  });
}

const chunk = new Uint8Array(CHUNK_SIZE).fill(7);

Deno.test("Deno KV accepts twelve chunks in one operation", async () => {
  await assertLimit((operation, n) => operation.set(keys.chunk(VERSION, n), chunk), 12);
});

Deno.test("Deno KV accepts an operation with the maximum of changes", async () => {
  await assertLimit((operation, n) => operation.delete(["a", n]), MAX_COMMIT_MUTATIONS);
  await assertLimit((operation, n) => operation.set(["a", n], n), MAX_COMMIT_MUTATIONS);
  await assertLimit((operation, n) => operation.sum(["a", n], n), MAX_COMMIT_MUTATIONS);
});

Deno.test("Deno KV accepts an operation with the maximum of checks", async () => {
  await assertLimit((operation, n) => operation.check(["a", n], null), MAX_COMMIT_CHECKS);
});

Deno.test("Deno KV accepts an operation with the maximum of the longest keys", async () => {
  await assertLimit((operation, n) => operation.set(keys.file(longestPlace(n)), { size: n }));
  await assertLimit((operation, n) => operation.delete(keys.file(longestPlace(n))));
});

Deno.test("Deno KV accepts an operation with the maximum of counters with long keys", async () => {
  await assertLimit((operation, n) => operation.sum(["usage", String(n).padEnd(1000, "x")], 1));
});

Deno.test("Deno KV accepts checks of the longest keys beside the maximum of bytes", async () => {
  await withKv(async (kv) => {
    const operation = many(11, (some, n) => some.set(["chunk", n], chunk));
    for (let n = 0; n < MAX_COMMIT_CHECKS; n++) {
      const next = new Operation().check(keys.file(longestPlace(n)), null);
      if (operation.hasRoomFor(next)) operation.add(next);
    }
    assert((await operation.commit(kv)).ok);
  });
});

Deno.test("Merged operations have the size of one operation with the same changes", () => {
  const cases: readonly Add[] = [
    (operation, n) => operation.sum(["usage", String(n).padEnd(1000, "x")], 1),
    (operation, n) => operation.set(["a", String(n).padEnd(1000, "x")], n),
    (operation, n) => operation.delete(["a", String(n).padEnd(1500, "x")]),
    (operation, n) => operation.check(["a", n], null),
  ];
  for (const add of cases) {
    const together = new Operation();
    let count = 0;
    for (; together.hasRoomFor(many(1, (one) => add(one, count))); count++) {
      together.add(many(1, (one) => add(one, count)));
    }
    assertEquals(count, countThatFits(add));
  }
});

Deno.test("A counter that merged operations have in common takes no more room", () => {
  const together = new Operation();
  const next = new Operation().sum(["usage", "x".repeat(1000)], 1);
  for (let n = 0; n < 2000; n++) {
    assert(together.hasRoomFor(next), `after ${n}`);
    together.add(next);
  }
});

Deno.test("Deno KV accepts the maximum of records with any characters and numbers", async () => {
  const texts = ["a".repeat(3000), "ü".repeat(3000), "😀".repeat(1500), "\u0001".repeat(3000)];
  for (const text of texts) {
    await assertLimit((operation, n) => operation.set(["a", n], { text, n }));
  }
  const numbers = Array.from({ length: 1000 }, (_, i) => 5_000_000 + i);
  await assertLimit((operation, n) => operation.set(["a", n], { numbers }));
});

Deno.test("Deno KV accepts files of many drives with the counters of each drive", async () => {
  await assertLimit((operation, n) => {
    const place = longestPlace(n);
    operation.check(keys.file(place), null).set(keys.file(place), { size: n })
      .sum(keys.usage(place.project, place.drive, "files"), 1)
      .sum(keys.usage(place.project, place.drive, "bytes"), n);
  });
});

Deno.test("Counters go up and down and wrap like those of Deno KV", async () => {
  const steps = [
    [10, 10n],
    [-3, 7n],
    [0, 7n],
    [-7n, 0n],
    [2n ** 63n, 2n ** 63n],
    [-(2n ** 63n), 0n],
    [-1, 2n ** 64n - 1n],
    [1, 0n],
    [-(2n ** 64n) - 5n, 2n ** 64n - 5n],
    [2n ** 64n + 6n, 1n],
  ] as const;
  await withKv(async (kv) => {
    for (const [by, wanted] of steps) {
      await new Operation().sum(["count"], by).commit(kv);
      assertEquals((await kv.get<Deno.KvU64>(["count"])).value?.value, wanted, `${by}`);
    }
  });
});

Deno.test("Sums of one counter are added up, also across merged operations", async () => {
  await withKv(async (kv) => {
    const operation = new Operation().sum(["a"], 5).sum(["b"], 1).sum(["a"], -2);
    operation.add(new Operation().sum(["a"], -1).sum(["b"], 1).sum(["c"], 0));
    await operation.commit(kv);
    const found = await kv.getMany<Deno.KvU64[]>([["a"], ["b"], ["c"]]);
    assertEquals(found.map(({ value }) => value?.value), [2n, 2n, 0n]);
  });
});

Deno.test("Operations on the same key cannot be merged", () => {
  const cases: readonly (readonly [Operation, Operation, boolean])[] = [
    [new Operation().set(["a"], 1), new Operation().set(["b"], 1), true],
    [new Operation().set(["a"], 1), new Operation().set(["a"], 2), false],
    [new Operation().check(["a"], null), new Operation().set(["a"], 2), false],
    [new Operation().check(["a"], null), new Operation().check(["a"], null), false],
    [new Operation().delete(["a"]), new Operation().check(["a"], null), false],
    [new Operation().set(["a", 1], 1), new Operation().set(["a", "1"], 1), true],
    [new Operation().set(["a", "b"], 1), new Operation().set(["a,b"], 1), true],
    [new Operation().sum(["a"], 1), new Operation().sum(["a"], 1), true],
  ];
  for (const [one, other, room] of cases) {
    assertEquals(one.hasRoomFor(other), room);
    assertEquals(other.hasRoomFor(one), room);
  }
});

Deno.test("An operation has room up to the given number of bytes", () => {
  const full = many(5, (some, n) => some.set(["a", n], chunk));
  const small = new Operation().set(["b"], new Uint8Array(10));
  assert(full.hasRoomFor(small));
  assert(!full.hasRoomFor(small, 5 * CHUNK_SIZE));
  assert(full.hasRoomFor(small, 5 * CHUNK_SIZE + 1000));
});

Deno.test("An operation that fills the given number of bytes exactly has room", () => {
  const one = new Operation().delete(["a"]);
  const other = new Operation().delete(["b"]);
  const bytes = encodedLength(["a"]) + encodedLength(["b"]);
  assert(one.hasRoomFor(other, bytes));
  assert(!one.hasRoomFor(other, bytes - 1));
});

Deno.test("An operation is idempotent unless it adds to a counter or checks what it changes", () => {
  const cases: readonly (readonly [Operation, boolean])[] = [
    [new Operation().set(["a"], 1).delete(["b"]), true],
    [new Operation().check(["a"], null).set(["b"], 1), true],
    [new Operation().set(["a"], 1).sum(["n"], 1), false],
    [new Operation().check(["a"], null).set(["a"], 1), false],
    [new Operation().check(["a"], null).delete(["a"]), false],
  ];
  for (const [operation, isIdempotent] of cases) {
    assertEquals(operation.isIdempotent, isIdempotent);
  }
});

Deno.test("A merged operation applies all changes, or none if one check fails", async () => {
  await withKv(async (kv) => {
    await kv.set(["gone"], 1);
    const build = (versionstamp: string | null) => {
      const operation = new Operation().set(["a"], 1).delete(["gone"]);
      operation.add(new Operation().check(["b"], versionstamp).set(["c"], 2).sum(["n"], 1));
      return operation;
    };
    assertEquals((await build("00000000000000000000").commit(kv)).ok, false);
    const read = async () =>
      (await kv.getMany([["a"], ["gone"], ["c"], ["n"]])).map(({ value }) => value);
    assertEquals(await read(), [null, 1, null, null]);
    assertEquals((await build(null).commit(kv)).ok, true);
    assertEquals(await read(), [1, null, 2, new Deno.KvU64(1n)]);
  });
});

Deno.test("Only the view of a larger buffer is stored, and an empty value stays empty", async () => {
  const buffer = new Uint8Array(400_000).fill(9);
  const cases = [buffer.subarray(1000, 1003), buffer.subarray(5, 5), new Uint8Array()];
  await withKv(async (kv) => {
    for (const bytes of cases) {
      await new Operation().set(["content"], bytes).commit(kv);
      const { value } = await kv.get<Uint8Array<ArrayBuffer>>(["content"]);
      assertEquals(value, Uint8Array.from(bytes));
      assertEquals(value?.buffer.byteLength, bytes.byteLength);
    }
  });
});

Deno.test("The expiry of an entry is passed to Deno KV", async () => {
  const given: unknown[] = [];
  await withKv(async (kv) => {
    const atomic = kv.atomic.bind(kv);
    kv.atomic = () => {
      const operation = atomic();
      const set = operation.set.bind(operation);
      operation.set = (key, value, options) => {
        given.push(options);
        return set(key, value, options);
      };
      return operation;
    };
    await new Operation().set(["a"], 1, 60_000).set(["b"], 1).commit(kv);
  });
  assertEquals(given, [{ expireIn: 60_000 }, undefined]);
});

/** Returns the operation of a small file: its own check, a shared one, and the changes. */
function smallWrite(n: number, common: SharedCheck): Operation {
  return new Operation().share(common)
    .check(["file", n], null)
    .set(["file", n], { n })
    .set(["content", n], new Uint8Array(1000))
    .sum(["files"], 1);
}

Deno.test("Sixty-four small writes to one drive fit into one operation with a shared check", async () => {
  await withKv(async (kv) => {
    const { versionstamp } = await kv.set(["project"], 1);
    const together = new Operation();
    for (let n = 0; n < 64; n++) {
      const write = smallWrite(n, new SharedCheck(["project"], versionstamp));
      assert(together.hasRoomFor(write), `after ${n}`);
      together.add(write);
    }
    assert((await together.commit(kv)).ok);
    assertEquals((await kv.get<Deno.KvU64>(["files"])).value?.value, 64n);
  });
});

Deno.test("A shared check counts as one check of the merged operation", async () => {
  const common = new SharedCheck(["project"], null);
  const together = new Operation();
  let count = 0;
  for (; together.hasRoomFor(smallWrite(count, common)); count++) {
    together.add(smallWrite(count, common));
  }
  assertEquals(count, MAX_COMMIT_CHECKS - 1);
  await withKv(async (kv) => assert((await together.commit(kv)).ok));
});

Deno.test("A failed shared check refuses the merged operation", async () => {
  await withKv(async (kv) => {
    for (const versionstamp of [null, "00000000000000000000"]) {
      await kv.set(["project"], 1);
      const together = smallWrite(1, new SharedCheck(["project"], versionstamp));
      together.add(smallWrite(2, new SharedCheck(["project"], versionstamp)));
      assertEquals((await together.commit(kv)).ok, false);
      assertEquals((await kv.get(["file", 1])).value, null);
    }
  });
});

Deno.test("Operations with conflicting shared checks cannot be merged", () => {
  const shared = (versionstamp: string | null) =>
    new Operation().share(new SharedCheck(["a"], versionstamp));
  const cases: readonly (readonly [Operation, Operation, boolean])[] = [
    [shared(null), shared(null), true],
    [shared("1"), shared("1"), true],
    [shared("1"), shared("2"), false],
    [shared("1"), shared(null), false],
    [shared("1"), new Operation().share(new SharedCheck(["b"], "2")), true],
    [shared("1"), new Operation().set(["a"], 1), false],
    [shared("1"), new Operation().delete(["a"]), false],
    [shared("1"), new Operation().check(["a"], "1"), false],
    [shared("1"), new Operation().set(["b"], 1), true],
  ];
  for (const [one, other, room] of cases) {
    assertEquals([one.hasRoomFor(other), other.hasRoomFor(one)], [room, room]);
  }
});
