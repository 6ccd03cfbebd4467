import { formatDigest } from "../../http/body.ts";
import { errors } from "../../http/http_error.ts";
import { READER_PATIENCE, streamPieces } from "../../http/response_stream.ts";
import { type ByteRange, parseRange } from "../../rules/byte_range.ts";
import { allowsRange, evaluateRead } from "../../rules/preconditions.ts";
import type { FileRecord } from "../../store/engine/records.ts";
import { validators } from "../../store/files/file_record.ts";
import type { OpenFile } from "../../store/files/file_store.ts";
import { type DriveCall, placeOf, preconditionsOf } from "../drive_call.ts";
import type { Deps } from "../router.ts";

type Piece = Uint8Array<ArrayBuffer>;

/** `GET /files/download`: the bytes of a file, all or a range of them. */
export async function downloadFile(call: DriveCall, deps: Deps): Promise<Response> {
  const place = placeOf(call);
  const file = await deps.store.files.open(place);
  if (file === undefined) throw errors.fileNotFound(place.name);
  try {
    return await respond(call, deps, file);
  } catch (error) {
    file.close();
    throw error;
  }
}

async function respond(
  { request, requestId, visit }: DriveCall,
  { onError, idleTimeout }: Deps,
  file: OpenFile,
): Promise<Response> {
  const { record } = file;
  const asked = preconditionsOf(request.headers);
  const judged = evaluateRead(asked, validators(record));
  if (judged === 412) throw errors.preconditionFailed();
  const headers = headersOf(record);
  if (judged === 304) return withoutBody(file, 304, headers);
  const range = rangeOf(request, file);
  if (range === "unsatisfiable") throw errors.rangeNotSatisfiable(record.size);
  const { start, end } = range ?? { start: 0, end: record.size };
  headers.set("Content-Length", String(end - start));
  if (range !== undefined) headers.set("Content-Range", `bytes ${start}-${end - 1}/${record.size}`);
  if (request.method === "HEAD") return withoutBody(file, 200, headers);
  const status = range === undefined ? 200 : 206;
  if (file.content !== undefined) {
    file.close();
    return new Response(file.content.subarray(start, end), { status, headers });
  }
  const body = streamPieces(await begin(await file.read({ start, end })), {
    idle: idleTimeout * READER_PATIENCE,
    onEnd: file.close,
    onError: (error) => onError(error, requestId),
    visit,
  });
  return new Response(body, { status, headers });
}

/** Reads the first piece before the head of the answer is sent, so that damage there is an error and not a broken answer. */
async function begin(pieces: AsyncIterable<Piece>): Promise<AsyncIterable<Piece>> {
  const iterator = pieces[Symbol.asyncIterator]();
  let first: IteratorResult<Piece> | undefined = await iterator.next();
  const next = (): Promise<IteratorResult<Piece>> => {
    const result = first;
    first = undefined;
    return result === undefined ? iterator.next() : Promise.resolve(result);
  };
  const end = iterator.return?.bind(iterator);
  const rest = end === undefined ? { next } : { next, return: end };
  return { [Symbol.asyncIterator]: () => rest };
}

/** What `Range` asks for, where it counts: "GET is the only method for which range handling is defined" (RFC 9110, 14.2). */
function rangeOf(request: Request, { record }: OpenFile): ByteRange | "unsatisfiable" | undefined {
  if (request.method !== "GET") return undefined;
  if (!allowsRange(request.headers.get("if-range"), validators(record))) return undefined;
  return parseRange(request.headers.get("range"), record.size);
}

function headersOf({ type, version, modified, sha256 }: FileRecord): Headers {
  const headers = new Headers({
    "Content-Type": type,
    "Accept-Ranges": "bytes",
    "ETag": `"${version}"`,
    "Last-Modified": new Date(modified).toUTCString(),
    "X-Content-Type-Options": "nosniff",
    // A cache on the way would not ask for the key.
    "Cache-Control": "private, no-cache",
  });
  if (runsInBrowsers(type)) headers.set("Content-Security-Policy", "sandbox; default-src 'none'");
  if (sha256 !== undefined) headers.set("Repr-Digest", formatDigest(sha256));
  return headers;
}

/** "type/subtype" of RFC 9110, 8.3.1, with any parameters; a list or other text is read differently by different browsers. */
const MEDIA_TYPE = /^([!#$%&'*+\-.^_`|~0-9a-z]+\/[!#$%&'*+\-.^_`|~0-9a-z]+)[ \t]*(?:;[^,]*)?$/;

/** HTML, XML in all its kinds (SVG and XHTML among them), and the containers that can have them inside. */
const ACTIVE = /^(?:text\/html|text\/xsl|.*[/+]xml|(?:multipart|message)\/.*)$/;

/** Whether a browser that shows a file as a page may run scripts in it, as a page of this server. */
function runsInBrowsers(type: string): boolean {
  const [, essence] = MEDIA_TYPE.exec(type.trim().toLowerCase()) ?? [];
  return essence === undefined || ACTIVE.test(essence);
}

function withoutBody(file: OpenFile, status: number, headers: Headers): Response {
  file.close();
  if (status === 304) headers.delete("Content-Type");
  return new Response(null, { status, headers });
}
