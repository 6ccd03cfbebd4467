import { HttpResponse, ResponseHeaders } from "../../http/http_response.ts";
import { MTIME } from "../../http/cors.ts";
import { formatDigest } from "../../http/body.ts";
import { errors } from "../../http/http_error.ts";
import { PieceStream, READER_PATIENCE, readFirst } from "../../http/response_stream.ts";
import { TAGS } from "../../openapi/info.ts";
import { plainResponse } from "../../openapi/responses.ts";
import { header, type HeaderObjects, parameter } from "../../openapi/types.ts";
import { type ByteRange, parseRange } from "../../rules/byte_range.ts";
import { allowsRange, evaluateRead } from "../../rules/preconditions.ts";
import type { FileRecord } from "../../store/engine/records.ts";
import { validators } from "../../store/files/file_record.ts";
import type { OpenFile } from "../../store/files/open_file.ts";
import { type DriveCall, driveEndpoint, placeOf, preconditionsOf } from "../drive_call.ts";
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
const bytes = { "*/*": {} };

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
  const file = await deps.store.files.open(place);
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

/** The response with a file, to a conditional request and to one for a range. The file is closed once it is sent. */
export async function sendFile(
  call: Pick<DriveCall, "request" | "requestId" | "context">,
  deps: Pick<Deps, "onError" | "idleTimeout">,
  file: OpenFile,
  options: SendOptions = {},
): Promise<Response> {
  try {
    return await respond(call, deps, file, options);
  } catch (error) {
    file.close();
    throw error;
  }
}

async function respond(
  call: Pick<DriveCall, "request" | "requestId" | "context">,
  { onError, idleTimeout }: Pick<Deps, "onError" | "idleTimeout">,
  file: OpenFile,
  { adapt, ignoresRange = false, beforeBody }: SendOptions,
): Promise<Response> {
  const { request, requestId, context } = call;
  const { record } = file;
  const outcome = evaluateRead(preconditionsOf(call), validators(record));
  if (outcome === 412) throw errors.preconditionFailed();
  const headers = headersOf(record);
  adapt?.(headers);
  if (outcome === 304) return withoutBody(file, 304, headers);
  const range = ignoresRange ? undefined : rangeOf(request, file);
  if (range === "unsatisfiable") throw errors.rangeNotSatisfiable(record.size);
  const { start, end } = range ?? { start: 0, end: record.size };
  headers.set("Content-Length", String(end - start));
  if (range !== undefined) headers.set("Content-Range", `bytes ${start}-${end - 1}/${record.size}`);
  if (request.method === "HEAD") return withoutBody(file, 200, headers);
  await beforeBody?.();
  const status = range === undefined ? 200 : 206;
  if (file.content !== undefined) {
    file.close();
    return new HttpResponse(file.content.subarray(start, end), { status, headers });
  }
  const body = new PieceStream(await readFirst(await file.read({ start, end })), {
    idle: idleTimeout * READER_PATIENCE,
    onEnd: file.close,
    onError: (error) => onError(error, requestId),
    context,
    release: file.release,
  });
  return new HttpResponse(body, { status, headers });
}

/** The requested range; `undefined` for the whole file. "GET is the only method for which range handling is defined" (RFC 9110, 14.2). */
function rangeOf(request: Request, { record }: OpenFile): ByteRange | "unsatisfiable" | undefined {
  if (request.method !== "GET") return undefined;
  if (!allowsRange(request.headers.get("if-range"), validators(record))) return undefined;
  return parseRange(request.headers.get("range"), record.size);
}

function headersOf({ type, version, modified, mtime, sha256 }: FileRecord): Headers {
  const headers = new ResponseHeaders({
    "Content-Type": type,
    "Accept-Ranges": "bytes",
    "ETag": `"${version}"`,
    "Last-Modified": new Date(modified).toUTCString(),
    "X-Content-Type-Options": "nosniff",
    // A shared cache would not check the key.
    "Cache-Control": "private, no-cache",
  });
  if (runsInBrowsers(type)) headers.set("Content-Security-Policy", "sandbox; default-src 'none'");
  if (sha256 !== undefined) headers.set("Repr-Digest", formatDigest(sha256));
  if (mtime !== undefined) headers.set(MTIME, new Date(mtime).toISOString());
  return headers;
}

/** "type/subtype" (RFC 9110, 8.3.1) with parameters. Browsers disagree about lists and other text. */
const MEDIA_TYPE = /^([!#$%&'*+\-.^_`|~0-9a-z]+\/[!#$%&'*+\-.^_`|~0-9a-z]+)[ \t]*(?:;[^,]*)?$/;

/** HTML, all kinds of XML (including SVG and XHTML), and containers that may have them inside. */
const ACTIVE = /^(?:text\/html|text\/xsl|.*[/+]xml|(?:multipart|message)\/.*)$/;

/** Whether a browser that displays a file of this type may run scripts in it with the origin of this server. */
function runsInBrowsers(type: string): boolean {
  const [, essence] = MEDIA_TYPE.exec(type.trim().toLowerCase()) ?? [];
  return essence === undefined || ACTIVE.test(essence);
}

function withoutBody(file: OpenFile, status: number, headers: Headers): Response {
  file.close();
  if (status === 304) headers.delete("Content-Type");
  return new HttpResponse(null, { status, headers });
}
