import { crc32 } from "node:zlib";
import { writeAll } from "./download.ts";
import { centralHeader, CRC_AT, endRecords, localHeader, type ZipEntry } from "./zip_records.ts";

/** Bytes that are read at once when what is there is checked. */
const PIECE = 256 * 1024;

/** An entry that is in the archive, and where it ends. */
export interface WrittenEntry extends ZipEntry {
  end: number;
}

/**
 * Writes a zip archive into a file, one entry after the other, stored as they are: pictures, films and archives don't
 * become smaller. Libraries cannot go on with an archive that was interrupted; this can, from the end of any entry on.
 */
export class ZipWriter {
  readonly #file: Deno.FsFile;
  #end = 0;

  constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /** Goes on behind these entries, which are there in order; gives those of them whose bytes are what they were. */
  async resume(entries: readonly WrittenEntry[]): Promise<WrittenEntry[]> {
    const { size } = await this.#file.stat();
    const sound: WrittenEntry[] = [];
    for (const entry of entries) {
      const follows = entry.offset === this.#end && entry.end <= size;
      if (!follows || await this.#crcOf(entry) !== entry.crc) break;
      this.#end = entry.end;
      sound.push(entry);
    }
    return sound;
  }

  /**
   * Adds an entry.
   *
   * @param size How many bytes come.
   * @param fill Gives the bytes to what it is given. Where it fails, the entry is not there.
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
    if (written !== size) throw new TypeError(`${written} bytes came in place of ${size}`);
    const whole = { ...entry, crc };
    await this.#file.seek(entry.offset + CRC_AT, Deno.SeekMode.Start);
    await writeAll(this.#file, localHeader(whole).subarray(CRC_AT, CRC_AT + 4));
    this.#end = entry.offset + header.byteLength + size;
    return { ...whole, end: this.#end };
  }

  /** Writes the directory of these entries, down to the disk. */
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
