import { decodeBase64, encodeBase64 } from "@std/encoding/base64";
import { encodeHex } from "@std/encoding/hex";
import { createHash } from "node:crypto";
import { MAX_PARTS } from "../../rules/payloads.ts";
import { MIB } from "../../rules/units.ts";
import type { ObjectChecksum, UploadSession } from "../../store/engine/records.ts";
import type { StoredPart } from "../../store/uploads/parts.ts";
import { entityTag } from "../object_headers.ts";
import { checksumElements } from "../object_checksum.ts";
import type { Operation } from "../operation.ts";
import { refusedWrite, writeCondition } from "../operations/put_object.ts";
import { combineCrc, createChecksum } from "../payload/checksum.ts";
import {
  MAX_OBJECT,
  placeOf,
  requireBucket,
  type S3Call,
  type S3Deps,
  withDocument,
} from "../s3_call.ts";
import { S3Error, s3Errors } from "../s3_error.ts";
import { xmlResponse } from "../s3_response.ts";
import { BadXml, childrenNamed, childText, type XmlNode } from "../../xml/xml_reader.ts";

/** The least size of a part that is not the last, in bytes (Amazon's limit). */
const MIN_PART = 5 * MIB;

/** The most elements of a `Part`: itself, its number, entity tag and checksum, and some unknown ones. */
const PART_ELEMENTS = 8;

interface NamedPart {
  number: number;
  etag: string;
  checksum: string | undefined;
}

async function completeUpload(call: S3Call, deps: S3Deps): Promise<Response> {
  const { request, headers, bucket, key, query, origin } = call;
  const place = placeOf(call, key);
  const id = query.required("uploadId");
  const limits = { root: "CompleteMultipartUpload", maxElements: 1 + MAX_PARTS * PART_ELEMENTS };
  await requireBucket(call, deps);
  const completed = await withDocument(
    call,
    deps,
    { ...limits, hasChecksum: false },
    partsOf,
    (named) =>
      deps.store.uploads.complete(place, id, writeCondition(request), {
        accept: call.reauthorize,
        choose: (parts, session) => chooseParts(headers, named, parts, session),
      }),
  );
  if (completed === "refused") throw await refusedWrite(call, deps, place);
  const record = completed.record ?? await deps.store.files.reader.stat(place);
  if (record === undefined) throw s3Errors.noSuchUpload(id);
  return xmlResponse(["CompleteMultipartUploadResult", [
    ["Location", `${origin()}/${bucket}/${encodeURI(key)}`],
    ["Bucket", bucket],
    ["Key", key],
    ["ETag", `"${entityTag(record)}"`],
    ...checksumElements(record.checksum),
  ]]);
}

function partsOf(document: XmlNode): NamedPart[] {
  const parts = childrenNamed(document, "Part").map((part): NamedPart => {
    const number = childText(part, "PartNumber")?.trim() ?? "";
    const etag = childText(part, "ETag")?.trim() ?? "";
    if (!/^\d{1,10}$/.test(number)) throw new BadXml("has a Part without a PartNumber");
    if (etag === "") throw new BadXml("has a Part without an ETag");
    const checksum = part.children.find(({ name }) => name.startsWith("Checksum"))?.text.trim();
    return { number: Number(number), etag: etag.replaceAll('"', ""), checksum };
  });
  if (parts.length === 0) throw new BadXml("names no part");
  if (parts.length > MAX_PARTS) throw new BadXml(`names more than ${MAX_PARTS} parts`);
  return parts;
}

interface Chosen {
  parts: StoredPart[];
  md5Tag?: string;
  checksum?: ObjectChecksum;
}

/** Chooses the parts that a request names from those that have arrived. @throws {S3Error} */
export function chooseParts(
  headers: Headers,
  named: readonly NamedPart[],
  stored: readonly StoredPart[],
  session: UploadSession,
): Chosen {
  if (named.some(({ number }, i) => number <= (named[i - 1]?.number ?? 0))) {
    throw new S3Error("InvalidPartOrder", "The parts must be in ascending order of their numbers");
  }
  const byNumber = new Map(stored.map((part) => [part.part, part]));
  const parts = named.map(({ number, etag, checksum }) => {
    const part = byNumber.get(number);
    const isSame = part !== undefined && partTag(part) === etag &&
      (checksum === undefined || part.checksum === undefined || part.checksum === checksum);
    if (isSame) return part;
    throw new S3Error(
      "InvalidPart",
      `Part ${number} has not arrived, or has another entity tag or checksum: send it again`,
      { PartNumber: String(number), ETag: etag },
    );
  });
  const small = parts.slice(0, -1).find(({ size }) => size < MIN_PART);
  if (small !== undefined) {
    throw new S3Error(
      "EntityTooSmall",
      `Part ${small.part} has fewer than ${MIN_PART} bytes: only the last part may`,
      { PartNumber: String(small.part), ProposedSize: String(small.size) },
    );
  }
  requireSize(headers, parts);
  const md5Tag = tagOf(parts);
  const checksum = checksumOf(parts, session);
  requireChecksum(headers, checksum);
  return {
    parts,
    ...(md5Tag === undefined ? {} : { md5Tag }),
    ...(checksum === undefined ? {} : { checksum }),
  };
}

/** The entity tag of a part: its MD5. A part that was sent by the drive API has none: its tag is made of its SHA-256. */
export function partTag({ md5, sha256 }: StoredPart): string {
  return md5 ?? `${encodeHex(decodeBase64(sha256)).slice(0, 32)}-0`;
}

/** The entity tag of an object of parts: the MD5 of their MD5s, and their number. */
function tagOf(parts: readonly StoredPart[]): string | undefined {
  const hash = createHash("md5");
  for (const { md5 } of parts) {
    if (md5 === undefined) return undefined;
    hash.update(md5, "hex");
  }
  return `${hash.digest("hex")}-${parts.length}`;
}

/** The checksum of an object of parts; `undefined` if the upload has none. */
function checksumOf(
  parts: readonly StoredPart[],
  { checksum: chosen }: UploadSession,
): ObjectChecksum | undefined {
  if (chosen === undefined) return undefined;
  const { algorithm, type } = chosen;
  const values: { value: string; size: number }[] = [];
  for (const { checksum, size } of parts) {
    if (checksum === undefined) return undefined;
    values.push({ value: checksum, size });
  }
  if (type === "FULL_OBJECT" && algorithm !== "SHA1" && algorithm !== "SHA256") {
    return { algorithm, type, value: combineCrc(algorithm, values) };
  }
  const whole = createChecksum(algorithm);
  for (const { value } of values) whole.update(decodeBase64(value));
  const value = `${encodeBase64(whole.digest())}-${parts.length}`;
  return { algorithm, type: "COMPOSITE", value };
}

/** @throws {S3Error} if the object would be too large, or if the request says another size. */
function requireSize(headers: Headers, parts: readonly StoredPart[]): void {
  const announced = headers.get("x-amz-mp-object-size");
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  if (size > MAX_OBJECT) {
    throw new S3Error("EntityTooLarge", `The parts have ${size} bytes: at most ${MAX_OBJECT}`, {
      ProposedSize: String(size),
      MaxSizeAllowed: String(MAX_OBJECT),
    });
  }
  if (announced === null || Number(announced) === size) return;
  throw new S3Error("InvalidRequest", `The parts have ${size} bytes and not ${announced}`);
}

/** @throws {S3Error} if the request says another checksum of the whole object. */
function requireChecksum(headers: Headers, checksum: ObjectChecksum | undefined): void {
  if (checksum === undefined) return;
  const { algorithm, type, value } = checksum;
  const sentType = headers.get("x-amz-checksum-type") ?? type;
  if (sentType !== type) {
    throw new S3Error(
      "InvalidRequest",
      `The checksum of the upload is ${type} and not ${sentType}`,
    );
  }
  const sent = headers.get(`x-amz-checksum-${algorithm.toLowerCase()}`);
  // Some clients leave out the number of parts.
  if (sent === null || sent === value || sent === value.replace(/-\d+$/, "")) return;
  throw new S3Error("BadDigest", `The ${algorithm} of the object is ${value} and not ${sent}`);
}

export const completeOperations: readonly Operation[] = [{
  name: "CompleteMultipartUpload",
  method: "POST",
  level: "object",
  parameter: "uploadId",
  permissions: ["write"],
  handle: completeUpload,
}];
