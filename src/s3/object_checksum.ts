import type { FileRecord, ObjectChecksum } from "../store/engine/records.ts";
import { checksumHeader } from "./payload/digests.ts";
import type { XmlElement } from "./xml/xml_writer.ts";

/** Returns the checksum of a part of an object. @param value In base64; `undefined` if it is not known. */
export function partChecksum(
  { checksum }: FileRecord,
  value: string | undefined,
): ObjectChecksum | undefined {
  return checksum === undefined || value === undefined ? undefined : { ...checksum, value };
}

/** The headers of a response with a checksum. */
export function checksumHeaders(
  checksum: ObjectChecksum | undefined,
): Readonly<Record<string, string>> {
  if (checksum === undefined) return {};
  const { algorithm, value, type } = checksum;
  return { [checksumHeader(algorithm)]: value, "x-amz-checksum-type": type };
}

/** The elements of a checksum and its type. */
export function checksumElements(checksum: ObjectChecksum | undefined): XmlElement[] {
  if (checksum === undefined) return [];
  const { algorithm, value, type } = checksum;
  return [[`Checksum${algorithm}`, value], ["ChecksumType", type]];
}
