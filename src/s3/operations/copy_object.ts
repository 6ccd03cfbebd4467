import { parseHttpDate } from "../../rules/dates.ts";
import { driveNameProblem } from "../../rules/names.ts";
import { listsEtag, type Validators } from "../../rules/preconditions.ts";
import type { Place } from "../../store/engine/records.ts";
import { asObject, EMPTY_TAG, entityTag } from "../entity_tag.ts";
import { checksumElements } from "../object_checksum.ts";
import { describeObject, refuseUnsupported } from "../object_headers.ts";
import type { Operation } from "../operation.ts";
import { isFolder, placeOf, requireBucket, type S3Call, type S3Deps } from "../s3_call.ts";
import { S3Error, s3Errors } from "../s3_error.ts";
import { xmlResponse, xmlTime } from "../s3_response.ts";
import { currentValidators, writeCondition } from "./put_object.ts";

/** `CopyObject`: no byte is copied, a copy shares those of its source. */
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
      "An object can be copied onto itself only with another metadata: send x-amz-metadata-directive: REPLACE",
    );
  }
  const { type, object } = describeObject(headers, key);
  const copied = await deps.store.files.copies.run("copy", {
    from,
    to,
    overwrite: true,
    condition: sourceCondition(headers),
    targetCondition: writeCondition(call.request),
    ...(replaces ? { replace: { type, object } } : {}),
  });
  if (copied === "absent") throw await absentSource(call, deps, from);
  if (copied === "refused" || copied === "taken") {
    throw s3Errors.preconditionFailed();
  }
  return xmlResponse(["CopyObjectResult", [
    ["LastModified", xmlTime(copied.modified)],
    ["ETag", `"${entityTag(copied)}"`],
    ...checksumElements(copied.checksum),
  ]]);
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
    // A plus is itself here: the header is the path of a URL.
    source = decodeURIComponent(path.replace(/^\//, ""));
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
  const exists = await store.buckets.exists(project, drive);
  return exists ? s3Errors.noSuchKey(name) : s3Errors.noSuchBucket(drive);
}

/**
 * Returns what the conditions on the source say about its present version. Where two of them are given, the entity tag
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

/** The operations that copy objects. */
export const copyOperations: readonly Operation[] = [{
  name: "CopyObject",
  method: "PUT",
  level: "object",
  header: "x-amz-copy-source",
  permissions: ["read", "write"],
  handle: copyObject,
}];
