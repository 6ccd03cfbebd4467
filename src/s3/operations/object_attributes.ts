import type { FileRecord, ObjectChecksum } from "../../store/engine/records.ts";
import { entityTag } from "../entity_tag.ts";
import type { Operation } from "../operation.ts";
import { absentError, placeOf, type S3Call, type S3Deps } from "../s3_call.ts";
import { s3Errors } from "../s3_error.ts";
import { xmlResponse } from "../s3_response.ts";
import type { XmlElement } from "../xml/xml_writer.ts";
import { partCount, requireVersion } from "./get_object.ts";

const ATTRIBUTES = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"] as const;
type Attribute = typeof ATTRIBUTES[number];

/** The most parts in a response (Amazon's limit). */
const MAX_PARTS = 1000;

/** The elements that tell a checksum. */
export function checksumElements(checksum: ObjectChecksum | undefined): XmlElement[] {
  return checksum === undefined ? [] : [[`Checksum${checksum.algorithm}`, checksum.value]];
}

async function getObjectAttributes(call: S3Call, deps: S3Deps): Promise<Response> {
  requireVersion(call);
  const wanted = attributesOf(call.request.headers);
  const record = await deps.store.files.stat(placeOf(call, call.key));
  if (record === undefined) throw await absentError(call, deps);
  const { checksum, size, modified } = record;
  const has = (attribute: Attribute) => wanted.includes(attribute);
  const elements: XmlElement[] = [];
  if (has("ETag")) elements.push(["ETag", entityTag(record)]);
  if (has("Checksum") && checksum !== undefined) {
    elements.push(["Checksum", [...checksumElements(checksum), ["ChecksumType", checksum.type]]]);
  }
  if (has("ObjectParts") && record.layout.kind === "manifest") {
    elements.push(await partsElement(call, deps, record));
  }
  if (has("StorageClass")) elements.push(["StorageClass", "STANDARD"]);
  if (has("ObjectSize")) elements.push(["ObjectSize", size]);
  return xmlResponse(["GetObjectAttributesResponse", elements], {
    "Last-Modified": new Date(modified).toUTCString(),
  });
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
  { request: { headers } }: S3Call,
  { store }: S3Deps,
  record: FileRecord,
): Promise<XmlElement> {
  const limit = Math.min(
    Number(headers.get("x-amz-max-parts") ?? MAX_PARTS) || MAX_PARTS,
    MAX_PARTS,
  );
  const marker = Number(headers.get("x-amz-part-number-marker") ?? 0) || 0;
  const parts = await store.files.parts(record, { from: marker + 1, limit });
  const count = partCount(record);
  const last = parts.at(-1)?.part ?? marker;
  return ["ObjectParts", [
    ["TotalPartsCount", count],
    ["PartNumberMarker", marker],
    ["NextPartNumberMarker", last],
    ["MaxParts", limit],
    ["IsTruncated", last < count],
    ...parts.map(({ part, size }): XmlElement => ["Part", [["PartNumber", part], ["Size", size]]]),
  ]];
}

/** `GetObjectAttributes`. */
export const attributeOperations: readonly Operation[] = [{
  name: "GetObjectAttributes",
  method: "GET",
  level: "object",
  parameter: "attributes",
  permissions: ["read"],
  handle: getObjectAttributes,
}];
