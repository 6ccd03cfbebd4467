import { preconditionsOf, sendFile } from "../../http/responses/send_file.ts";
import { type ByteRange, parseRange } from "../../rules/byte_range.ts";
import { MAX_PARTS } from "../../rules/payloads.ts";
import { allowsRange, evaluateRead } from "../../rules/preconditions.ts";
import type { FileRecord, ObjectChecksum } from "../../store/engine/records.ts";
import {
  EMPTY_TAG,
  markerValidators,
  objectHeaders,
  objectValidators,
  overrideHeaders,
  partCount,
} from "../object_headers.ts";
import { partChecksum } from "../object_checksum.ts";
import type { Operation } from "../operation.ts";
import { positiveParameter } from "../parameters.ts";
import { absentError, isFolder, placeOf, type S3Call, type S3Deps } from "../s3_call.ts";
import { S3Error, s3Errors } from "../s3_error.ts";
import { emptyResponse } from "../s3_response.ts";

interface RequestedPart {
  /** The number of all parts; `undefined` if the object was not sent in parts. */
  count: number | undefined;
  range: ByteRange;
  checksum: ObjectChecksum | undefined;
}

async function getObject(call: S3Call, deps: S3Deps): Promise<Response> {
  const { request, key, query } = call;
  requireVersion(call);
  const place = placeOf(call, key);
  if (isFolder(key)) return await getFolder(call, deps);
  const file = await deps.store.files.reader.open(place);
  if (file === undefined) throw await absentError(call, deps);
  const { record } = file;
  try {
    const part = await requestedPart(call, deps, record);
    const headers = objectHeaders(record, askedChecksum(call, record, part));
    overrideHeaders(headers, query);
    if (part?.count !== undefined) headers.set("x-amz-mp-parts-count", String(part.count));
    const validators = objectValidators(record);
    const range = () => {
      if (part !== undefined) return part.range;
      return allowsRange(request.headers.get("if-range"), validators)
        ? parseRange(request.headers.get("range"), record.size)
        : undefined;
    };
    const response = await sendFile(call, deps, file, { headers, validators, range });
    if (response.status === 304) removeChecksum(response.headers);
    return response;
  } catch (error) {
    file.close();
    throw error;
  }
}

/** The checksum of the bytes in the response, if the request wants it. */
function askedChecksum(
  { headers }: S3Call,
  { checksum }: FileRecord,
  part: RequestedPart | undefined,
): ObjectChecksum | undefined {
  if (headers.get("x-amz-checksum-mode")?.toUpperCase() !== "ENABLED") return undefined;
  if (part !== undefined) return part.checksum;
  return headers.has("range") ? undefined : checksum;
}

/** A response without a body has no bytes that clients could check. */
function removeChecksum(headers: Headers): void {
  for (const name of [...headers.keys()]) {
    if (name.toLowerCase().startsWith("x-amz-checksum-")) headers.delete(name);
  }
}

/** @throws {S3Error} if the request wants another version than the only one. */
export function requireVersion({ query, key }: S3Call): void {
  const version = query.one("versionId") ?? "null";
  if (version === "null") return;
  throw new S3Error("NoSuchVersion", "The version does not exist: this server keeps one", {
    Key: key,
    VersionId: version,
  });
}

/** The part that `partNumber` names; `undefined` without it. @throws {S3Error} if the object has fewer parts. */
async function requestedPart(
  { query, request }: S3Call,
  { store }: S3Deps,
  record: FileRecord,
): Promise<RequestedPart | undefined> {
  const number = positiveParameter(query, "partNumber", MAX_PARTS);
  if (number === undefined) return undefined;
  if (request.headers.has("range")) {
    throw new S3Error("InvalidRequest", "A request may have a Range or a partNumber, not both");
  }
  const [part] = await store.files.reader.parts(record, { from: number, limit: 1 });
  const count = partCount(record);
  if (part?.part !== number) {
    throw new S3Error("InvalidPartNumber", "The object has fewer parts", {
      ActualPartCount: String(count ?? 1),
      PartNumberRequested: String(number),
    });
  }
  return {
    count,
    range: { start: part.start, end: part.start + part.size },
    checksum: count === undefined ? record.checksum : partChecksum(record, part.checksum),
  };
}

/** Responds with the marker of a folder, which is an empty object. */
async function getFolder(call: S3Call, deps: S3Deps): Promise<Response> {
  const { request, key } = call;
  const folder = await deps.store.folders.get(placeOf(call, key));
  if (folder === undefined) throw await absentError(call, deps);
  const headers = {
    "Content-Type": "application/x-directory",
    "Accept-Ranges": "bytes",
    "ETag": `"${EMPTY_TAG}"`,
    "Last-Modified": new Date(folder.created).toUTCString(),
  };
  switch (evaluateRead(preconditionsOf(request), markerValidators(folder))) {
    case 412:
      throw s3Errors.preconditionFailed("If-Match");
    case 304:
      return emptyResponse(304, headers);
    case 200:
      return emptyResponse(200, headers);
  }
}

/** `GetObject` and `HeadObject`, which differs only in its method. */
export const readOperations: readonly Operation[] = [{
  name: "GetObject",
  method: "GET",
  level: "object",
  permissions: ["read"],
  kind: "download",
  handle: getObject,
}];
