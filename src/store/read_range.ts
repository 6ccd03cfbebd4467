import type { ByteRange } from "../drive/byte_range.ts";
import { CHUNK } from "../drive/limits.ts";
import { chunkCount } from "./chunks.ts";
import { StoreDamaged } from "./errors.ts";
import { ranges } from "./keys.ts";
import { manifestParts } from "./manifest.ts";
import type { ReadAhead } from "./read_ahead.ts";
import type { FileRecord, Place } from "./records.ts";

/** Consecutive bytes of a file that lie in the chunks of one version. */
interface Segment {
  version: string;
  /** Bytes in all chunks of that version. */
  size: number;
  range: ByteRange;
}

/** Where bytes are read from, and into which memory. */
export interface Source {
  kv: Deno.Kv;
  /** Of this reader alone. */
  ahead: ReadAhead;
}

type Piece = Uint8Array<ArrayBuffer>;

/**
 * The bytes of a file from `range.start` to `range.end`, in pieces of up to 64 KiB. Nothing is read ahead before the first one
 * is taken.
 *
 * @throws {StoreDamaged} where bytes are missing, before anything that comes after them.
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
  let given = 0;
  for await (const segment of segments(source, place, record, range)) {
    for await (const piece of readSegment(source, place, segment)) {
      given += piece.byteLength;
      yield piece;
    }
  }
  if (given !== range.end - range.start) throw damaged(place, record.version);
}

async function* segments(
  source: Source,
  place: Place,
  { layout, version, size }: FileRecord,
  range: ByteRange,
): AsyncGenerator<Segment> {
  if (layout.kind === "chunks") {
    yield { version: layout.version, size, range };
    return;
  }
  for await (const part of manifestParts(source.kv, place, version, range.start)) {
    if (part.start >= range.end) return;
    const start = Math.max(0, range.start - part.start);
    const end = Math.min(part.size, range.end - part.start);
    if (start < end) yield { version: part.version, size: part.size, range: { start, end } };
  }
}

function readSegment(source: Source, place: Place, segment: Segment): AsyncGenerator<Piece> {
  const { start, end } = segment.range;
  return source.ahead.read(Math.floor(start / CHUNK), chunkCount(end), {
    read: (from, to) => readBatch(source, place, segment, from, to),
    give: (chunk, index) => cut(chunk, index * CHUNK, segment.range),
  });
}

/** A batch of whole chunks, each exactly as long as it has to be. */
async function readBatch(
  { kv }: Source,
  place: Place,
  { version, size }: Segment,
  from: number,
  to: number,
): Promise<Piece[]> {
  const batch: Piece[] = [];
  const options = { batchSize: to - from };
  for await (
    const { key, value } of kv.list<Piece>(ranges.chunks(place, version, from, to), options)
  ) {
    const index = from + batch.length;
    const length = Math.min(CHUNK, size - index * CHUNK);
    if (key.at(-1) !== index || value.byteLength !== length) throw damaged(place, version);
    batch.push(value);
  }
  if (batch.length !== to - from) throw damaged(place, version);
  return batch;
}

/** The bytes of a chunk that lie in the range; `offset` is where the chunk begins. */
function cut(chunk: Piece, offset: number, { start, end }: ByteRange): Piece {
  const from = Math.max(0, start - offset);
  const to = Math.min(chunk.byteLength, end - offset);
  return from === 0 && to === chunk.byteLength ? chunk : chunk.subarray(from, to);
}

function damaged(place: Place, version: string): StoreDamaged {
  return new StoreDamaged(`Bytes of ${JSON.stringify(place)} are missing (version ${version})`);
}
