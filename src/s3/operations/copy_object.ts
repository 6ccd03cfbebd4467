import { parseHttpDate } from "../../rules/dates.ts";
import { driveNameProblem } from "../../rules/names.ts";
import { listsEtag, type Validators } from "../../rules/preconditions.ts";
import type { FileRecord, ObjectChecksum, Place } from "../../store/engine/records.ts";
import { validators } from "../../store/files/file_record.ts";
import {
  asObject,
  describeObject,
  EMPTY_TAG,
  entityTag,
  refuseUnsupported,
} from "../object_headers.ts";
import {
  checksumElements,
  chosenAlgorithm,
  computeChecksum,
  partAlgorithm,
} from "../object_checksum.ts";
import type { Operation } from "../operation.ts";
import type { ChecksumAlgorithm } from "../payload/checksum.ts";
import {
  isFolder,
  MAX_OBJECT_BODY,
  placeOf,
  requireBucket,
  type S3Call,
  type S3Deps,
} from "../s3_call.ts";
import { S3Error, s3Errors } from "../s3_error.ts";
import { xmlResponse, xmlTime } from "../s3_response.ts";
import { currentValidators, writeCondition } from "./put_object.ts";

/** `CopyObject`: a copy shares the bytes of its source, which are read only to compute another checksum. */
async function copyObject(call: S3Call, deps: S3Deps): Promise<Response> {
  const { headers, key } = call;
  refuseUnsupported(headers);
  const from = sourceOf(call);
  const to = placeOf(call, key);
  await requireBucket(call, deps);
  if (isFolder(from.name) || isFolder(key)) return await copyFolder(call, deps, from, to);
  const replaces = directiveOf(headers) === "REPLACE";
  const isSame = from.drive === to.drive && from.name === to.name;
  if (isSame && !replaces) {
    throw new S3Error(
      "InvalidRequest",
      "An object can be copied onto itself only with other metadata: send x-amz-metadata-directive: REPLACE",
    );
  }
  const described = describeObject(headers, key);
  const algorithm = chosenAlgorithm(headers);
  const source = algorithm && await checksumSource(call, deps, from, algorithm);
  const description = replaces ? described : source?.record;
  const isAllowed = sourceCondition(headers);
  let isStale = false;
  const copied = await deps.store.files.copies.run("copy", {
    from,
    to,
    overwrite: true,
    condition: (current) => {
      isStale = source !== undefined && current?.etag !== source.record.version;
      return !isStale && isAllowed(current);
    },
    targetCondition: writeCondition(call.request),
    replace: description && {
      type: description.type,
      object: description.object,
      checksum: source?.checksum,
    },
  });
  if (copied === "absent") throw await absentSource(call, deps, from);
  if (isStale) {
    throw new S3Error(
      "SlowDown",
      "The source was replaced while its checksum was computed: send the request again",
    );
  }
  if (copied === "refused" || copied === "taken") {
    throw s3Errors.preconditionFailed();
  }
  return xmlResponse(["CopyObjectResult", [
    ["LastModified", xmlTime(copied.modified)],
    ["ETag", `"${entityTag(copied)}"`],
    ...checksumElements(copied.checksum),
  ]]);
}

/** The version of a source whose checksum was computed. */
interface ChecksummedSource {
  record: FileRecord;
  checksum: ObjectChecksum;
}

/**
 * Returns the checksum that a copy of an object will have.
 *
 * @throws {S3Error} if there is no source, its conditions do not hold, or it is too large to be read in one request.
 */
async function checksumSource(
  call: S3Call,
  deps: S3Deps,
  from: Place,
  algorithm: ChecksumAlgorithm,
): Promise<ChecksummedSource> {
  using file = await deps.store.files.reader.openUncached(from);
  if (file === undefined) throw await absentSource(call, deps, from);
  const { record } = file;
  if (!sourceCondition(call.headers)(validators(record))) throw s3Errors.preconditionFailed();
  const { checksum, size, layout } = record;
  if (checksum?.algorithm === algorithm && checksum.type === "FULL_OBJECT") {
    return { record, checksum };
  }
  if (size > MAX_OBJECT_BODY) {
    throw new S3Error(
      "InvalidRequest",
      `A checksum is computed for copies of up to ${MAX_OBJECT_BODY} bytes: the source has ${size}`,
    );
  }
  const value = await deps.slots.run(call.project, () => computeChecksum(file, algorithm));
  await call.reauthorize();
  const isOfParts = layout.kind === "manifest" && partAlgorithm(record) !== algorithm;
  const forCopy = isOfParts ? { forCopy: true } as const : {};
  return { record, checksum: { algorithm, value, type: "FULL_OBJECT", ...forCopy } };
}

/** Copies the marker of a folder: clients that rename folders do so. @throws {S3Error} if only one of the keys is that of a marker. */
async function copyFolder(
  call: S3Call,
  deps: S3Deps,
  from: Place,
  to: Place,
): Promise<Response> {
  const { request, headers } = call;
  if (!isFolder(from.name) || !isFolder(to.name)) {
    throw new S3Error(
      "InvalidRequest",
      "The marker of a folder can be copied only to a key that ends with a slash, and an object only to one that does not",
    );
  }
  const source = await currentValidators(deps, from);
  if (source === undefined) throw await absentSource(call, deps, from);
  const isAllowed = sourceCondition(headers)(source) &&
    writeCondition(request)(await currentValidators(deps, to));
  if (!isAllowed) throw s3Errors.preconditionFailed();
  await deps.store.folders.create(to);
  return xmlResponse(["CopyObjectResult", [
    ["LastModified", xmlTime(Date.now())],
    ["ETag", `"${EMPTY_TAG}"`],
  ]]);
}

/** @throws {S3Error} if the header is no directive. */
function directiveOf(headers: Headers): "COPY" | "REPLACE" {
  const directive = headers.get("x-amz-metadata-directive") ?? "COPY";
  if (directive === "COPY" || directive === "REPLACE") return directive;
  throw s3Errors.badArgument("x-amz-metadata-directive", directive, "it must be COPY or REPLACE");
}

/**
 * Returns the source that `x-amz-copy-source` names: `/bucket/key`, percent-encoded.
 *
 * @throws {S3Error} if it is malformed.
 * @throws {RightMissing} if the access key may not read it.
 */
export function sourceOf({ headers, project, rights }: S3Call): Place {
  const header = headers.get("x-amz-copy-source") ?? "";
  const [path = "", query = ""] = header.split("?", 2);
  const malformed = (problem: string) => s3Errors.badArgument("x-amz-copy-source", header, problem);
  if (query !== "" && query !== "versionId=null") {
    throw malformed("this server keeps one version of an object");
  }
  let source: string;
  try {
    // A plus is not a space here: the header is the path of a URL.
    source = decodeURIComponent(path).replace(/^\//, "");
  } catch {
    throw malformed("it is not percent-encoded UTF-8");
  }
  const slash = source.indexOf("/");
  const [bucket, key] = [source.slice(0, slash), source.slice(slash + 1)];
  if (slash < 1 || key === "") throw malformed("it must be bucket/key");
  const problem = driveNameProblem(bucket);
  if (problem !== undefined) throw malformed(`the bucket name ${problem}`);
  rights.require("read");
  rights.requireDrive(bucket);
  return placeOf({ project, bucket, rights }, key);
}

/** The error for a source that does not exist. */
export async function absentSource(
  { project }: S3Call,
  { store }: S3Deps,
  { drive, name }: Place,
): Promise<S3Error> {
  const exists = await store.projects.hasDrive(project, drive);
  return exists ? s3Errors.noSuchKey(name) : s3Errors.noSuchBucket(drive);
}

/**
 * Returns a function that evaluates the conditions on the source. If an entity tag and a date are given, the entity tag
 * decides ("CopyObject" in Amazon's API reference).
 */
export function sourceCondition(headers: Headers): (current: Validators | undefined) => boolean {
  const header = (name: string) => headers.get(`x-amz-copy-source-if-${name}`);
  const [match, noneMatch] = [header("match"), header("none-match")];
  const [since, unmodified] = [header("modified-since"), header("unmodified-since")];
  return (file) => {
    if (file === undefined) return false;
    const { etag, modified } = asObject(file);
    const isSince = (date: string | null) => {
      const time = parseHttpDate(date ?? "");
      return time === undefined ? undefined : Math.floor(modified / 1000) > time;
    };
    if (match !== null) {
      if (!listsEtag(match, etag, "strong")) return false;
    } else if (isSince(unmodified) === true) return false;
    if (noneMatch !== null) return !listsEtag(noneMatch, etag, "weak");
    return isSince(since) !== false;
  };
}

export const copyOperations: readonly Operation[] = [{
  name: "CopyObject",
  method: "PUT",
  level: "object",
  header: "x-amz-copy-source",
  permissions: ["read", "write"],
  handle: copyObject,
}];
