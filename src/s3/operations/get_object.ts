import { preconditionsOf, sendFile } from "../../http/files/send_file.ts";
import { type ByteRange, parseRange } from "../../rules/byte_range.ts";
import { allowsRange, evaluateRead } from "../../rules/preconditions.ts";
import type { FileRecord } from "../../store/engine/records.ts";
import { EMPTY_TAG, objectValidators } from "../entity_tag.ts";
import { objectHeaders, overrideHeaders } from "../object_headers.ts";
import type { Operation } from "../operation.ts";
import { absentError, isFolder, placeOf, type S3Call, type S3Deps } from "../s3_call.ts";
import { S3Error, s3Errors } from "../s3_error.ts";
import { emptyResponse } from "../s3_response.ts";

/** The parts of an object and the bytes of one of them. */
interface RequestedPart {
  count: number;
  range: ByteRange;
}

async function getObject(call: S3Call, deps: S3Deps): Promise<Response> {
  const { request, key, query } = call;
  requireVersion(call);
  const place = placeOf(call, key);
  if (isFolder(key)) return await getFolder(call, deps);
  const file = await deps.store.files.open(place);
  if (file === undefined) throw await absentError(call, deps);
  const { record } = file;
  try {
    const part = await requestedPart(call, deps, record);
    const withChecksum = request.headers.get("x-amz-checksum-mode")?.toUpperCase() === "ENABLED";
    const isWhole = part === undefined && !request.headers.has("range");
    const headers = objectHeaders(record, withChecksum && isWhole);
    overrideHeaders(headers, query);
    if (part !== undefined) headers.set("x-amz-mp-parts-count", String(part.count));
    const validators = objectValidators(record);
    const range = () => {
      if (part !== undefined) return part.range;
      return allowsRange(request.headers.get("if-range"), validators)
        ? parseRange(request.headers.get("range"), record.size)
        : undefined;
    };
    return await sendFile(call, deps, file, { headers, validators, range });
  } catch (error) {
    file.close();
    throw error;
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

/** The part that `partNumber` names; `undefined` without it. @throws {S3Error} if the object has not so many. */
async function requestedPart(
  { query, request }: S3Call,
  { store }: S3Deps,
  record: FileRecord,
): Promise<RequestedPart | undefined> {
  const number = query.positive("partNumber");
  if (number === undefined) return undefined;
  if (request.headers.has("range")) {
    throw new S3Error("InvalidRequest", "A request may have a Range or a partNumber, not both");
  }
  const [part] = await store.files.parts(record, { from: number, limit: 1 });
  const count = partCount(record);
  if (part?.part !== number) {
    throw new S3Error("InvalidPartNumber", "The object has not so many parts", {
      ActualPartCount: String(count),
      PartNumberRequested: String(number),
    });
  }
  return { count, range: { start: part.start, end: part.start + part.size } };
}

/** Of how many parts an object is. One that was not sent in parts has one. */
export function partCount({ layout }: FileRecord): number {
  return layout.kind === "manifest" ? layout.parts : 1;
}

/** A marker is an empty object. */
async function getFolder(call: S3Call, deps: S3Deps): Promise<Response> {
  const { request, key } = call;
  const folder = await deps.store.folders.get(placeOf(call, key));
  if (folder === undefined) throw await absentError(call, deps);
  const validators = {
    etag: EMPTY_TAG,
    tag: undefined,
    modified: folder.created,
    dateIsStrong: false,
  };
  const headers = {
    "Content-Type": "application/x-directory",
    "Accept-Ranges": "bytes",
    "ETag": `"${EMPTY_TAG}"`,
    "Last-Modified": new Date(folder.created).toUTCString(),
  };
  switch (evaluateRead(preconditionsOf(request), validators)) {
    case 412:
      throw s3Errors.preconditionFailed("If-Match");
    case 304:
      return emptyResponse(304, headers);
    case 200:
      return emptyResponse(200, headers);
  }
}

/** `GetObject`, and `HeadObject`, which differs in its method alone. */
export const readOperations: readonly Operation[] = [{
  name: "GetObject",
  method: "GET",
  level: "object",
  permissions: ["read"],
  kind: "download",
  handle: getObject,
}];
