import { crcShift, joinCrc32 } from "../../rules/archive/crc32.ts";
import { bytesVersion, CHUNK_SIZE, type FileRecord, type Place } from "../engine/records.ts";
import { type KvReader, MAX_GET_MANY } from "../reads/read_queue.ts";
import { checksumAt, ChecksumReader } from "./checksums.ts";
import { chunkCount } from "./chunks.ts";
import { type ManifestPart, manifestParts } from "./manifest.ts";

const CHUNK_SHIFT = crcShift(CHUNK_SIZE);

/**
 * Returns the CRC-32 of a file in chunks. It is joined from the checksums of the chunks, so no bytes of the file are
 * read: 80,000 checksums for 5 GiB.
 *
 * @throws {StoreDamaged} if checksums are missing.
 */
export async function crcOfChunks(
  reader: KvReader,
  place: Place,
  record: FileRecord,
): Promise<number> {
  const version = bytesVersion(record);
  if (record.layout.kind === "chunks") {
    return await crcOfVersion(reader, place, version, record.size);
  }
  let crc = 0;
  for await (const parts of groups(manifestParts(reader, version, 0))) {
    const crcs = await Promise.all(
      parts.map((part) => crcOfVersion(reader, place, part.version, part.size)),
    );
    for (const [i, part] of parts.entries()) {
      crc = joinCrc32(crc, crcs[i] ?? 0, crcShift(part.size));
    }
  }
  return crc;
}

/** Yields the parts in groups whose checksums are read at the same time. */
async function* groups(parts: AsyncIterable<ManifestPart>): AsyncGenerator<ManifestPart[]> {
  let group: ManifestPart[] = [];
  for await (const part of parts) {
    group.push(part);
    if (group.length < MAX_GET_MANY) continue;
    yield group;
    group = [];
  }
  yield group;
}

async function crcOfVersion(
  reader: KvReader,
  place: Place,
  version: string,
  size: number,
): Promise<number> {
  const checksums = new ChecksumReader(reader, place, version, size);
  const count = chunkCount(size);
  let crc = 0;
  for (let index = 0; index < count; index++) {
    const page = checksums.loadedPageOf(index) ?? await checksums.pageOf(index);
    const isLast = index === count - 1;
    const shift = isLast ? crcShift(size - index * CHUNK_SIZE) : CHUNK_SHIFT;
    crc = joinCrc32(crc, checksumAt(page, index), shift);
  }
  return crc;
}
