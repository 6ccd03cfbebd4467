import { centralHeader, endRecords, localHeader } from "./zip_records.ts";

type Piece = Uint8Array<ArrayBuffer>;

/** Small records and files are sent in blocks of this many bytes. */
const BLOCK_SIZE = 65_536;

/** Copying a piece of up to this many bytes into a block is cheaper than sending it apart. */
const MAX_COPIED = BLOCK_SIZE - 4096;

export interface ZipFile {
  /** Its path in the archive, with slashes. */
  path: string;
  /** Bytes. */
  size: number;
  /** CRC-32 of all bytes. */
  crc: number;
  /** Milliseconds since 1970. */
  modified: number;
  /** All bytes, or what reads them. The buffers of the pieces belong to the archive. */
  bytes: readonly Piece[] | (() => Promise<AsyncIterable<Piece>>);
}

/**
 * Yields a zip archive of files in pieces, each of which has a buffer of its own. The memory that this takes grows by
 * some 60 bytes and the path for each file.
 *
 * @throws {RangeError} after a file whose bytes are more or fewer than its size: the archive is not completed.
 */
export async function* zipPieces(files: AsyncIterable<ZipFile>): AsyncGenerator<Piece> {
  const blocks = new Blocks();
  const directory = new Blocks();
  let count = 0;
  let offset = 0;
  for await (const file of files) {
    const header = localHeader(file);
    directory.add(centralHeader({ ...file, offset }));
    blocks.add(header);
    let rest = file.size;
    if (typeof file.bytes !== "function") {
      for (const piece of file.bytes) {
        rest -= piece.byteLength;
        blocks.send(piece);
      }
      while (blocks.full.length > 0) yield blocks.next();
    } else {
      for await (const piece of await file.bytes()) {
        rest -= piece.byteLength;
        if (rest < 0) break;
        blocks.send(piece);
        while (blocks.full.length > 0) yield blocks.next();
      }
    }
    if (rest !== 0) throw new RangeError(`${JSON.stringify(file.path)} has not ${file.size} bytes`);
    offset += header.byteLength + file.size;
    count++;
  }
  blocks.end();
  while (blocks.full.length > 0) yield blocks.next();
  directory.end();
  let end = offset;
  while (directory.full.length > 0) {
    const block = directory.next();
    end += block.byteLength;
    yield block;
  }
  yield endRecords(count, offset, end);
}

/** Joins small pieces of bytes. Its functions are no generators, because most of them yield nothing for a small file. */
class Blocks {
  /** The blocks and pieces to be sent. */
  readonly full: Piece[] = [];
  #block: Piece | undefined;
  #used = 0;

  /** Appends a copy of bytes. */
  add(bytes: Uint8Array): void {
    let rest = bytes;
    while (rest.byteLength > 0) {
      this.#block ??= new Uint8Array(BLOCK_SIZE);
      const fitting = rest.subarray(0, BLOCK_SIZE - this.#used);
      this.#block.set(fitting, this.#used);
      this.#used += fitting.byteLength;
      rest = rest.subarray(fitting.byteLength);
      if (this.#used === BLOCK_SIZE) this.end();
    }
  }

  /** Appends a piece: a copy of a small one, and a large one as it is. */
  send(piece: Piece): void {
    if (piece.byteLength <= MAX_COPIED) return this.add(piece);
    this.end();
    this.full.push(piece);
  }

  /** Ends the block that has been begun, if any. */
  end(): void {
    if (this.#block === undefined) return;
    this.full.push(this.#block.subarray(0, this.#used));
    this.#block = undefined;
    this.#used = 0;
  }

  /** Removes the first block of `full`. */
  next(): Piece {
    return this.full.shift() ?? new Uint8Array();
  }
}
