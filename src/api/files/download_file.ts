import { formatDigest } from "../../http/body.ts";
import { MTIME } from "../../http/cors.ts";
import {
  type FileRequest,
  secureFile,
  type SendDeps,
  sendFile as send,
} from "../../http/responses/send_file.ts";
import { errors } from "../../http/http_error.ts";
import { ResponseHeaders } from "../../http/responses/http_response.ts";
import { TAGS } from "../../openapi/info.ts";
import { plainResponse } from "../../openapi/responses.ts";
import { BYTES, header, type HeaderObjects, parameter } from "../../openapi/types.ts";
import type { FileRecord } from "../../store/engine/records.ts";
import { validators } from "../../store/files/file_record.ts";
import type { OpenFile } from "../../store/files/open_file.ts";
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

/** `GET /files/download`: the bytes of a file, or a range of them. */
export const downloadFile = driveEndpoint(
  {
    id: "downloadFile",
    tag: TAGS.files,
    summary: "Download a file",
    description: "Returns all bytes of a file, or a range of them, exactly as they were stored.",
    parameters: [
      "FileName",
      "Range",
      "IfRange",
      "IfMatch",
      "IfNoneMatch",
      "IfModifiedSince",
      "IfUnmodifiedSince",
    ].map(parameter),
    success: {
      200: plainResponse("The whole file.", fileHeaders, bytes),
      206: plainResponse("The bytes of the range.", {
        ...fileHeaders,
        "Content-Range": header("ContentRange"),
      }, bytes),
      304: plainResponse("The caller's version is current.", fileHeaders),
    },
    failures: {
      BadRequest: "The name is missing or invalid.",
      NotFound: "The file does not exist, or (to the administrator) the project does not.",
      PreconditionFailed: "`If-Match` or `If-Unmodified-Since` does not hold.",
      RangeNotSatisfiable: "The range lies outside the file.",
    },
    // "GET is the only method for which range handling is defined" (RFC 9110, 14.2).
    notOfHead: ["206", "416"],
  },
  download,
  "download",
);

/** Answers a `GET /files/download` whose sender is authorized. */
export async function download(call: DriveCall, deps: Deps): Promise<Response> {
  const place = placeOf(call);
  const file = await deps.store.files.reader.open(place);
  if (file === undefined) throw errors.fileNotFound(place.name);
  return await sendFile(call, deps, file);
}

/** How a file is sent. */
export interface SendOptions {
  /** Changes the headers of every response with the file, or 304. */
  adapt?: (headers: Headers) => void;
  /** Whether `Range` is ignored, so that the whole file is sent. */
  ignoresRange?: boolean;
  /** Called before a response with a body. What it throws is the response. */
  beforeBody?: () => Promise<void>;
}

/** The response with a file as the drive API and links send it. The file is closed once it is sent. */
export async function sendFile(
  call: FileRequest,
  deps: SendDeps,
  file: OpenFile,
  { adapt, ignoresRange = false, beforeBody }: SendOptions = {},
): Promise<Response> {
  const headers = headersOf(file.record);
  adapt?.(headers);
  return await send(call, deps, file, {
    headers,
    validators: validators(file.record),
    beforeBody,
    ...(ignoresRange ? { range: () => undefined } : {}),
  });
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
