import type { ByteRange } from "../../rules/byte_range.ts";
import { isCorruption, StoreDamaged } from "../engine/errors.ts";
import { ranges } from "../engine/keys.ts";
import type { ByteEntries } from "../engine/database.ts";
import type { KvReader } from "../reads/read_queue.ts";
import {
  bytesVersion,
  CHUNK_SIZE,
  type FileRecord,
  fileText,
  type Place,
} from "../engine/records.ts";
import { ChecksumReader } from "./checksums.ts";
import type { ChunkCache } from "./chunk_cache.ts";
import { chunkCount } from "./chunks.ts";
import { manifestParts } from "./manifest.ts";
import type { ReadAhead } from "./read_ahead.ts";

/** Consecutive bytes of a file in the chunks of one version. */
interface Segment {
  version: string;
  /** Bytes in all chunks of the version. */
  size: number;
  range: ByteRange;
  checksums: ChecksumReader;
}

/** The store to read from, and the memory to read into. */
export interface Source {
  /** Reads lists of parts. */
  reader: KvReader;
  bytes: Pick<ByteEntries, "reader" | "reads">;
  /** The checksums of a file whose chunks have one version, if something else reads them, too. */
  checksums?: ChecksumReader | undefined;
  /** Chunks of files that are downloaded repeatedly. Without it the pieces belong to the caller. */
  cache?: ChunkCache | undefined;
  /** Memory of this download. */
  ahead: ReadAhead;
  /** Called when bytes are missing or wrong. Returns what the read fails with. */
  onDamage?: (error: StoreDamaged) => Promise<Error>;
}

type Piece = Uint8Array<ArrayBuffer>;

/**
 * Yields the bytes of a file from `range.start` to `range.end`, in pieces of up to 64 KiB. Nothing is read before the
 * first piece is requested. Every chunk is compared with its checksum.
 *
 * The read path of a large file: `segments` finds the parts of the range, `readSegment` reads the chunks of one part
 * through `ReadAhead` (one batch is read while the previous one is sent), `readBatch` lists one batch from the store.
 *
 * @param content The bytes of a file that is stored in one value.
 * @throws {StoreDamaged} if bytes are missing or wrong, before any byte after them is yielded.
 */
export async function* readRange(
  source: Source,
  place: Place,
  record: FileRecord,
  content: Piece | undefined,
  range: ByteRange,
): AsyncGenerator<Piece> {
  if (record.layout.kind === "inline") {
    yield (content ?? new Uint8Array()).subarray(range.start, range.end);
    return;
  }
  try {
    let yielded = 0;
    for await (const segment of segments(source, place, record, range)) {
      for await (const piece of readSegment(source, place, segment)) {
        yielded += piece.byteLength;
        yield piece;
      }
    }
    if (yielded !== range.end - range.start) {
      throw damaged(place, record.version, "its list of parts is incomplete");
    }
  } catch (error) {
    throw error instanceof StoreDamaged ? await source.onDamage?.(error) ?? error : error;
  }
}

async function* segments(
  source: Source,
  place: Place,
  record: FileRecord,
  range: ByteRange,
): AsyncGenerator<Segment> {
  const { layout, size } = record;
  if (layout.kind === "inline") return;
  const version = bytesVersion(record);
  const checksumsOf = (version: string, size: number) =>
    new ChecksumReader(source.bytes.reads, place, version, size);
  if (layout.kind === "chunks") {
    const checksums = source.checksums ?? checksumsOf(version, size);
    yield { version, size, range, checksums };
    return;
  }
  for await (const part of manifestParts(source.reader, version, range.start)) {
    if (part.start >= range.end) return;
    const start = Math.max(0, range.start - part.start);
    const end = Math.min(part.size, range.end - part.start);
    if (start >= end) continue;
    const checksums = checksumsOf(part.version, part.size);
    yield { version: part.version, size: part.size, range: { start, end }, checksums };
  }
}

function readSegment(source: Source, place: Place, segment: Segment): AsyncGenerator<Piece> {
  const { start, end } = segment.range;
  const { version, size, checksums } = segment;
  const first = Math.floor(start / CHUNK_SIZE);
  const cached = source.cache?.open(version, size);
  // Loads the page of checksums while the first chunks are read.
  if (first < chunkCount(end) && cached?.get(first) === undefined) checksums.pageOf(first);
  // Each chunk is checked just before it is sent, not the whole batch at once: then it is in the processor's cache.
  const verify = (chunk: Piece, index: number): Piece => {
    if (!checksums.matches(index, chunk)) {
      throw damaged(place, version, problemOf(index, size, "does not match its checksum"));
    }
    cached?.keep(index, chunk);
    return cut(chunk, index * CHUNK_SIZE, segment.range);
  };
  return source.ahead.read(first, chunkCount(end), {
    read: (from, to) => readBatch(source, place, segment, from, to),
    known: (index) => {
      const chunk = cached?.get(index);
      return chunk && cut(chunk, index * CHUNK_SIZE, segment.range);
    },
    prepare: (chunk, index) =>
      checksums.hasPageOf(index)
        ? verify(chunk, index)
        : checksums.pageOf(index).then(() => verify(chunk, index)),
  });
}

/** Returns a batch of whole chunks, each of its exact length. */
async function readBatch(
  source: Source,
  place: Place,
  segment: Segment,
  from: number,
  to: number,
): Promise<Piece[]> {
  const { version, size } = segment;
  const batch: Piece[] = [];
  const fail = (index: number, what: string) =>
    damaged(place, version, problemOf(index, size, what));
  try {
    const chunks = source.bytes.reader.list<Piece>(ranges.chunks(version, from, to), {
      limit: to - from,
      batchSize: to - from,
    });
    for await (const { key, value } of chunks) {
      const index = from + batch.length;
      const length = Math.min(CHUNK_SIZE, size - index * CHUNK_SIZE);
      if (key.at(-1) !== index) break;
      if (value.byteLength !== length) throw fail(index, `has ${value.byteLength} bytes`);
      batch.push(value);
    }
  } catch (error) {
    throw isCorruption(error) ? damaged(place, version, error.message) : error;
  }
  if (batch.length !== to - from) throw fail(from + batch.length, "is missing");
  return batch;
}

function problemOf(index: number, size: number, what: string): string {
  return `chunk ${index} of ${chunkCount(size)} ${what}`;
}

/** Returns the bytes of a chunk that are in the range. The chunk begins at `offset`. */
function cut(chunk: Piece, offset: number, { start, end }: ByteRange): Piece {
  const from = Math.max(0, start - offset);
  const to = Math.min(chunk.byteLength, end - offset);
  return from === 0 && to === chunk.byteLength ? chunk : chunk.subarray(from, to);
}

function damaged(place: Place, version: string, what: string): StoreDamaged {
  return new StoreDamaged(fileText(place), `${what} (version ${version})`);
}
