import { contentTypeOf } from "../drive/content_type.ts";
import type { PartSize } from "../drive/parts.ts";
import type { Draft } from "./file_version.ts";
import { totalSize } from "./manifest.ts";
import { digest } from "./receive.ts";
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
