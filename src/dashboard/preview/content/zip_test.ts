import { assertEquals } from "@std/assert";
import { readContents, type ZipContents } from "./zip.ts";

interface Sample {
  name: string;
  size: number;
  /** The size stands in an extra field. */
  isLarge?: boolean;
  flags?: number;
}

const text = (value: string) => new TextEncoder().encode(value);

/** Little-endian numbers, by their widths in bytes. */
function numbers(...fields: (readonly [width: number, value: number])[]): Uint8Array {
  return joined(fields.map(([width, value]) => {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
    return bytes.subarray(0, width);
  }));
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function header({ name, size, isLarge = false, flags = 0 }: Sample): Uint8Array {
  const extra = isLarge ? numbers([2, 1], [2, 8], [8, size]) : new Uint8Array();
  return joined([
    numbers([4, 0x02014b50], [4, 0], [2, flags], [8, 0], [6, 0]),
    numbers([4, isLarge ? 0xffffffff : size], [2, text(name).length], [2, extra.length], [2, 0]),
    numbers([8, 0], [4, 0]),
    text(name),
    extra,
  ]);
}

/** An archive without the bytes of its files. */
function archive(samples: readonly Sample[], { before = 10, comment = "", is64 = false } = {}) {
  const list = joined(samples.map(header));
  const count = is64 ? 0xffff : samples.length;
  const large = joined([
    numbers([4, 0x06064b50], [8, 44], [4, 0], [8, 0], [8, samples.length]),
    numbers([8, samples.length], [8, list.length], [8, before]),
    numbers([4, 0x07064b50], [4, 0], [8, 0], [4, 1]),
  ]);
  return joined([
    new Uint8Array(before),
    list,
    is64 ? large : new Uint8Array(),
    numbers([4, 0x06054b50], [4, 0], [2, count], [2, count], [4, is64 ? 0xffffffff : list.length]),
    numbers([4, before], [2, comment.length]),
    text(comment),
  ]);
}

/** Reads what an archive contains, and adds up what was read of it. */
async function contentsOf(bytes: Uint8Array): Promise<[ZipContents | undefined, read: number]> {
  let read = 0;
  const contents = await readContents((start, end) => {
    read += end - start;
    return Promise.resolve(bytes.subarray(start, end));
  }, bytes.length);
  return [contents, read];
}

const SAMPLES = [{ name: "docs/", size: 0 }, { name: "docs/Grüße.txt", size: 1234 }];

Deno.test("The entries of an archive are listed with their names and sizes", async () => {
  for (const options of [{}, { comment: "made by hand" }, { is64: true }, { before: 3_000_000 }]) {
    const [contents, read] = await contentsOf(archive(SAMPLES, options));
    assertEquals(contents, { entries: SAMPLES, total: 2, isEncrypted: false });
    assertEquals(read < 70_000, true);
  }
});

Deno.test("The size of a large file stands in an extra field", async () => {
  const large = { name: "film.mkv", size: 5_000_000_000, isLarge: true, flags: 1 };
  const [contents] = await contentsOf(archive([large]));
  const [{ name, size }] = [large];
  assertEquals(contents, { entries: [{ name, size }], total: 1, isEncrypted: true });
});

Deno.test("Of an archive with very many entries the first are read", async () => {
  const samples = Array.from({ length: 6000 }, (_, i) => ({ name: `photos/${i}.jpg`, size: i }));
  const [contents, read] = await contentsOf(archive(samples));
  assertEquals([contents?.entries.length, contents?.total], [2000, 6000]);
  assertEquals(contents?.entries[1999], { name: "photos/1999.jpg", size: 1999 });
  assertEquals(read < 600_000, true);
});

Deno.test("A damaged or hostile archive gives fewer entries or none", async () => {
  const [none] = await contentsOf(text("no archive at all, but long enough for its end"));
  assertEquals(none, undefined);
  assertEquals((await contentsOf(new Uint8Array(10)))[0], undefined);
  const whole = archive(SAMPLES, { is64: true });
  // Each byte in turn has its highest value: no reading outside the file, and no endless loop.
  for (let at = 0; at < whole.length; at++) {
    const damaged = whole.slice();
    damaged[at] = 0xff;
    const contents = await readContents((start, end) => {
      assertEquals(0 <= start && start <= end && end <= damaged.length, true, `${start}-${end}`);
      return Promise.resolve(damaged.subarray(start, end));
    }, damaged.length);
    assertEquals((contents?.entries.length ?? 0) <= 2, true);
  }
});
