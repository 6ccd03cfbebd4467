import type { Validators } from "../../rules/preconditions.ts";
import type { Place } from "../../store/engine/records.ts";
import { asObject, refuseUnsupported } from "../object_headers.ts";
import { S3Error, s3Errors, toS3Error } from "../s3_error.ts";
import type { Operation } from "../operation.ts";
import {
  isFolder,
  placeOf,
  requireBucket,
  type S3Call,
  type S3Deps,
  withDocument,
} from "../s3_call.ts";
import { emptyResponse, xmlResponse } from "../s3_response.ts";
import { BadXml, childrenNamed, childText, type XmlNode } from "../../xml/xml_reader.ts";
import type { XmlElement } from "../../xml/xml_writer.ts";
import { requireVersion } from "./get_object.ts";
import { currentValidators, writeCondition } from "./put_object.ts";

/** The most keys of one call (Amazon's limit). */
const MAX_KEYS = 1000;

/** The most elements of an `Object`, including itself. */
const OBJECT_ELEMENTS = 6;

/** The condition of a deletion; `undefined` if there is none. */
type DeleteCondition = ((current: Validators | undefined) => boolean) | undefined;

/**
 * Deletes an object or a marker, or does nothing if there is none: "If the ETag matches or if the object doesn't exist,
 * the operation will return a 204 Success" (`If-Match` of "DeleteObject" in Amazon's API reference).
 */
async function deleteKey(
  call: S3Call,
  deps: S3Deps,
  key: string,
  condition: DeleteCondition,
): Promise<void> {
  const place = placeOf(call, key);
  if (isFolder(key)) return await deleteFolder(deps, place, condition);
  const outcome = await deps.store.files.delete(place, condition);
  if (outcome === "refused") throw s3Errors.preconditionFailed("If-Match");
}

async function deleteFolder(
  deps: S3Deps,
  place: Place,
  condition: DeleteCondition,
): Promise<void> {
  if (condition !== undefined) {
    const current = await currentValidators(deps, place);
    if (current !== undefined && !condition(current)) throw s3Errors.preconditionFailed("If-Match");
  }
  await deps.store.folders.delete(place);
}

const deleteObject: Operation = {
  name: "DeleteObject",
  method: "DELETE",
  level: "object",
  permissions: ["delete"],
  handle: async (call, deps) => {
    const { request, key } = call;
    requireVersion(call);
    refuseUnsupported(call.headers);
    await requireBucket(call, deps);
    const condition = request.headers.has("if-match") ? writeCondition(request) : undefined;
    await deleteKey(call, deps, key, condition);
    return emptyResponse(204);
  },
};

/** A key that is to be deleted. */
interface Target {
  key: string;
  version: string | undefined;
  etag: string | undefined;
  /** Whether it has a condition that the server does not check. */
  hasOtherCondition: boolean;
}

/** Conditions that Amazon offers with directory buckets only. */
const OTHER_CONDITIONS = ["LastModifiedTime", "Size"];

const deleteObjects: Operation = {
  name: "DeleteObjects",
  method: "POST",
  level: "bucket",
  parameter: "delete",
  permissions: ["delete"],
  handle: async (call, deps) => {
    const { headers } = call.request;
    requireIntegrity(headers);
    const limits = { root: "Delete", maxElements: 2 + MAX_KEYS * OBJECT_ELEMENTS };
    return await withDocument(call, deps, limits, targetsOf, async ({ targets, isQuiet }) => {
      await requireBucket(call, deps);
      const results = await Promise.all(targets.map((target) => deleteTarget(call, deps, target)));
      const shown = isQuiet ? results.filter(([name]) => name === "Error") : results;
      return xmlResponse(["DeleteResult", shown]);
    });
  },
};

/** "Content-MD5 … is required for all Multi-Object Delete requests", or one of the newer checksums. */
function requireIntegrity(headers: Headers): void {
  const names = [...headers.keys()];
  const isCovered = headers.has("content-md5") || headers.has("x-amz-trailer") ||
    names.some((name) => name.startsWith("x-amz-checksum-")) ||
    /^[0-9a-f]{64}$/.test(headers.get("x-amz-content-sha256") ?? "");
  if (isCovered) return;
  throw new S3Error(
    "InvalidRequest",
    "The body needs a Content-MD5, a checksum or a signed digest",
  );
}

function targetsOf(document: XmlNode): { targets: Target[]; isQuiet: boolean } {
  const objects = childrenNamed(document, "Object");
  if (objects.length === 0 || objects.length > MAX_KEYS) {
    throw new BadXml(`names ${objects.length} objects: it must be 1 to ${MAX_KEYS}`);
  }
  const targets = objects.map((object): Target => {
    const key = childText(object, "Key") ?? "";
    if (key === "") throw new BadXml("has an Object without a Key");
    return {
      key,
      version: childText(object, "VersionId"),
      etag: childText(object, "ETag"),
      hasOtherCondition: OTHER_CONDITIONS.some((name) => childText(object, name) !== undefined),
    };
  });
  return { targets, isQuiet: childText(document, "Quiet") === "true" };
}

/** Deletes a key. Returns the element of the response with the outcome. Defects are reported. */
async function deleteTarget(
  call: S3Call,
  deps: S3Deps,
  { key, version, etag, hasOtherCondition }: Target,
): Promise<XmlElement> {
  try {
    if (version !== undefined && version !== "null" && version !== "") {
      throw new S3Error("NoSuchVersion", "The version does not exist: this server keeps one");
    }
    if (hasOtherCondition) throw s3Errors.notImplemented(OTHER_CONDITIONS.join(" or "));
    const tag = etag?.replace(/^"(.*)"$/, "$1");
    const condition = tag === undefined
      ? undefined
      : (current: Validators | undefined) =>
        current !== undefined && (tag === "*" || asObject(current).etag === tag);
    await deleteKey(call, deps, key, condition);
    return ["Deleted", [["Key", key]]];
  } catch (error) {
    const { code, message, status, cause } = toS3Error(error);
    if (status >= 500 && cause !== undefined) deps.onError(cause, call.requestId);
    return ["Error", [["Key", key], ["Code", code], ["Message", message]]];
  }
}

export const deleteOperations: readonly Operation[] = [deleteObject, deleteObjects];
