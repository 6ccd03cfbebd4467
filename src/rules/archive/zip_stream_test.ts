import { assertEquals, assertRejects } from "@std/assert";
import { crc32 } from "node:zlib";
import { GIB } from "../units.ts";
import { archiveSize, centralHeader, endRecords, localHeader } from "./zip_records.ts";
import { type ZipFile, zipPieces } from "./zip_stream.ts";

type Piece = Uint8Array<ArrayBuffer>;

/** A file whose bytes are in memory. */
function small(path: string, text: string): ZipFile {
  const content = new TextEncoder().encode(text);
  const size = content.byteLength;
  return {
    path,
    size,
    crc: crc32(content),
    modified: Date.UTC(2026, 1, 3, 4, 5, 6),
    bytes: [content],
  };
}

/** A file of zero bytes, which are the same piece again and again. */
function large(path: string, size: number): ZipFile {
  const zeros = new Uint8Array(16 * 1024 * 1024);
  async function* pieces(): AsyncGenerator<Piece> {
    for (let rest = size; rest > 0; rest -= zeros.byteLength) {
      yield await Promise.resolve(zeros.subarray(0, Math.min(rest, zeros.byteLength)));
    }
  }
  return { path, size, crc: 0, modified: 0, bytes: () => Promise.resolve(pieces()) };
}

async function* each(files: readonly ZipFile[]): AsyncGenerator<ZipFile> {
  for (const file of files) yield await Promise.resolve(file);
}

/** Counts the bytes of an archive and keeps the last pieces. */
async function measure(files: readonly ZipFile[]): Promise<{ size: number; tail: DataView }> {
  let size = 0;
  let last: Piece[] = [];
  for await (const piece of zipPieces(each(files))) {
    size += piece.byteLength;
    last = [...last.slice(-2), piece];
  }
  const tail = new Uint8Array(last.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const piece of last) {
    tail.set(piece, at);
    at += piece.byteLength;
  }
  return { size, tail: new DataView(tail.buffer) };
}

/** Returns the file that a program extracts from an archive, which is in its temporary folder. */
async function runOn(archive: Blob, command: string, args: readonly string[]): Promise<string> {
  const path = await Deno.makeTempFile({ suffix: ".zip" });
  try {
    await Deno.writeFile(path, archive.stream());
    const all = args.map((one) => one === "ARCHIVE" ? path : one);
    const { success, stdout, stderr } = await new Deno.Command(command, { args: all }).output();
    const text = new TextDecoder().decode(stdout);
    if (!success) throw new Error(text + new TextDecoder().decode(stderr));
    return text;
  } finally {
    await Deno.remove(path);
  }
}

function isInstalled(command: string): boolean {
  try {
    return new Deno.Command(command, { args: ["--help"], stdout: "null", stderr: "null" })
      .outputSync().code !== 127;
  } catch {
    return false;
  }
}

const SAMPLES = [small("a.txt", "hello"), small("é/文.txt", ""), small("b", "x".repeat(200_000))];

for (
  const [command, args] of [
    ["unzip", ["-t", "ARCHIVE"]],
    ["python3", [
      "-c",
      "import sys, zipfile; assert zipfile.ZipFile(sys.argv[1]).testzip() is None",
      "ARCHIVE",
    ]],
    ["bsdtar", ["-xOf", "ARCHIVE"]],
    ["7z", ["t", "ARCHIVE"]],
  ] as const
) {
  Deno.test({
    name: `${command} reads an archive`,
    ignore: !isInstalled(command),
    async fn() {
      const pieces = await Array.fromAsync(zipPieces(each(SAMPLES)));
      await runOn(new Blob(pieces), command, args);
    },
  });
}

Deno.test("An archive has the size that was computed before", async () => {
  for (const files of [[], SAMPLES, [large("a", 100_000_000), ...SAMPLES]]) {
    assertEquals((await measure(files)).size, archiveSize(files));
  }
});

Deno.test("A file that has not its size ends the archive without its directory", async () => {
  const short = { ...large("a", 10), size: 11 };
  const long = { ...large("a", 10), size: 9 };
  for (const file of [short, long]) {
    await assertRejects(() => measure([file]), RangeError, '"a" has not');
  }
});

Deno.test("Fields of eight bytes are used from 4 GiB - 1 on, and not before", () => {
  const limit = 4 * GIB - 1;
  const entry = { path: "a", crc: 0, modified: 0 };
  const local = (size: number) => localHeader({ ...entry, size }).byteLength;
  const central = (size: number, offset: number) => {
    const header = centralHeader({ ...entry, size, offset });
    return [header.byteLength, header[6]];
  };
  assertEquals([local(limit - 1), local(limit)], [40, 60]);
  assertEquals(central(limit - 1, limit - 1), [56, 20]);
  assertEquals(central(limit, 0), [76, 45]);
  assertEquals(central(0, limit), [68, 45]);
  assertEquals(central(limit, limit), [84, 45]);
  assertEquals(endRecords(65_534, 0, limit - 1).byteLength, 22);
  for (const [count, start, end] of [[65_535, 0, 0], [1, limit, limit], [1, 0, limit]] as const) {
    assertEquals(endRecords(count, start, end).byteLength, 98);
  }
});

Deno.test("The size of an archive counts fields of eight bytes", () => {
  const limit = 4 * GIB - 1;
  const sizes = [0, limit - 1, limit, 1];
  const files = sizes.map((size, i) => ({ path: `${i}`, size }));
  let offset = 0;
  let directory = 0;
  for (const { path, size } of files) {
    const entry = { path, size, crc: 0, modified: 0, offset };
    directory += centralHeader(entry).byteLength;
    offset += localHeader(entry).byteLength + size;
  }
  const end = offset + directory;
  assertEquals(archiveSize(files), end + endRecords(4, offset, end).byteLength);
});

Deno.test("An archive of more than 4 GiB names its directory in eight bytes", async () => {
  const files = [large("large", 4 * GIB), small("behind", "x")];
  const { size, tail } = await measure(files);
  assertEquals(size, archiveSize(files));
  const end = tail.byteLength - 98;
  assertEquals(tail.getUint32(end, true), 0x06064b50);
  const [count, directorySize, start] = [32, 40, 48].map((at) =>
    Number(tail.getBigUint64(end + at, true))
  );
  assertEquals([count, (start ?? 0) + (directorySize ?? 0)], [2, size - 98]);
});
