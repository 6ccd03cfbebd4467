import { assert, assertEquals } from "@std/assert";
import { crc32 } from "node:zlib";

/** An entry of an archive that was read. */
export interface ZipEntry {
  path: string;
  bytes: Uint8Array;
  /** Seconds since 1970, of the extended timestamp. */
  modified: number;
  /** The mode of UNIX. */
  mode: number;
}

/**
 * Reads an archive as a program does that extracts while it arrives, from local header to local header, and compares
 * this with the central directory. Every record must be where the format wants it, without a gap.
 */
export function readZip(archive: Uint8Array<ArrayBuffer>): ZipEntry[] {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const u16 = (at: number) => view.getUint16(at, true);
  const u32 = (at: number) => view.getUint32(at, true);
  const text = (at: number, length: number) =>
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      archive.subarray(at, at + length),
    );
  const entries: (ZipEntry & { at: number; crc: number })[] = [];
  let at = 0;
  while (u32(at) === 0x04034b50) {
    const [flags, method, crc, size] = [u16(at + 6), u16(at + 8), u32(at + 14), u32(at + 18)];
    assertEquals([flags, method, u32(at + 22)], [1 << 11, 0, size]);
    const [nameLength, extraLength] = [u16(at + 26), u16(at + 28)];
    const start = at + 30 + nameLength + extraLength;
    const bytes = archive.subarray(start, start + size);
    assertEquals(crc32(bytes), crc);
    const extra = at + 30 + nameLength;
    assertEquals([u16(extra), u16(extra + 2), archive[extra + 4], extraLength], [0x5455, 5, 1, 9]);
    const path = text(at + 30, nameLength);
    entries.push({ path, bytes, modified: u32(extra + 5), mode: 0, at, crc });
    at = start + size;
  }
  const directory = at;
  for (const entry of entries) {
    assertEquals(u32(at), 0x02014b50);
    const [nameLength, extraLength] = [u16(at + 28), u16(at + 30)];
    assertEquals([u32(at + 16), u32(at + 20), u32(at + 24), u32(at + 42)], [
      entry.crc,
      entry.bytes.length,
      entry.bytes.length,
      entry.at,
    ]);
    assertEquals(text(at + 46, nameLength), entry.path);
    entry.mode = u32(at + 38) >>> 16;
    at += 46 + nameLength + extraLength;
  }
  const end = at;
  if (u32(at) === 0x06064b50) at += 56 + 20;
  assertEquals(u32(at), 0x06054b50);
  assertEquals(u16(at + 10), Math.min(entries.length, 0xffff));
  assertEquals([u32(at + 12), u32(at + 16)], [end - directory, directory]);
  assertEquals(at + 22, archive.byteLength);
  return entries.map(({ path, bytes, modified, mode }) => ({ path, bytes, modified, mode }));
}

/** Fails unless every program may extract this path: it stays in the folder, and means the same on every system. */
export function assertSafePath(path: string): void {
  assert(!path.startsWith("/") && !path.endsWith("/"), path);
  assert(!/[\p{Cc}\\:*?"<>|]/u.test(path), path);
  for (const segment of path.split("/")) {
    assert(segment !== "" && segment !== "." && segment !== "..", path);
    assert(!/[. ]$/.test(segment), path);
  }
}
