import { crc32 } from "node:zlib";
import { contentProblem, isPage, matches } from "../bytes/checksums.ts";
import { chunkCount } from "../bytes/chunks.ts";
import { crcOfPage } from "../bytes/crc32.ts";
import type { Database } from "../engine/database.ts";
import { keys } from "../engine/keys.ts";
import { bytesVersion, CHUNK_SIZE, type FileRecord } from "../engine/records.ts";
import { MAX_GET_MANY, ReadQueue } from "../reads/read_queue.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The chunks of a file that is read whole: with its checksums they are one read. */
const MAX_CHUNKS = MAX_GET_MANY - 1;

/** The bytes of the largest file that is read whole. */
export const MAX_WHOLE_FILE = MAX_CHUNKS * CHUNK_SIZE;

export interface WholeFile {
  pieces: readonly Bytes[];
  /** CRC-32 of all bytes. */
  crc: number;
}

/** Returns whether a file is small enough to be read whole. */
export function isWhole({ layout, size }: FileRecord): boolean {
  return layout.kind === "inline" || layout.kind === "chunks" && size <= MAX_WHOLE_FILE;
}

/**
 * Reads whole files for callers that read many: those that are requested at the same time share reads. A search, and a
 * transaction for it, takes longer than the bytes of a small file: without this, an archive of 1000 files of 100 KB took
 * twice as long.
 */
export class WholeFiles {
  readonly #contents: ReadQueue;
  readonly #chunks: ReadQueue;

  constructor({ reader, bytes }: Pick<Database, "reader" | "bytes">) {
    this.#contents = new ReadQueue(reader);
    this.#chunks = new ReadQueue(bytes.reader);
  }

  /** Returns the bytes of a file for which `isWhole` holds; `undefined` if any are missing or wrong. */
  async read(record: FileRecord): Promise<WholeFile | undefined> {
    return record.layout.kind === "inline"
      ? await this.#readContent(record)
      : await this.#readChunks(record);
  }

  async #readContent(record: FileRecord): Promise<WholeFile | undefined> {
    const [{ value }] = await this.#contents.get<[Bytes]>([keys.content(bytesVersion(record))]);
    if (value === null || contentProblem(record, value) !== undefined) return undefined;
    return { pieces: [value], crc: crc32(value) };
  }

  async #readChunks(record: FileRecord): Promise<WholeFile | undefined> {
    const version = bytesVersion(record);
    const count = chunkCount(record.size);
    const chunkKeys = Array.from({ length: count }, (_, i) => keys.chunk(version, i));
    const [page, ...chunks] = await this.#chunks.get<Bytes[]>([
      keys.checksums(version, 0),
      ...chunkKeys,
    ]);
    const checksums = page?.value;
    if (!isPage(checksums, 0, count)) return undefined;
    const pieces: Bytes[] = [];
    for (const [index, { value }] of chunks.entries()) {
      const length = Math.min(CHUNK_SIZE, record.size - index * CHUNK_SIZE);
      if (value?.byteLength !== length || !matches(checksums, index, value)) return undefined;
      pieces.push(value);
    }
    return { pieces, crc: crcOfPage(checksums, record.size) };
  }
}
