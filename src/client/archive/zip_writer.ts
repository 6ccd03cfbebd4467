import { crc32 } from "node:zlib";
import {
  centralHeader,
  CRC_AT,
  endRecords,
  localHeader,
  type ZipEntry,
} from "../../rules/archive/zip_records.ts";
import { writeAll } from "../local_files.ts";

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
  #end = 0;

  constructor(
    private readonly file: Deno.FsFile,
  ) {}

  /** Resumes after existing entries, which are given in order. Returns the leading ones whose CRC is right. */
  async resume(entries: readonly WrittenEntry[]): Promise<WrittenEntry[]> {
    const { size } = await this.file.stat();
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
    await this.file.seek(entry.offset, Deno.SeekMode.Start);
    await writeAll(this.file, header);
    let crc = 0;
    let written = 0;
    await fill(async (bytes) => {
      crc = crc32(bytes, crc);
      written += bytes.byteLength;
      await writeAll(this.file, bytes);
    });
    if (written !== size) throw new TypeError(`${written} bytes were written instead of ${size}`);
    const whole = { ...entry, crc };
    await this.file.seek(entry.offset + CRC_AT, Deno.SeekMode.Start);
    await writeAll(this.file, localHeader(whole).subarray(CRC_AT, CRC_AT + 4));
    this.#end = entry.offset + header.byteLength + size;
    return { ...whole, end: this.#end };
  }

  /** Writes the central directory of these entries, and syncs the file. */
  async finish(entries: Iterable<ZipEntry>): Promise<void> {
    const start = this.#end;
    let at = start;
    let count = 0;
    await this.file.seek(start, Deno.SeekMode.Start);
    for (const entry of entries) {
      const header = centralHeader(entry);
      await writeAll(this.file, header);
      at += header.byteLength;
      count++;
    }
    const end = endRecords(count, start, at);
    await writeAll(this.file, end);
    await this.file.truncate(at + end.byteLength);
    await this.file.sync();
  }

  async #crcOf(entry: WrittenEntry): Promise<number> {
    let rest = entry.size;
    let crc = 0;
    await this.file.seek(entry.end - entry.size, Deno.SeekMode.Start);
    const buffer = new Uint8Array(PIECE);
    while (rest > 0) {
      const count = await this.file.read(buffer.subarray(0, Math.min(rest, PIECE)));
      if (count === null) break;
      crc = crc32(buffer.subarray(0, count), crc);
      rest -= count;
    }
    return crc;
  }
}
