import { contentTypeOf } from "../drive/content_type.ts";
import type { PartSize } from "../drive/parts.ts";
import type { Draft } from "./file_version.ts";
import { totalSize } from "./manifest.ts";
import type { PartRecord, Place, UploadSession } from "./records.ts";

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
  return { size: totalSize(parts), type, layout: layoutOf(parts) };
}

/** One part needs no manifest; none at all is an empty file. */
function layoutOf(parts: readonly NumberedPart[]): Draft["layout"] {
  const [first] = parts;
  if (first === undefined) return { kind: "inline" };
  if (parts.length === 1) return { kind: "chunks", version: first.version };
  return { kind: "manifest", parts: parts.length };
}
