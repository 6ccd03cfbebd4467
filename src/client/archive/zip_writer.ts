import { crc32 } from "node:zlib";
import { writeAll } from "../local_files.ts";

/** An entry of an archive. */
interface ZipEntry {
  /** With slashes. */
  path: string;
  /** Bytes. */
  size: number;
  crc: number;
  /** Milliseconds since 1970. */
  modified: number;
  /** The offset of its local header. */
  offset: number;
}

/** Bytes of one read when existing entries are verified. */
const PIECE = 256 * 1024;

/** An entry in the archive, and the offset of its end. */
export interface WrittenEntry extends ZipEntry {
  end: number;
}

/**
 * Writes a zip archive, entry by entry, without compression: media files and archives would not shrink. (Not a library:
 * none resumes an interrupted archive.)
 */
export class ZipWriter {
  readonly #file: Deno.FsFile;
  #end = 0;

  constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /** Resumes after existing entries, which are given in order. Returns the leading ones whose CRC is right. */
  async resume(entries: readonly WrittenEntry[]): Promise<WrittenEntry[]> {
    const { size } = await this.#file.stat();
    const intact: WrittenEntry[] = [];
    for (const entry of entries) {
      const follows = entry.offset === this.#end && entry.end <= size;
      if (!follows || await this.#crcOf(entry) !== entry.crc) break;
      this.#end = entry.end;
      intact.push(entry);
    }
    return intact;
  }

  /**
   * Adds an entry.
   *
   * @param size Bytes that `fill` will write.
   * @param fill Passes the bytes to `take`. If it fails, the entry is not added.
   */
  async add(
    { path, size, modified }: Pick<ZipEntry, "path" | "size" | "modified">,
    fill: (take: (bytes: Uint8Array) => Promise<void>) => Promise<void>,
  ): Promise<WrittenEntry> {
    const entry = { path, size, modified, crc: 0, offset: this.#end };
    const header = localHeader(entry);
    await this.#file.seek(entry.offset, Deno.SeekMode.Start);
    await writeAll(this.#file, header);
    let crc = 0;
    let written = 0;
    await fill(async (bytes) => {
      crc = crc32(bytes, crc);
      written += bytes.byteLength;
      await writeAll(this.#file, bytes);
    });
    if (written !== size) throw new TypeError(`${written} bytes were written instead of ${size}`);
    const whole = { ...entry, crc };
    await this.#file.seek(entry.offset + CRC_AT, Deno.SeekMode.Start);
    await writeAll(this.#file, localHeader(whole).subarray(CRC_AT, CRC_AT + 4));
    this.#end = entry.offset + header.byteLength + size;
    return { ...whole, end: this.#end };
  }

  /** Writes the central directory of these entries, and syncs the file. */
  async finish(entries: Iterable<ZipEntry>): Promise<void> {
    const start = this.#end;
    let at = start;
    let count = 0;
    await this.#file.seek(start, Deno.SeekMode.Start);
    for (const entry of entries) {
      const header = centralHeader(entry);
      await writeAll(this.#file, header);
      at += header.byteLength;
      count++;
    }
    const end = endRecords(count, start, at);
    await writeAll(this.#file, end);
    await this.#file.truncate(at + end.byteLength);
    await this.#file.sync();
  }

  async #crcOf(entry: WrittenEntry): Promise<number> {
    let rest = entry.size;
    let crc = 0;
    await this.#file.seek(entry.end - entry.size, Deno.SeekMode.Start);
    const buffer = new Uint8Array(PIECE);
    while (rest > 0) {
      const count = await this.#file.read(buffer.subarray(0, Math.min(rest, PIECE)));
      if (count === null) break;
      crc = crc32(buffer.subarray(0, count), crc);
      rest -= count;
    }
    return crc;
  }
}

// The records of an archive (APPNOTE.TXT 6.3), for entries that are stored without compression.

/** The offset of the CRC in a local header. */
const CRC_AT = 14;

/** The values that say: the real value is in a field of eight bytes. */
const MAX_32 = 0xffffffff;
const MAX_16 = 0xffff;

/** The version that a reader needs: 2.0, or 4.5 for fields of eight bytes. */
const VERSION = 20;
const VERSION_64 = 45;

/** Made on UNIX, so that the mode applies: a regular file, rw-r--r--. */
const MADE_BY = 3 << 8 | VERSION_64;
const MODE = 0o100644 * 0x10000;

/** Bit 11: "the filename and comment fields for this file MUST be encoded using UTF-8". */
const UTF_8 = 1 << 11;

const ZIP64_EXTRA = 0x0001;
const TIME_EXTRA = 0x5455;

/** Builds a record of little-endian fields. */
class Fields {
  readonly #bytes: number[] = [];

  u16(...values: number[]): this {
    for (const value of values) this.#put(value, 2);
    return this;
  }

  u32(...values: number[]): this {
    for (const value of values) this.#put(value, 4);
    return this;
  }

  u64(...values: number[]): this {
    for (const value of values) this.#put(value, 8);
    return this;
  }

  raw(bytes: Iterable<number>): this {
    for (const byte of bytes) this.#bytes.push(byte);
    return this;
  }

  get size(): number {
    return this.#bytes.length;
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.#bytes);
  }

  #put(value: number, size: number): void {
    for (let rest = value, i = 0; i < size; i++, rest = Math.floor(rest / 256)) {
      this.#bytes.push(rest % 256);
    }
  }
}

/** Returns the record before the bytes of an entry. */
export function localHeader(entry: ZipEntry): Uint8Array<ArrayBuffer> {
  const name = new TextEncoder().encode(entry.path);
  const isLarge = entry.size >= MAX_32;
  const size = isLarge ? MAX_32 : entry.size;
  const extra = timeExtra(entry.modified);
  // "This entry in the Local header MUST include BOTH original and compressed file size fields."
  if (isLarge) extra.u16(ZIP64_EXTRA, 16).u64(entry.size, entry.size);
  return new Fields().u32(0x04034b50)
    .u16(isLarge ? VERSION_64 : VERSION, UTF_8, 0, ...dosTime(entry.modified))
    .u32(entry.crc, size, size)
    .u16(name.byteLength, extra.size)
    .raw(name).raw(extra.bytes).bytes;
}

/** Returns the record of an entry in the central directory. */
export function centralHeader(entry: ZipEntry): Uint8Array<ArrayBuffer> {
  const name = new TextEncoder().encode(entry.path);
  const isLarge = entry.size >= MAX_32;
  const isFar = entry.offset >= MAX_32;
  const size = isLarge ? MAX_32 : entry.size;
  const extra = timeExtra(entry.modified);
  if (isLarge || isFar) {
    const values = [...(isLarge ? [entry.size, entry.size] : []), ...(isFar ? [entry.offset] : [])];
    extra.u16(ZIP64_EXTRA, values.length * 8).u64(...values);
  }
  return new Fields().u32(0x02014b50)
    .u16(MADE_BY, isLarge || isFar ? VERSION_64 : VERSION, UTF_8, 0, ...dosTime(entry.modified))
    .u32(entry.crc, size, size)
    .u16(name.byteLength, extra.size, 0, 0, 0)
    .u32(MODE, isFar ? MAX_32 : entry.offset)
    .raw(name).raw(extra.bytes).bytes;
}

/** Returns the records after the central directory, which has `count` entries and these offsets. */
export function endRecords(count: number, start: number, end: number): Uint8Array<ArrayBuffer> {
  const size = end - start;
  const fields = new Fields();
  if (count >= MAX_16 || start >= MAX_32 || size >= MAX_32) {
    fields.u32(0x06064b50).u64(44).u16(MADE_BY, VERSION_64).u32(0, 0)
      .u64(count, count, size, start)
      .u32(0x07064b50, 0).u64(end).u32(1);
  }
  const count16 = Math.min(count, MAX_16);
  return fields.u32(0x06054b50).u16(0, 0, count16, count16)
    .u32(Math.min(size, MAX_32), Math.min(start, MAX_32))
    .u16(0).bytes;
}

/** Returns the time in UTC; the MS-DOS fields are in an unknown local time. */
function timeExtra(modified: number): Fields {
  const seconds = Math.min(Math.max(0, Math.floor(modified / 1000)), 0x7fffffff);
  return new Fields().u16(TIME_EXTRA, 5).raw([1]).u32(seconds);
}

/** Returns time and date in the MS-DOS format, which starts in 1980. */
function dosTime(modified: number): [time: number, date: number] {
  const at = new Date(Math.min(Math.max(modified, Date.UTC(1980)), Date.UTC(2107, 11, 31)));
  const time = at.getUTCHours() << 11 | at.getUTCMinutes() << 5 | at.getUTCSeconds() >> 1;
  const date = (at.getUTCFullYear() - 1980) << 9 | (at.getUTCMonth() + 1) << 5 | at.getUTCDate();
  return [time, date];
}
