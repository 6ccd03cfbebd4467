/**
 * The parts of an upload, and the file that they make.
 *
 * @module
 */
import { contentTypeOf } from "../../rules/content_type.ts";
import { MAX_PARTS, type PartSize, partsProblem } from "../../rules/payloads.ts";
import { KIB } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { UploadRefused } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import type { MemoryPart } from "../engine/memory_budget.ts";
import type { Operation } from "../engine/operation.ts";
import type { PartRecord, Place, UploadSession } from "../engine/records.ts";
import { digest } from "../bytes/checksums.ts";
import { chunkCount } from "../bytes/chunks.ts";
import type { Draft, FileTags } from "../files/file_record.ts";
import { addGarbage } from "../bytes/garbage.ts";
import { totalSize } from "../bytes/manifest.ts";

export type NumberedPart = PartRecord & PartSize;

/** A part as callers see it. */
export type StoredPart = PartSize & Pick<PartRecord, "sha256" | "md5" | "checksum" | "modified">;

/** What S3 callers compare the bytes of a part with. */
export type PartTags = Pick<PartRecord, "md5" | "checksum">;

/** The parts that make a file, in ascending order, and what S3 callers compare the file with. */
export interface ChosenParts extends FileTags {
  parts: readonly StoredPart[];
}

/** Chooses the parts of a file. What it throws leaves the upload open. */
export type ChooseParts = (parts: readonly StoredPart[], session: UploadSession) => ChosenParts;

/** Chooses parts 1 to n. @throws {UploadRefused} if one is missing or too small. */
export function chooseAll(parts: readonly StoredPart[]): ChosenParts {
  const problem = partsProblem(parts);
  if (problem !== undefined) throw new UploadRefused("parts", problem);
  return { parts };
}

/** Divides the parts of an upload into those that make the file and the others. */
export function splitParts(
  parts: readonly NumberedPart[],
  chosen: readonly PartSize[],
): { used: NumberedPart[]; unused: NumberedPart[] } {
  const numbers = new Set(chosen.map(({ part }) => part));
  const { used = [], unused = [] } = Object.groupBy(
    parts,
    ({ part }) => numbers.has(part) ? "used" : "unused",
  );
  // The pages of a manifest are found by the first bytes of their parts.
  const empty = used.slice(0, -1).find(({ size }) => size === 0);
  if (empty === undefined) return { used, unused };
  const problem = `part ${empty.part} is empty; only the last part may be`;
  throw new UploadRefused("parts", `Cannot complete the upload: ${problem}`);
}

/** Memory for a part that was read, in bytes (measured: 900). */
const PART_MEMORY = KIB;

/** Parts that are read at once. */
const PARTS_BATCH = 1000;

/** The parts of an upload, and the memory that they take. */
export interface HeldParts extends Disposable {
  parts: NumberedPart[];
}

/**
 * Reads all parts of an upload within the memory budget: an upload can have 10,000 of one byte.
 *
 * @throws {MemoryExhausted}
 */
export async function holdParts(
  db: Database,
  memory: MemoryPart,
  place: Place,
  id: string,
): Promise<HeldParts> {
  const few = await readWithin(PARTS_BATCH + 1);
  if (few.parts.length <= PARTS_BATCH) return few;
  // No memory is held while waiting for more.
  few[Symbol.dispose]();
  return await readWithin(MAX_PARTS);

  async function readWithin(limit: number): Promise<HeldParts> {
    const share = await memory.reserve(place.project, limit * PART_MEMORY);
    try {
      const parts = await listParts(db, place, id, { after: 0, limit });
      return { parts, [Symbol.dispose]: () => share[Symbol.dispose]() };
    } catch (error) {
      share[Symbol.dispose]();
      throw error;
    }
  }
}

/** Returns parts of an upload in ascending order. @param page The number behind which they begin, and how many they are. */
export async function listParts(
  db: Database,
  { project, drive }: Place,
  id: string,
  { after, limit }: { after: number; limit: number },
): Promise<NumberedPart[]> {
  const range = {
    start: keys.part(project, drive, id, after + 1),
    end: keys.part(project, drive, id, Infinity),
  };
  const batchSize = Math.min(limit, PARTS_BATCH);
  const entries = db.reader.list<PartRecord>(range, { limit, batchSize });
  return await Array.fromAsync(
    entries,
    ({ key, value }) => ({ ...value, part: Number(key.at(-1)) }),
  );
}

/** Adds that the bytes of a replaced part are deleted. They have no readers, as the upload is not completed. */
export function discardPart(
  operation: Operation,
  { project, drive, name }: Place,
  { version, size }: PartRecord,
): void {
  const chunks = chunkCount(size);
  const place = { project, drive, name };
  addGarbage(operation, { kind: "chunks", ...place, version, chunks }, Date.now());
}

/**
 * Returns the file that parts make, in their order. Its content type is that of the call that started the upload, else
 * that of part 1, else the one for its name.
 */
export function draftOf(
  place: Place,
  session: UploadSession,
  parts: readonly NumberedPart[],
  { md5Tag, checksum }: FileTags,
): Draft {
  const [first] = parts;
  const type = session.type ?? first?.type ?? contentTypeOf(place.name);
  const sha256 = digestOf(parts);
  return {
    size: totalSize(parts),
    type,
    ...(session.mtime === undefined ? {} : { mtime: session.mtime }),
    ...(sha256 === undefined ? {} : { sha256 }),
    ...bytesOf(parts),
    ...(md5Tag === undefined ? {} : { md5Tag }),
    ...(checksum === undefined ? {} : { checksum }),
    ...(session.object === undefined ? {} : { object: session.object }),
  };
}

/** One part needs no manifest, and no part makes an empty file. */
function bytesOf(parts: readonly NumberedPart[]): Pick<Draft, "layout" | "bytes"> {
  const [first] = parts;
  if (first === undefined) return { layout: { kind: "inline" } };
  if (parts.length === 1) return { layout: { kind: "chunks" }, bytes: first.version };
  return { layout: { kind: "manifest", parts: parts.length } };
}

/** The digest of several parts is computed later, by the scrub, as that means to read them. */
function digestOf([first, ...others]: readonly NumberedPart[]): string | undefined {
  if (first === undefined) return digest(new Uint8Array());
  return others.length === 0 ? first.sha256 : undefined;
}
