import { crcShift, joinCrc32 } from "../../rules/archive/crc_join.ts";
import type { ByteEntries } from "../engine/database.ts";
import { bytesVersion, CHUNK_SIZE, type FileRecord, type Place } from "../engine/records.ts";
import { inBatches, type KvReader, MAX_GET_MANY } from "../reads/read_queue.ts";
import { checksumAt, ChecksumReader } from "./checksums.ts";
import { chunkCount } from "./chunks.ts";
import { manifestParts } from "./manifest.ts";

const CHUNK_SHIFT = crcShift(CHUNK_SIZE);

/** Where the checksums of a file are read. */
export interface ChecksumSource {
  /** Reads lists of parts. */
  reader: KvReader;
  bytes: Pick<ByteEntries, "reads">;
  /** The checksums of a file whose chunks have one version. */
  checksums: ChecksumReader | undefined;
}

/**
 * Returns the CRC-32 of a file in chunks. It is joined from the checksums of the chunks, so no bytes of the file are
 * read: 80,000 checksums for 5 GiB.
 *
 * @throws {StoreDamaged} if checksums are missing.
 */
export async function crcOfChunks(
  { reader, bytes, checksums }: ChecksumSource,
  place: Place,
  record: FileRecord,
): Promise<number> {
  if (checksums !== undefined) return await crcOfVersion(checksums, record.size);
  let crc = 0;
  const all = manifestParts(reader, bytesVersion(record), 0);
  for await (const parts of inBatches(all, MAX_GET_MANY)) {
    const crcs = await Promise.all(parts.map((part) => {
      const { version, size } = part;
      return crcOfVersion(new ChecksumReader(bytes.reads, place, version, size), size);
    }));
    for (const [i, part] of parts.entries()) {
      crc = joinCrc32(crc, crcs[i] ?? 0, crcShift(part.size));
    }
  }
  return crc;
}

async function crcOfVersion(checksums: ChecksumReader, size: number): Promise<number> {
  const count = chunkCount(size);
  let crc = 0;
  for (let index = 0; index < count; index++) {
    const page = checksums.loadedPageOf(index) ?? await checksums.pageOf(index);
    crc = joinChunk(crc, page, index, size);
  }
  return crc;
}

/** Returns the CRC-32 of a version whose checksums are all in one page. @param size Bytes of the version. */
export function crcOfPage(page: Uint8Array<ArrayBuffer>, size: number): number {
  let crc = 0;
  for (let index = 0; index < chunkCount(size); index++) crc = joinChunk(crc, page, index, size);
  return crc;
}

/** Returns the CRC-32 of all bytes up to the end of a chunk. @param crc That of the bytes before the chunk. */
function joinChunk(
  crc: number,
  page: Uint8Array<ArrayBuffer>,
  index: number,
  size: number,
): number {
  const length = Math.min(CHUNK_SIZE, size - index * CHUNK_SIZE);
  const shift = length === CHUNK_SIZE ? CHUNK_SHIFT : crcShift(length);
  return joinCrc32(crc, checksumAt(page, index), shift);
}
