import { assert } from "@std/assert";
import { assertSameBytes, KIB, MAX_PAYLOAD, MIB, patternBytes, utf8 } from "../../support/bytes.ts";
import { assertFiles, type Drive, query, uploadParts } from "../../support/drive.ts";
import { PacedDownload } from "../../support/paced_body.ts";
import { suite } from "../../support/suite.ts";

const test = suite("A download keeps the version that it started with");

type Bytes = Uint8Array<ArrayBuffer>;

const SHAPES: readonly { what: string; size: number }[] = [
  { what: "An empty file", size: 0 },
  { what: "A file of 5 KiB", size: 5 * KIB },
  { what: "A file of 5 MiB stored by one request", size: 5 * MIB },
  { what: "A file of 25 MiB stored in parts", size: 25 * MIB },
];

/** What happens to the file half-way, and what the drive holds afterwards. */
const EVENTS: readonly { what: string; run(drive: Drive): Promise<Record<string, Bytes>> }[] = [
  {
    what: "overwritten by a small file",
    async run(drive) {
      await drive.put("a", "the next version");
      return { a: utf8("the next version") };
    },
  },
  {
    what: "overwritten by a file of the same size",
    async run(drive) {
      const size = (await drive.details())[0]?.size ?? 0;
      return await store(drive, patternBytes(size, 2));
    },
  },
  {
    what: "overwritten three times",
    async run(drive) {
      for (const seed of [3, 4]) await drive.put("a", patternBytes(100 * KIB, seed));
      return await store(drive, patternBytes(12 * MIB, 5));
    },
  },
  {
    what: "deleted",
    async run(drive) {
      await drive.delete(["a"]);
      return {};
    },
  },
  {
    what: "deleted and stored again",
    async run(drive) {
      await drive.delete(["a"]);
      return await store(drive, patternBytes(MIB, 6));
    },
  },
];

for (const shape of SHAPES) {
  for (const event of EVENTS) {
    test(`${shape.what} that is ${event.what} half-way is read to its end.`, async (drive) => {
      const before = patternBytes(shape.size, 1);
      await store(drive, before);
      const download = await begin(drive);
      const after = await event.run(drive);
      assertSameBytes(await download.finish(), before);
      await assertFiles(drive, after);
    });
  }
}

test("A range of a file that is deleted half-way is read to its end.", async (drive) => {
  const before = patternBytes(25 * MIB, 7);
  await store(drive, before);
  const download = await begin(drive, { Range: `bytes=${3 * MIB}-${24 * MIB}` });
  await drive.delete(["a"]);
  assertSameBytes(await download.finish(), before.subarray(3 * MIB, 24 * MIB + 1));
  await assertFiles(drive, {});
});

test("A reader that disconnects does not affect other readers of the same version.", async (drive) => {
  const before = patternBytes(25 * MIB, 8);
  await store(drive, before);
  const [leaving, staying] = [await begin(drive), await begin(drive)];
  await drive.delete(["a"]);
  await leaving.cancel();
  assertSameBytes(await staying.finish(), before);
  await assertFiles(drive, {});
});

test("Readers beside a writer get one whole version each.", async (drive) => {
  const sizes = [300 * KIB, 10 * KIB, MIB, 64 * KIB, 2 * MIB, 65 * KIB];
  const version = (size: number): Bytes => patternBytes(size, size);
  await drive.put("a", version(sizes[0] ?? 0));
  let writing = true;
  const readers = Array.from({ length: 4 }, async () => {
    let count = 0;
    for (; writing || count === 0; count++) {
      const { bytes } = (await drive.get("a")).expect(200);
      assertSameBytes(bytes, version(bytes.length));
    }
    return count;
  });
  try {
    for (const size of [...sizes, ...sizes]) await drive.put("a", version(size));
  } finally {
    writing = false;
  }
  for (const count of await Promise.all(readers)) assert(count > 0);
  await assertFiles(drive, { a: version(sizes.at(-1) ?? 0) });
});

/** Stores bytes as the file `a`, in parts where one request may not carry them. */
async function store(drive: Drive, bytes: Bytes): Promise<Record<string, Bytes>> {
  if (bytes.length <= MAX_PAYLOAD) {
    await drive.put("a", bytes);
    return { a: bytes };
  }
  const parts: Bytes[] = [];
  for (let at = 0; at < bytes.length; at += MAX_PAYLOAD) {
    parts.push(bytes.slice(at, at + MAX_PAYLOAD));
  }
  await uploadParts(drive, "a", parts);
  return { a: bytes };
}

async function begin(drive: Drive, headers: Record<string, string> = {}): Promise<PacedDownload> {
  const path = `/files/download${query({ name: "a" })}`;
  return await PacedDownload.begin(await drive.server.fetch(drive.name, path, { headers }));
}
