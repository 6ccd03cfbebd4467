import type { ByteRange } from "../../rules/byte_range.ts";
import type { ReadAhead } from "../bytes/read_ahead.ts";
import type { FileRecord } from "../engine/records.ts";

/** A version of a file that is open for reading. Its bytes are kept until `close`. */
export interface OpenFile extends Disposable {
  record: FileRecord;
  /**
   * Returns the bytes of a range, in pieces. Call it once.
   *
   * @param ahead Memory to read into, which the caller disposes of; by default the file reserves some of its own. The
   *     pieces then belong to the caller.
   * @throws {MemoryExhausted} if no memory for another reader becomes free in time.
   */
  read(range: ByteRange, ahead?: ReadAhead): Promise<AsyncIterable<Uint8Array<ArrayBuffer>>>;
  /** Releases the memory of a piece at once, unless other downloads may use it. */
  release(piece: Uint8Array<ArrayBuffer>): void;
  /**
   * Returns the CRC-32 of all bytes, which are not read for it.
   *
   * @throws {StoreDamaged} if checksums of the file are missing.
   */
  crc32(): Promise<number>;
  /** All bytes, if they are stored in one value. */
  content: Uint8Array<ArrayBuffer> | undefined;
  close(): void;
}
