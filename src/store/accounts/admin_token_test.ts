import { assertEquals } from "@std/assert";
import { hashSecret } from "../../rules/secrets.ts";
import { countReads, entriesWith } from "../testing/entries.ts";
import { testOnAll } from "../testing/stores.ts";

testOnAll("The administrator's token is known by its hash", async (bench) => {
  const { adminToken } = bench.store;
  const hash = hashSecret("one");
  assertEquals([await adminToken.exists(), await adminToken.hasHash(hash)], [false, false]);
  await adminToken.set(hash);
  assertEquals([await adminToken.exists(), await adminToken.hasHash(hash)], [true, true]);
  for (const wrong of [hashSecret("two"), "", hash.slice(1), `${hash}0`, "one"]) {
    assertEquals(await adminToken.hasHash(wrong), false);
  }
  assertEquals(await countReads(bench, () => adminToken.hasHash(hash)), 0);
});

testOnAll("A new administrator's token replaces the former one at once", async (bench) => {
  const { adminToken } = bench.store;
  const [first, second] = [hashSecret("one"), hashSecret("two")];
  await adminToken.set(first);
  assertEquals(await adminToken.hasHash(first), true);
  await adminToken.set(second);
  const found = [await adminToken.hasHash(first), await adminToken.hasHash(second)];
  assertEquals(found, [false, true]);
  assertEquals((await entriesWith(bench, second)).length, 1);
});

testOnAll(
  "A first administrator's token does not replace one",
  async ({ store: { adminToken } }) => {
    const [first, second] = [hashSecret("one"), hashSecret("two")];
    assertEquals([await adminToken.setFirst(first), await adminToken.setFirst(second)], [
      true,
      false,
    ]);
    assertEquals(await adminToken.hasHash(first), true);
  },
);
