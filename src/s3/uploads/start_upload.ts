import { DAY } from "../../rules/units.ts";
import type { UploadSession } from "../../store/engine/records.ts";
import { chosenAlgorithm } from "../object_checksum.ts";
import { describeObject, refuseUnsupported } from "../object_headers.ts";
import type { Operation } from "../operation.ts";
import { isFolder, placeOf, requireBucket } from "../s3_call.ts";
import { S3Error, s3Errors } from "../s3_error.ts";
import { emptyResponse, xmlResponse } from "../s3_response.ts";

/** How long an upload may stay open, in milliseconds: some clients continue one for days. */
const UPLOAD_TTL = 7 * DAY;

const createUpload: Operation = {
  name: "CreateMultipartUpload",
  method: "POST",
  level: "object",
  parameter: "uploads",
  permissions: ["write"],
  handle: async (call, deps) => {
    const { headers, bucket, key } = call;
    refuseUnsupported(headers);
    const place = placeOf(call, key);
    if (isFolder(key)) {
      throw s3Errors.badArgument("Key", key, "a folder has no bytes: add a name after the slash");
    }
    const checksum = chosenChecksum(headers);
    const { type, object } = describeObject(headers, key);
    using _reserved = await deps.store.reserveDisk(0);
    const id = await deps.store.uploads.start(place, type, {
      ttl: UPLOAD_TTL,
      ...(object === undefined ? {} : { object }),
      ...(checksum === undefined ? {} : { checksum }),
    });
    const chosen: Record<string, string> = checksum === undefined ? {} : {
      "x-amz-checksum-algorithm": checksum.algorithm,
      "x-amz-checksum-type": checksum.type,
    };
    return xmlResponse(["InitiateMultipartUploadResult", [
      ["Bucket", bucket],
      ["Key", key],
      ["UploadId", id],
    ]], chosen);
  },
};

/** Returns the checksum algorithm of the parts, and the type of the object's checksum. @throws {S3Error} */
function chosenChecksum(headers: Headers): UploadSession["checksum"] {
  const algorithm = chosenAlgorithm(headers);
  const type = headers.get("x-amz-checksum-type")?.toUpperCase();
  if (algorithm === undefined) {
    if (type === undefined) return undefined;
    throw new S3Error("InvalidRequest", "x-amz-checksum-type needs x-amz-checksum-algorithm");
  }
  const isSha = algorithm.startsWith("SHA");
  const chosen = type ?? (algorithm === "CRC64NVME" ? "FULL_OBJECT" : "COMPOSITE");
  const isPossible = chosen === "FULL_OBJECT"
    ? !isSha
    : chosen === "COMPOSITE" && algorithm !== "CRC64NVME";
  if (isPossible) return { algorithm, type: chosen === "FULL_OBJECT" ? chosen : "COMPOSITE" };
  throw new S3Error(
    "InvalidRequest",
    `The checksum type ${chosen} is not possible with the algorithm ${algorithm}`,
  );
}

const abortUpload: Operation = {
  name: "AbortMultipartUpload",
  method: "DELETE",
  level: "object",
  parameter: "uploadId",
  permissions: ["write"],
  handle: async (call, deps) => {
    const id = call.query.required("uploadId");
    await requireBucket(call, deps);
    await deps.store.uploads.abort(placeOf(call, call.key), id);
    return emptyResponse(204);
  },
};

export const uploadOperations: readonly Operation[] = [createUpload, abortUpload];
