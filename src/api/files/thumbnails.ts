import { assertDigest, expectedDigest, readBody } from "../../http/body.ts";
import { errors } from "../../http/http_error.ts";
import { HttpResponse, ResponseHeaders } from "../../http/responses/http_response.ts";
import { json } from "../../http/responses/json_response.ts";
import { preconditionsOf, secureFile } from "../../http/responses/send_file.ts";
import { BYTES, bytesBody, header, jsonResponse, plainResponse } from "../../openapi/messages.ts";
import type { HeaderObjects } from "../../openapi/types.ts";
import { allowsWrite, evaluateRead } from "../../rules/preconditions.ts";
import { MAX_THUMBNAIL, thumbnailType } from "../../rules/content_type.ts";
import { digest } from "../../store/bytes/checksums.ts";
import type { Thumbnail } from "../../store/files/thumbnails.ts";
import { type DriveCall, driveEndpoint, placeOf, writeFailures } from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import { fileJson } from "./attributes.ts";

const thumbnailHeaders: HeaderObjects = {
  "Cache-Control": header("FileCacheControl"),
  "ETag": header("ThumbnailETag"),
  "X-Content-Type-Options": header("NoSniff"),
};

const images = { "image/jpeg": BYTES, "image/png": BYTES, "image/webp": BYTES };

/** `GET /files/thumbnail`: the small picture that was stored with a file. */
export const showThumbnail = driveEndpoint(
  {
    id: "showThumbnail",
    tag: "Files",
    summary: "Download a thumbnail",
    description:
      "Returns the small picture that a caller stored with the present version of a file, as it was stored. It has an " +
      "`ETag` of its own. `Range` is ignored.",
    parameters: ["FileName", "IfMatch", "IfNoneMatch"],
    success: {
      200: plainResponse("The thumbnail.", thumbnailHeaders, images),
      304: plainResponse("The caller's thumbnail is current.", thumbnailHeaders),
    },
    failures: {
      BadRequest: "The name is missing or invalid.",
      NotFound:
        "The file does not exist or has no thumbnail, or (to the administrator) the project does not exist.",
      PreconditionFailed: "`If-Match` does not hold.",
    },
  },
  async (call, deps) => {
    const place = placeOf(call);
    const thumbnail = await deps.store.files.thumbnails.get(place);
    if (thumbnail === "absent") throw errors.fileNotFound(place.name);
    if (thumbnail === undefined) throw errors.thumbnailNotFound(place.name);
    return await thumbnailResponse(call.request, thumbnail);
  },
  "download",
);

/** `PUT /files/thumbnail`: stores it. */
export const putThumbnail = driveEndpoint({
  id: "putThumbnail",
  tag: "Files",
  summary: "Store a thumbnail",
  description:
    "Stores a small picture with the present version of a file, in place of an earlier one. Copies and moves keep it; a " +
    "new version of the file has none. It counts towards the usage of the project. The file keeps its version and its " +
    "times. The server makes no thumbnails.",
  parameters: ["FileName", "ContentDigest", "IfMatch", "IfNoneMatch"],
  body: bytesBody(
    `A JPEG, PNG or WebP of at most ${MAX_THUMBNAIL} bytes. Its first bytes tell which, not \`Content-Type\`.`,
  ),
  success: { 200: jsonResponse("The file, which has the thumbnail.", "FileDetails") },
  failures: {
    ...writeFailures,
    BadRequest:
      "The name is missing or invalid, `Content-Digest` is malformed or does not match the body, or the body was incomplete.",
    NotFound: "The file does not exist, or (to the administrator) the project does not.",
    PreconditionFailed: "`If-Match` or `If-None-Match` does not hold: nothing was stored.",
    BodyTimeout: "The body stopped coming, or came too slowly: nothing was stored.",
    TooLarge: `The body is larger than ${MAX_THUMBNAIL} bytes.`,
    UnsupportedMediaType: "The body does not begin like a JPEG, PNG or WebP: nothing was stored.",
  },
}, put);

async function put(call: DriveCall, deps: Deps): Promise<Response> {
  const place = placeOf(call);
  const conditions = preconditionsOf(call.request);
  const bytes = await readThumbnail(call, deps);
  using _reserved = await deps.store.reserveDisk(bytes.byteLength);
  await call.reauthorize();
  const stored = await deps.store.files.thumbnails.put(
    place,
    bytes,
    (current) => allowsWrite(conditions, current),
  );
  if (stored === "absent") throw errors.fileNotFound(place.name);
  if (stored === "refused") throw errors.preconditionFailed();
  return json(200, fileJson(place.name, stored));
}

/** @throws {HttpError} 400, 408, 413 or 415 if the body is none. */
async function readThumbnail(
  { request, context }: DriveCall,
  { idleTimeout, uploadPace }: Deps,
): Promise<Uint8Array<ArrayBuffer>> {
  const expected = expectedDigest(request.headers);
  const body = readBody(request, {
    limit: MAX_THUMBNAIL,
    idle: idleTimeout,
    pace: uploadPace,
    tooLarge: errors.thumbnailTooLarge,
    context,
  });
  // Into one buffer: a sender may make many small pieces, each of which takes memory besides its bytes.
  const buffer = new Uint8Array(MAX_THUMBNAIL);
  let size = 0;
  for await (const piece of body) {
    buffer.set(piece, size);
    size += piece.byteLength;
  }
  const bytes = buffer.slice(0, size);
  assertDigest(expected, digest(bytes));
  if (thumbnailType(bytes) === undefined) throw errors.notThumbnail();
  return bytes;
}

/**
 * The response with a thumbnail.
 *
 * @param more.headers Further headers of the response.
 * @param more.beforeBody Called before a response with a body. What it throws is the response.
 * @throws {HttpError} 412
 */
export async function thumbnailResponse(
  request: Request,
  { version, bytes, record }: Thumbnail,
  more: { headers?: Record<string, string>; beforeBody?: () => Promise<void> } = {},
): Promise<Response> {
  // What is stored was checked, but another program may have written it.
  const type = thumbnailType(bytes) ?? "application/octet-stream";
  const headers = new ResponseHeaders({
    "ETag": `"${version}"`,
    // A shared cache would not check the key.
    "Cache-Control": "private, no-cache",
    ...more.headers,
  });
  secureFile(headers, type);
  // It has no date: that of the file does not change with its thumbnail.
  const asked = { ...preconditionsOf(request), ifModifiedSince: null, ifUnmodifiedSince: null };
  const current = { etag: version, tag: undefined, modified: record.modified, dateIsStrong: false };
  const outcome = evaluateRead(asked, current);
  if (outcome === 412) throw errors.preconditionFailed();
  if (outcome === 304) return new HttpResponse(null, { status: 304, headers });
  headers.set("Content-Type", type);
  headers.set("Content-Length", String(bytes.byteLength));
  if (request.method === "HEAD") return new HttpResponse(null, { headers });
  await more.beforeBody?.();
  return new HttpResponse(bytes, { headers });
}
