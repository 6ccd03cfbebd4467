import type { ByteRange } from "../drive/byte_range.ts";
import { CHUNK } from "../drive/limits.ts";
import { chunkCount } from "./chunks.ts";
import { StoreDamaged } from "./errors.ts";
import { ranges } from "./keys.ts";
import { manifestParts } from "./manifest.ts";
import type { Readers } from "./readers.ts";
import type { FileRecord, Place } from "./records.ts";

/** Consecutive bytes of a file that lie in the chunks of one version. */
interface Segment {
  version: string;
  /** Bytes in all chunks of that version. */
  size: number;
  range: ByteRange;
}

/** Where bytes are read from, and who else reads. */
export interface Source {
  kv: Deno.Kv;
  readers: Readers;
}

type Piece = Uint8Array<ArrayBuffer>;

/**
 * The bytes of a file from `range.start` to `range.end`, in pieces of up to 64 KiB. One batch is read ahead.
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

async function* readSegment(
  source: Source,
  place: Place,
  segment: Segment,
): AsyncGenerator<Piece> {
  const { start, end } = segment.range;
  const last = chunkCount(end);
  let index = Math.floor(start / CHUNK);
  const read = (from: number) =>
    from < last ? readBatch(source, place, segment, from, last) : undefined;
  let ahead = read(index);
  while (ahead !== undefined) {
    const batch: Piece[] = await ahead;
    const next: number = index + batch.length;
    ahead = read(next);
    // A reader that leaves does not wait for it; one that stays gets its error above.
    ahead?.catch(() => {});
    for (const chunk of batch) yield cut(chunk, index++ * CHUNK, segment.range);
  }
}

/** A batch of whole chunks, each exactly as long as it has to be. */
async function readBatch(
  { kv, readers }: Source,
  place: Place,
  { version, size }: Segment,
  from: number,
  last: number,
): Promise<Piece[]> {
  const to = Math.min(from + readers.batchSize, last);
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
