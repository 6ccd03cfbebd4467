/**
 * The records of a zip archive (APPNOTE.TXT 6.3) whose entries are stored without compression.
 *
 * Sizes and the CRC-32 are in the local header, so that programs can extract an archive while it arrives. Fields of
 * eight bytes (ZIP64) are used only where a value does not fit, because some programs cannot read them.
 *
 * @module
 */
import { byteLength } from "../names.ts";

export interface ZipEntry {
  /** With slashes. That of a folder ends with one. */
  path: string;
  /** Bytes. */
  size: number;
  /** CRC-32 of all bytes. */
  crc: number;
  /** Milliseconds since 1970. */
  modified: number;
  /** The offset of its local header. */
  offset: number;
}

/** The offset of the CRC in a local header. */
export const CRC_AT = 14;

/** The values that say: the real value is in a field of eight bytes. */
const MAX_32 = 0xffffffff;
const MAX_16 = 0xffff;

/** The version that a reader needs: 2.0, or 4.5 for fields of eight bytes. */
const VERSION = 20;
const VERSION_64 = 45;

/** Made on UNIX, so that the mode applies: a regular file, rw-r--r--, or a folder, rwxr-xr-x, with the flag of MS-DOS. */
const MADE_BY = 3 << 8 | VERSION_64;
const MODE = 0o100644 * 0x10000;
const FOLDER_MODE = 0o040755 * 0x10000 + 0x10;

/** Bit 11: "the filename and comment fields for this file MUST be encoded using UTF-8". */
const UTF_8 = 1 << 11;

/** The method without compression. */
const STORED = 0;

/** The times that MS-DOS knows. */
const MIN_DOS_TIME = Date.UTC(1980);
const MAX_DOS_TIME = Date.UTC(2107, 11, 31);

const ZIP64_EXTRA = 0x0001;
const TIME_EXTRA = 0x5455;

/** The flag of a time of modification. */
const HAS_MODIFIED = Uint8Array.of(1);

/** The sizes of the records without names and extra fields, in bytes. */
const LOCAL_HEADER = 30;
const CENTRAL_HEADER = 46;
const END_RECORD = 22;
const END_RECORDS_64 = 56 + 20;

/** The sizes of the extra fields, in bytes: a header of four bytes, and one or more values. */
const TIME_FIELD = 4 + 5;
const EXTRA_HEADER = 4;

const encoder = new TextEncoder();

/** Writes little-endian fields into a record of known size. */
class Fields {
  readonly bytes: Uint8Array<ArrayBuffer>;
  #at = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }

  u16(value: number): this {
    this.bytes[this.#at++] = value;
    this.bytes[this.#at++] = value >>> 8;
    return this;
  }

  u32(value: number): this {
    return this.u16(value).u16(value >>> 16);
  }

  u64(value: number): this {
    return this.u32(value % 2 ** 32).u32(Math.floor(value / 2 ** 32));
  }

  raw(bytes: Uint8Array): this {
    this.bytes.set(bytes, this.#at);
    this.#at += bytes.byteLength;
    return this;
  }

  /** Version and method of an entry, and its time. MS-DOS has no time zones, and starts in 1980. */
  kind(isLarge: boolean, modified: number): this {
    const at = new Date(Math.min(Math.max(modified, MIN_DOS_TIME), MAX_DOS_TIME));
    const time = at.getUTCHours() << 11 | at.getUTCMinutes() << 5 | at.getUTCSeconds() >> 1;
    const month = at.getUTCMonth() + 1;
    const date = (at.getUTCFullYear() - 1980) << 9 | month << 5 | at.getUTCDate();
    return this.u16(isLarge ? VERSION_64 : VERSION).u16(UTF_8).u16(STORED).u16(time).u16(date);
  }

  /** The time in UTC. */
  time(modified: number): this {
    const seconds = Math.min(Math.max(0, Math.floor(modified / 1000)), 0x7fffffff);
    return this.u16(TIME_EXTRA).u16(5).raw(HAS_MODIFIED).u32(seconds);
  }
}

/** Returns the record before the bytes of an entry. */
export function localHeader(entry: Omit<ZipEntry, "offset">): Uint8Array<ArrayBuffer> {
  const name = encoder.encode(entry.path);
  const isLarge = entry.size >= MAX_32;
  const size = isLarge ? MAX_32 : entry.size;
  const extra = TIME_FIELD + (isLarge ? EXTRA_HEADER + 16 : 0);
  const fields = new Fields(LOCAL_HEADER + name.byteLength + extra).u32(0x04034b50)
    .kind(isLarge, entry.modified)
    .u32(entry.crc).u32(size).u32(size)
    .u16(name.byteLength).u16(extra)
    .raw(name).time(entry.modified);
  // "This entry in the Local header MUST include BOTH original and compressed file size fields."
  if (isLarge) fields.u16(ZIP64_EXTRA).u16(16).u64(entry.size).u64(entry.size);
  return fields.bytes;
}

export function centralHeader(entry: ZipEntry): Uint8Array<ArrayBuffer> {
  const name = encoder.encode(entry.path);
  const isLarge = entry.size >= MAX_32;
  const isFar = entry.offset >= MAX_32;
  const size = isLarge ? MAX_32 : entry.size;
  const large = (isLarge ? 16 : 0) + (isFar ? 8 : 0);
  const extra = TIME_FIELD + (large > 0 ? EXTRA_HEADER + large : 0);
  const fields = new Fields(CENTRAL_HEADER + name.byteLength + extra).u32(0x02014b50)
    .u16(MADE_BY).kind(large > 0, entry.modified)
    .u32(entry.crc).u32(size).u32(size)
    .u16(name.byteLength).u16(extra).u16(0).u16(0).u16(0)
    .u32(entry.path.endsWith("/") ? FOLDER_MODE : MODE).u32(isFar ? MAX_32 : entry.offset)
    .raw(name).time(entry.modified);
  if (large > 0) fields.u16(ZIP64_EXTRA).u16(large);
  if (isLarge) fields.u64(entry.size).u64(entry.size);
  if (isFar) fields.u64(entry.offset);
  return fields.bytes;
}

/** Returns the records after the central directory, which has `count` entries and these offsets. */
export function endRecords(count: number, start: number, end: number): Uint8Array<ArrayBuffer> {
  const size = end - start;
  const isLarge = count >= MAX_16 || start >= MAX_32 || size >= MAX_32;
  const fields = new Fields(END_RECORD + (isLarge ? END_RECORDS_64 : 0));
  if (isLarge) {
    fields.u32(0x06064b50).u64(44).u16(MADE_BY).u16(VERSION_64).u32(0).u32(0)
      .u64(count).u64(count).u64(size).u64(start)
      .u32(0x07064b50).u32(0).u64(end).u32(1);
  }
  const count16 = Math.min(count, MAX_16);
  return fields.u32(0x06054b50).u16(0).u16(0).u16(count16).u16(count16)
    .u32(Math.min(size, MAX_32)).u32(Math.min(start, MAX_32))
    .u16(0).bytes;
}

/** Returns the size of a whole archive in bytes. */
export function archiveSize(entries: Iterable<Pick<ZipEntry, "path" | "size">>): number {
  let offset = 0;
  let directory = 0;
  let count = 0;
  for (const { path, size } of entries) {
    const name = byteLength(path) + TIME_FIELD;
    const large = (size >= MAX_32 ? 16 : 0) + (offset >= MAX_32 ? 8 : 0);
    directory += CENTRAL_HEADER + name + (large > 0 ? EXTRA_HEADER + large : 0);
    offset += LOCAL_HEADER + name + (size >= MAX_32 ? EXTRA_HEADER + 16 : 0) + size;
    count++;
  }
  const end = offset + directory;
  return end + endRecords(count, offset, end).byteLength;
}
