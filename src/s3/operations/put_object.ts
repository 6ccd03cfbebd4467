import { preconditionsOf } from "../../http/responses/send_file.ts";
import { allowsWrite, type Validators } from "../../rules/preconditions.ts";
import type { ObjectChecksum, Place } from "../../store/engine/records.ts";
import { validators } from "../../store/files/file_record.ts";
import {
  asObject,
  describeObject,
  EMPTY_TAG,
  entityTag,
  markerValidators,
  refuseUnsupported,
} from "../object_headers.ts";
import { checksumHeaders } from "../object_checksum.ts";
import type { Operation } from "../operation.ts";
import type { PayloadDigests } from "../payload/digests.ts";
import type { Payload } from "../payload/payload.ts";
import {
  absentError,
  bodyOf,
  isFolder,
  MAX_OBJECT_BODY,
  placeOf,
  type S3Call,
  type S3Deps,
  storeBody,
} from "../s3_call.ts";
import { S3Error, s3Errors } from "../s3_error.ts";
import { emptyResponse } from "../s3_response.ts";

async function putObject(call: S3Call, deps: S3Deps): Promise<Response> {
  const { request, headers, key } = call;
  refuseUnsupported(headers);
  const place = placeOf(call, key);
  const body = bodyOf(call, deps);
  const condition = writeCondition(request);
  await checkBeforeBody(call, deps, place, condition);
  if (isFolder(key)) return await putFolder(call, deps, place, body);
  const { tag, checksum } = await putBody(call, deps, {
    place,
    body,
    headers,
    condition,
  });
  return emptyResponse(200, { "ETag": `"${tag}"`, ...checksumHeaders(checksum) });
}

/** A body that becomes an object. */
export interface ObjectBody {
  place: Place;
  body: Payload;
  headers: Headers;
  condition: (current: Validators | undefined) => boolean;
}

export async function putBody(
  call: S3Call,
  deps: S3Deps,
  { place, body, headers, condition }: ObjectBody,
): Promise<{ tag: string; checksum: ObjectChecksum | undefined }> {
  const { type, object } = describeObject(headers, place.name);
  const { announced } = body;
  const stored = await storeBody(call, deps, body, (bytes) =>
    deps.store.files.put(place, bytes, {
      type,
      object,
      announced,
      maxSize: MAX_OBJECT_BODY,
      condition,
      accept: async (received) => {
        const digests = body.finish(received);
        await call.reauthorize();
        return { md5Tag: digests.md5, ...wholeChecksum(digests) };
      },
    }));
  if (stored === "refused") throw await refusedWrite(call, deps, place);
  return { tag: entityTag(stored), checksum: stored.checksum };
}

/** The checksum of an object that was sent in one piece. */
function wholeChecksum({ checksum }: PayloadDigests): { checksum?: ObjectChecksum } {
  return checksum === undefined ? {} : { checksum: { ...checksum, type: "FULL_OBJECT" } };
}

/** Returns a function that evaluates the conditional headers of a write on the current object. */
export function writeCondition(request: Request): (current: Validators | undefined) => boolean {
  const { ifMatch, ifNoneMatch } = preconditionsOf(request);
  const asked = { ifMatch, ifNoneMatch };
  return (current) => allowsWrite(asked, current && asObject(current));
}

/**
 * Checks the condition of a write before its body is received. The write of an object checks it again, atomically.
 *
 * @throws {S3Error} also if `If-Match` names a version of an object that does not exist.
 */
async function checkBeforeBody(
  call: S3Call,
  deps: S3Deps,
  place: Place,
  condition: (current: Validators | undefined) => boolean,
): Promise<void> {
  const { headers } = call.request;
  if (!headers.has("if-match") && !headers.has("if-none-match")) return;
  if (!condition(await currentValidators(deps, place))) throw await refusedWrite(call, deps, place);
}

/** The error of a write whose condition does not hold: another one if `If-Match` is for an object that does not exist. */
export async function refusedWrite(call: S3Call, deps: S3Deps, place: Place): Promise<S3Error> {
  if (!call.request.headers.has("if-match")) return s3Errors.preconditionFailed("If-None-Match");
  const current = await currentValidators(deps, place);
  return current === undefined
    ? await absentError(call, deps)
    : s3Errors.preconditionFailed("If-Match");
}

/** Returns what the conditions of a write are compared with; `undefined` if there is no such object or marker. */
export async function currentValidators(
  { store }: S3Deps,
  place: Place,
): Promise<Validators | undefined> {
  if (!isFolder(place.name)) {
    const record = await store.files.reader.stat(place);
    return record && validators(record);
  }
  const folder = await store.folders.get(place);
  return folder && markerValidators(folder);
}

/** A key that ends with a slash is the marker of a folder, which has no bytes. */
async function putFolder(
  { key, reauthorize }: S3Call,
  { store }: S3Deps,
  place: Place,
  { bytes, finish }: Payload,
): Promise<Response> {
  for await (const piece of bytes) {
    if (piece.byteLength === 0) continue;
    throw new S3Error(
      "InvalidRequest",
      "A key that ends with a slash is a folder, which has no bytes: send an empty body, or another key",
      { Key: key },
    );
  }
  finish({ size: 0, sha256: EMPTY_SHA_256 });
  await reauthorize();
  await store.folders.create(place);
  return emptyResponse(200, { "ETag": `"${EMPTY_TAG}"` });
}

/** The SHA-256 of no bytes, in base64. */
const EMPTY_SHA_256 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

export const writeOperations: readonly Operation[] = [{
  name: "PutObject",
  method: "PUT",
  level: "object",
  permissions: ["write"],
  kind: "upload",
  handle: putObject,
}];
