import type { FileRecord, ObjectChecksum } from "../../store/engine/records.ts";
import { EMPTY_TAG, entityTag, partCount } from "../object_headers.ts";
import { checksumElements, partAlgorithm } from "../object_checksum.ts";
import type { Operation } from "../operation.ts";
import { MAX_ENTRIES } from "../parameters.ts";
import { absentError, isFolder, placeOf, type S3Call, type S3Deps } from "../s3_call.ts";
import { s3Errors } from "../s3_error.ts";
import { xmlResponse } from "../s3_response.ts";
import { optional, type XmlElement } from "../../xml/xml_writer.ts";
import { requireVersion } from "./get_object.ts";

const ATTRIBUTES = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"] as const;
type Attribute = typeof ATTRIBUTES[number];

async function getObjectAttributes(call: S3Call, deps: S3Deps): Promise<Response> {
  requireVersion(call);
  const wanted = attributesOf(call.headers);
  const place = placeOf(call, call.key);
  if (isFolder(call.key)) {
    const folder = await deps.store.folders.get(place);
    if (folder === undefined) throw await absentError(call, deps);
    return respond(wanted, { tag: EMPTY_TAG, size: 0, modified: folder.created });
  }
  const record = await deps.store.files.reader.stat(place);
  if (record === undefined) throw await absentError(call, deps);
  const parts = wanted.includes("ObjectParts") ? await partsElement(call, deps, record) : undefined;
  return respond(wanted, { ...record, tag: entityTag(record), parts });
}

/** The attributes that a request may ask for. */
interface Described {
  tag: string;
  size: number;
  modified: number;
  checksum?: ObjectChecksum;
  parts?: XmlElement | undefined;
}

function respond(
  wanted: readonly Attribute[],
  { tag, size, modified, checksum, parts }: Described,
): Response {
  const elements: Record<Attribute, XmlElement | undefined> = {
    ETag: ["ETag", tag],
    Checksum: checksum === undefined ? undefined : ["Checksum", checksumElements(checksum)],
    ObjectParts: parts,
    StorageClass: ["StorageClass", "STANDARD"],
    ObjectSize: ["ObjectSize", size],
  };
  const told = wanted.map((attribute) => elements[attribute]);
  return xmlResponse(
    ["GetObjectAttributesResponse", told.filter((element) => element !== undefined)],
    { "Last-Modified": new Date(modified).toUTCString() },
  );
}

/** @throws {S3Error} if the header is missing or names something else. */
function attributesOf(headers: Headers): readonly Attribute[] {
  const header = headers.get("x-amz-object-attributes") ?? "";
  const names = header.split(",").map((name) => name.trim()).filter((name) => name !== "");
  const known: readonly string[] = ATTRIBUTES;
  if (names.length === 0 || !names.every((name) => known.includes(name))) {
    throw s3Errors.badArgument(
      "x-amz-object-attributes",
      header,
      `it must list some of ${ATTRIBUTES.join(", ")}`,
    );
  }
  return ATTRIBUTES.filter((attribute) => names.includes(attribute));
}

async function partsElement(
  { headers }: S3Call,
  { store }: S3Deps,
  record: FileRecord,
): Promise<XmlElement | undefined> {
  const count = partCount(record);
  if (count === undefined) return undefined;
  const limit = Math.min(numberHeader(headers, "x-amz-max-parts") || MAX_ENTRIES, MAX_ENTRIES);
  const marker = numberHeader(headers, "x-amz-part-number-marker");
  const parts = await store.files.reader.parts(record, { from: marker + 1, limit });
  const algorithm = partAlgorithm(record);
  const last = parts.at(-1)?.part ?? marker;
  return ["ObjectParts", [
    // "TotalPartsCount" in the SDKs.
    ["PartsCount", count],
    ["PartNumberMarker", marker],
    ["NextPartNumberMarker", last],
    ["MaxParts", limit],
    ["IsTruncated", last < count],
    ...parts.map(({ part, size, checksum }): XmlElement => ["Part", [
      ["PartNumber", part],
      ["Size", size],
      ...(algorithm === undefined ? [] : optional(`Checksum${algorithm}`, checksum)),
    ]]),
  ]];
}

/** Returns the number in a header, 0 or more; 0 without it. @throws {S3Error} */
function numberHeader(headers: Headers, name: string): number {
  const text = headers.get(name) ?? "0";
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw s3Errors.badArgument(name, text, "it must be a whole number");
}

export const attributeOperations: readonly Operation[] = [{
  name: "GetObjectAttributes",
  method: "GET",
  level: "object",
  parameter: "attributes",
  permissions: ["read"],
  handle: getObjectAttributes,
}];
