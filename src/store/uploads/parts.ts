import { contentTypeOf } from "../../rules/content_type.ts";
import type { PartSize } from "../../rules/payloads.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { PartRecord, Place, UploadSession } from "../engine/records.ts";
import { ChecksumWriter, digest } from "../files/checksums.ts";
import { chunkCount } from "../files/chunks.ts";
import type { Draft } from "../files/file_record.ts";
import { addGarbage } from "../files/garbage.ts";
import { totalSize } from "../files/manifest.ts";

/** Adds the bytes of a part that fit into one chunk, and their checksum. */
export function setOnlyChunk(
  operation: Operation,
  place: Place,
  version: string,
  content: Uint8Array,
  sha256: string,
): void {
  const checksums = new ChecksumWriter();
  checksums.add(content);
  const page = checksums.finish(sha256);
  operation.set(keys.chunk(place, version, 0), content);
  if (page !== undefined) operation.set(keys.checksums(place, version, page.number), page.value);
}

/** Adds that the bytes of a part that is replaced go. Nobody reads them before the upload is complete. */
export function replacePart(
  operation: Operation,
  { project, drive, name }: Place,
  { version, size }: PartRecord,
): void {
  const chunks = chunkCount(size);
  const place = { project, drive, name };
  addGarbage(operation, { kind: "chunks", ...place, version, chunks, file: version }, Date.now());
}

/** A part as it lies in the store. */
export type NumberedPart = PartRecord & PartSize;

/** The file that parts make, in their order. The type that the first call named wins over that of part 1. */
export function draftOf(
  place: Place,
  session: UploadSession,
  parts: readonly NumberedPart[],
): Draft {
  const [first] = parts;
  const type = session.type ?? first?.type ?? contentTypeOf(place.name);
  const sha256 = digestOf(parts);
  const layout = layoutOf(parts);
  return { size: totalSize(parts), type, layout, ...(sha256 === undefined ? {} : { sha256 }) };
}

/** One part needs no manifest; none at all is an empty file. */
function layoutOf(parts: readonly NumberedPart[]): Draft["layout"] {
  const [first] = parts;
  if (first === undefined) return { kind: "inline" };
  const checked = parts.every(({ checksums }) => checksums) ? { checksums: true as const } : {};
  if (parts.length === 1) return { kind: "chunks", version: first.version, ...checked };
  return { kind: "manifest", parts: parts.length, ...checked };
}

/** That of many parts is not known without reading them. */
function digestOf([first, ...others]: readonly NumberedPart[]): string | undefined {
  if (first === undefined) return digest(new Uint8Array());
  return others.length === 0 ? first.sha256 : undefined;
}
