import { openRecords } from "../testing/stores.ts";
import { assert, assertEquals } from "@std/assert";
import { MAX_PARTS, MAX_PAYLOAD } from "../../rules/payloads.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { PartRecord } from "../engine/records.ts";
import {
  listManifest,
  type ManifestPart,
  manifestParts,
  PARTS_PER_PAGE,
  setManifest,
  totalSize,
} from "./manifest.ts";

function partsOf(count: number, size: (i: number) => number): PartRecord[] {
  return Array.from({ length: count }, (_, i) => ({
    version: `01K${String(i).padStart(23, "0")}`,
    size: size(i),
    sha256: "",
  }));
}

/** Returns the parts with their positions in the file. */
function laidOut(parts: readonly PartRecord[]): ManifestPart[] {
  let at = 0;
  return parts.map(({ version, size }) => ({ version, size, start: (at += size) - size }));
}

async function withManifest(
  parts: readonly PartRecord[],
  test: (kv: Deno.Kv) => Promise<void>,
): Promise<void> {
  const kv = await openRecords();
  try {
    const operation = new Operation();
    setManifest(operation, "v", parts);
    await operation.commit(kv);
    await test(kv);
  } finally {
    kv.close();
  }
}

Deno.test("The parts are listed in order, from the one that holds a byte", async () => {
  const counts = [1, 2, PARTS_PER_PAGE, PARTS_PER_PAGE + 1, 3 * PARTS_PER_PAGE + 7];
  for (const count of counts) {
    const parts = partsOf(count, (i) => i % 7 + 1);
    const all = laidOut(parts);
    const total = totalSize(parts);
    await withManifest(parts, async (kv) => {
      const edges = all.flatMap(({ start, size }) => [start, start + size - 1]);
      for (const from of edges.filter((_, i) => i < 6 || i % 41 === 0 || i > edges.length - 6)) {
        const found = await Array.fromAsync(manifestParts(kv, "v", from));
        assertEquals(found, all.filter(({ start, size }) => start + size > from), `byte ${from}`);
      }
      assertEquals(await Array.fromAsync(manifestParts(kv, "v", total)), []);
    });
  }
});

Deno.test("An empty last part is listed at the end of the file", async () => {
  for (const count of [2, PARTS_PER_PAGE + 1]) {
    const parts = partsOf(count, (i) => i === count - 1 ? 0 : 5);
    await withManifest(parts, async (kv) => {
      const found = await Array.fromAsync(manifestParts(kv, "v", 0));
      assertEquals(found, laidOut(parts));
    });
  }
});

Deno.test("The maximum of parts fits into one operation", async () => {
  const parts = partsOf(MAX_PARTS, () => MAX_PAYLOAD);
  await withManifest(parts, async (kv) => {
    const pages = await Array.fromAsync(kv.list({ prefix: ["manifest"] }));
    assertEquals(pages.length, MAX_PARTS / PARTS_PER_PAGE);
    const last = (MAX_PARTS - 1) * MAX_PAYLOAD;
    const found = await Array.fromAsync(manifestParts(kv, "v", last + 1));
    assertEquals(found, laidOut(parts).slice(-1));
  });
});

Deno.test("Only the necessary pages are read", async () => {
  await withManifest(partsOf(4 * PARTS_PER_PAGE, () => 10), async (kv) => {
    const asked: Deno.KvListSelector[] = [];
    const list = kv.list.bind(kv);
    kv.list = (selector, options) => {
      asked.push(selector);
      return list(selector, options);
    };
    for await (const _ of manifestParts(kv, "v", 3 * PARTS_PER_PAGE * 10 + 5)) break;
    const pages = asked.at(-1);
    assert(pages !== undefined && "start" in pages);
    assertEquals(pages.start, keys.manifestPage("v", 3 * PARTS_PER_PAGE * 10));
  });
});

Deno.test("The total size is the sum of the sizes", () => {
  assertEquals(totalSize([]), 0);
  assertEquals(totalSize(partsOf(MAX_PARTS, () => MAX_PAYLOAD)), MAX_PARTS * MAX_PAYLOAD);
});

Deno.test("The checksums of parts are kept if all have one, and if there is room", async () => {
  const count = PARTS_PER_PAGE + 1;
  const limits = { from: 1, limit: count };
  const checksumsOf = async (parts: readonly PartRecord[]) => {
    let found: (string | undefined)[] = [];
    await withManifest(parts, async (kv) => {
      found = (await listManifest(kv, "v", limits)).map(({ checksum }) => checksum);
    });
    return found;
  };
  const plain = partsOf(count, () => 1);
  const all = plain.map((part, i) => ({ ...part, checksum: `${i}` }));
  assertEquals(await checksumsOf(all), all.map(({ checksum }) => checksum));
  const none = plain.map(() => undefined);
  assertEquals(await checksumsOf([...all.slice(1), ...plain.slice(-1)]), none);
  const long = plain.map((part) => ({ ...part, checksum: "x".repeat(1000) }));
  assertEquals(await checksumsOf(long), none);
});
