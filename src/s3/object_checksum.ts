import { encodeBase64 } from "@std/encoding/base64";
import type { FileRecord, ObjectChecksum } from "../store/engine/records.ts";
import type { OpenFile } from "../store/files/file_reader.ts";
import { CHECKSUM_ALGORITHMS, type ChecksumAlgorithm, createChecksum } from "./payload/checksum.ts";
import { checksumHeader } from "./payload/digests.ts";
import { S3Error } from "./s3_error.ts";
import type { XmlElement } from "../xml/xml_writer.ts";

/**
 * Returns the algorithm that a request without a body chooses for an object; `undefined` if it chooses none.
 *
 * @throws {S3Error} if the server does not have it.
 */
export function chosenAlgorithm(headers: Headers): ChecksumAlgorithm | undefined {
  const name = headers.get("x-amz-checksum-algorithm");
  if (name === null) return undefined;
  const algorithm = CHECKSUM_ALGORITHMS.find((known) => known === name.toUpperCase());
  if (algorithm !== undefined) return algorithm;
  throw new S3Error(
    "InvalidRequest",
    `x-amz-checksum-algorithm must be one of ${CHECKSUM_ALGORITHMS.join(", ")}`,
  );
}

/** Computes a checksum of all bytes of a file, in base64. They are read unless their SHA-256 answers it. */
export async function computeChecksum(
  file: OpenFile,
  algorithm: ChecksumAlgorithm,
): Promise<string> {
  const { size, sha256 } = file.record;
  if (algorithm === "SHA256" && sha256 !== undefined) return sha256;
  const checksum = createChecksum(algorithm);
  for await (const piece of await file.read({ start: 0, end: size })) {
    checksum.update(piece);
    file.release(piece);
  }
  return encodeBase64(checksum.digest());
}

/** Returns the algorithm of the checksums that the parts of an object have; `undefined` if they have none. */
export function partAlgorithm({ checksum }: FileRecord): ChecksumAlgorithm | undefined {
  return checksum?.forCopy ? undefined : checksum?.algorithm;
}

/** Returns the checksum of a part of an object. @param value In base64; `undefined` if it is not known. */
export function partChecksum(
  record: FileRecord,
  value: string | undefined,
): ObjectChecksum | undefined {
  const algorithm = partAlgorithm(record);
  if (algorithm === undefined || value === undefined) return undefined;
  return { algorithm, value, type: record.checksum?.type ?? "FULL_OBJECT" };
}

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
