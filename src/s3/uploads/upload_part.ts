import { encodeBase64 } from "@std/encoding/base64";
import { createHash } from "node:crypto";
import { parseRange } from "../../rules/byte_range.ts";
import { MAX_PARTS } from "../../rules/payloads.ts";
import type { ObjectChecksum, Place, UploadSession } from "../../store/engine/records.ts";
import { validators } from "../../store/files/file_record.ts";
import { refuseUnsupported } from "../object_headers.ts";
import type { Operation } from "../operation.ts";
import { absentSource, sourceCondition, sourceOf } from "../operations/copy_object.ts";
import { positiveParameter } from "../parameters.ts";
import { createChecksum } from "../payload/checksum.ts";
import {
  bodyOf,
  isFolder,
  MAX_OBJECT_BODY,
  placeOf,
  requireBucket,
  type S3Call,
  storeBody,
} from "../s3_call.ts";
import { S3Error, s3Errors } from "../s3_error.ts";
import { emptyResponse, xmlResponse, xmlTime } from "../s3_response.ts";
import { optional } from "../../xml/xml_writer.ts";

interface NamedPart {
  place: Place;
  id: string;
  part: number;
}

/** @throws {S3Error} */
function namedPart(call: S3Call): NamedPart {
  const { query, key } = call;
  const part = positiveParameter(query, "partNumber", MAX_PARTS);
  if (part === undefined) throw s3Errors.badArgument("partNumber", "", "it is required");
  return { place: placeOf(call, key), id: query.required("uploadId"), part };
}

const uploadPart: Operation = {
  name: "UploadPart",
  method: "PUT",
  level: "object",
  parameter: "uploadId",
  permissions: ["write"],
  kind: "upload",
  handle: async (call, deps) => {
    refuseUnsupported(call.headers);
    const { place, id, part } = namedPart(call);
    await requireBucket(call, deps);
    const { uploads } = deps.store;
    const { checksum: chosen } = await uploads.session(place, id);
    const body = bodyOf(call, deps, { compute: chosen?.algorithm });
    const { announced } = body;
    let headers: Record<string, string> = {};
    const sent = { id, part, type: undefined, announced, maxSize: MAX_OBJECT_BODY };
    await storeBody(
      call,
      deps,
      body,
      (bytes) =>
        uploads.putPart(place, sent, bytes, async (received) => {
          const { md5, checksum } = body.finish(received);
          requireChosen(chosen, checksum?.algorithm);
          await call.reauthorize();
          headers = { "ETag": `"${md5}"` };
          if (checksum === undefined) return { md5 };
          headers[`x-amz-checksum-${checksum.algorithm.toLowerCase()}`] = checksum.value;
          return chosen === undefined ? { md5 } : { md5, checksum: checksum.value };
        }),
    );
    return emptyResponse(200, headers);
  },
};

/** @throws {S3Error} if the sender chose another checksum for the part than for the upload. */
function requireChosen(
  chosen: UploadSession["checksum"],
  sent: ObjectChecksum["algorithm"] | undefined,
): void {
  if (chosen === undefined || sent === undefined || chosen.algorithm === sent) return;
  throw new S3Error(
    "InvalidRequest",
    `The upload was started with the checksum ${chosen.algorithm}: the part has ${sent}`,
  );
}

const uploadPartCopy: Operation = {
  name: "UploadPartCopy",
  method: "PUT",
  level: "object",
  parameter: "uploadId",
  header: "x-amz-copy-source",
  permissions: ["read", "write"],
  kind: "upload",
  handle: async (call, deps) => {
    const { headers } = call;
    const { place, id, part } = namedPart(call);
    await requireBucket(call, deps);
    const from = sourceOf(call);
    if (isFolder(from.name)) {
      throw new S3Error("InvalidRequest", "The marker of a folder has no bytes for a part");
    }
    const { uploads, files } = deps.store;
    const { checksum: chosen } = await uploads.session(place, id);
    using file = await files.reader.open(from);
    if (file === undefined) throw await absentSource(call, deps, from);
    if (!sourceCondition(headers)(validators(file.record))) {
      throw s3Errors.preconditionFailed("x-amz-copy-source-if-match");
    }
    const range = copiedRange(headers, file.record.size);
    const announced = range.end - range.start;
    const md5 = createHash("md5");
    const checksum = chosen && createChecksum(chosen.algorithm);
    const source = hashed(await file.read(range), [
      md5,
      ...(checksum === undefined ? [] : [checksum]),
    ]);
    const sent = { id, part, type: undefined, announced, maxSize: MAX_OBJECT_BODY };
    let tag = "";
    let value: string | undefined;
    await storeBody(
      call,
      deps,
      { announced, bytes: source },
      (bytes) =>
        uploads.putPart(place, sent, bytes, async () => {
          tag = md5.digest("hex");
          value = checksum && encodeBase64(checksum.digest());
          await call.reauthorize();
          return { md5: tag, ...(value === undefined ? {} : { checksum: value }) };
        }),
    );
    return xmlResponse(["CopyPartResult", [
      ["LastModified", xmlTime(Date.now())],
      ["ETag", `"${tag}"`],
      ...(chosen === undefined ? [] : optional(`Checksum${chosen.algorithm}`, value)),
    ]]);
  },
};

/** The bytes that a part is to have. @throws {S3Error} */
function copiedRange(headers: Headers, size: number): { start: number; end: number } {
  const header = headers.get("x-amz-copy-source-range");
  if (header === null && size <= MAX_OBJECT_BODY) return { start: 0, end: size };
  const match = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(header ?? "");
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  const range = match === null ? undefined : parseRange(header, size);
  if (range === undefined || range === "unsatisfiable" || last >= size || last < first) {
    throw s3Errors.badArgument(
      "x-amz-copy-source-range",
      header ?? "",
      `it must be bytes=first-last within the ${size} bytes of the source`,
    );
  }
  if (range.end - range.start <= MAX_OBJECT_BODY) return range;
  throw new S3Error("EntityTooLarge", `A part has at most ${MAX_OBJECT_BODY} bytes`);
}

/** Anything that computes a digest. */
interface Hasher {
  update(bytes: Uint8Array): unknown;
}

async function* hashed(
  bytes: AsyncIterable<Uint8Array>,
  hashers: readonly Hasher[],
): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    for (const hasher of hashers) hasher.update(piece);
    yield piece;
  }
}

export const partOperations: readonly Operation[] = [uploadPart, uploadPartCopy];
