import { formatDigest } from "../../http/body.ts";
import { MTIME } from "../../http/browser_headers.ts";
import { secureFile, sendFile, type SendOptions } from "../../http/responses/send_file.ts";
import { errors } from "../../http/http_error.ts";
import { ResponseHeaders } from "../../http/responses/http_response.ts";
import { BYTES, header, plainResponse } from "../../openapi/messages.ts";
import type { Failures } from "../../openapi/operation.ts";
import type { ParameterName } from "../../openapi/parameters.ts";
import type { HeaderObjects, ResponseObject } from "../../openapi/types.ts";
import type { FileRecord } from "../../store/engine/records.ts";
import { validators } from "../../store/files/file_record.ts";
import { type DriveCall, driveEndpoint, placeOf } from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";

const fileHeaders: HeaderObjects = {
  "Accept-Ranges": header("AcceptRanges"),
  "Cache-Control": header("FileCacheControl"),
  "ETag": header("ETag"),
  "Last-Modified": header("LastModified"),
  "Content-Security-Policy": header("FilePolicy"),
  "Repr-Digest": header("ReprDigest"),
  "X-Content-Type-Options": header("NoSniff"),
  [MTIME]: header("Mtime"),
};
const bytes = { "*/*": BYTES };

/** The headers of a request for a file that ask for a range or set conditions. */
export const readParameters: readonly ParameterName[] = [
  "Range",
  "IfRange",
  "IfMatch",
  "IfNoneMatch",
  "IfModifiedSince",
  "IfUnmodifiedSince",
];

/** The successful responses of an operation that sends a file. @param whole Describes that without a range. */
export function fileResponses(
  whole: string,
  headers: HeaderObjects,
): Record<number, ResponseObject> {
  const ofRange = { ...headers, "Content-Range": header("ContentRange") };
  return {
    200: plainResponse(whole, headers, bytes),
    206: plainResponse("The bytes of the range.", ofRange, bytes),
    304: plainResponse("The caller's version is current.", headers),
  };
}

/** The errors of an operation that sends a file. */
export const readFailures: Failures = {
  PreconditionFailed: "`If-Match` or `If-Unmodified-Since` does not hold.",
  RangeNotSatisfiable: "The range lies outside the file.",
};

/** "GET is the only method for which range handling is defined" (RFC 9110, 14.2). */
export const notOfHead = ["206", "416"];

/** `GET /files/download`: the bytes of a file, or a range of them. */
export const downloadFile = driveEndpoint(
  {
    id: "downloadFile",
    tag: "Files",
    summary: "Download a file",
    description: "Returns all bytes of a file, or a range of them, exactly as they were stored.",
    parameters: ["FileName", ...readParameters],
    success: fileResponses("The whole file.", fileHeaders),
    failures: {
      BadRequest: "The name is missing or invalid.",
      NotFound: "The file does not exist, or (to the administrator) the project does not.",
      ...readFailures,
    },
    notOfHead,
  },
  download,
  "download",
);

export async function download(call: DriveCall, deps: Deps): Promise<Response> {
  const place = placeOf(call);
  const file = await deps.store.files.reader.open(place);
  if (file === undefined) throw errors.fileNotFound(place.name);
  return await sendFile(call, deps, file, sendOptionsOf(file.record));
}

/** The headers and validators with which the drive API and links send a file. */
export function sendOptionsOf(record: FileRecord): Pick<SendOptions, "headers" | "validators"> {
  return { headers: headersOf(record), validators: validators(record) };
}

function headersOf({ type, version, modified, mtime, sha256 }: FileRecord): Headers {
  const headers = new ResponseHeaders({
    "Content-Type": type,
    "Accept-Ranges": "bytes",
    "ETag": `"${version}"`,
    "Last-Modified": new Date(modified).toUTCString(),
    // A shared cache would not check the key.
    "Cache-Control": "private, no-cache",
  });
  secureFile(headers, type);
  if (sha256 !== undefined) headers.set("Repr-Digest", formatDigest(sha256));
  if (mtime !== undefined) headers.set(MTIME, new Date(mtime).toISOString());
  return headers;
}
