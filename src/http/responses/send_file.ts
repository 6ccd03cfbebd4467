import { type ByteRange, parseRange } from "../../rules/byte_range.ts";
import {
  allowsRange,
  evaluateRead,
  type Preconditions,
  type Validators,
} from "../../rules/preconditions.ts";
import type { OpenFile } from "../../store/files/file_reader.ts";
import { errors } from "../http_error.ts";
import { HttpResponse } from "./http_response.ts";
import type { RequestContext } from "../request_context.ts";
import { PieceStream, READER_PATIENCE, readFirst } from "./response_stream.ts";

/** The conditional headers of a request. */
export function preconditionsOf({ headers }: Request): Preconditions {
  return {
    ifMatch: headers.get("if-match"),
    ifNoneMatch: headers.get("if-none-match"),
    ifModifiedSince: headers.get("if-modified-since"),
    ifUnmodifiedSince: headers.get("if-unmodified-since"),
  };
}

export interface FileRequest {
  request: Request;
  requestId: string;
  context: RequestContext;
}

/** What sending needs from the server. */
export interface SendDeps {
  /** How long a reader may take none, in milliseconds, before `READER_PATIENCE`. */
  idleTimeout: number;
  onError: (error: unknown, requestId: string) => void;
}

export interface SendOptions {
  /** The headers of every response with the file, and of 304; `Content-Length` and `Content-Range` are added. */
  headers: Headers;
  /** What the conditions of the request are compared with. */
  validators: Validators;
  /** Returns the range that is sent, by default that of `Range`; `undefined` for the whole file. */
  range?: (() => ByteRange | "unsatisfiable" | undefined) | undefined;
  /** Called before a response with a body. What it throws is the response. */
  beforeBody?: (() => Promise<void>) | undefined;
}

/**
 * The response with a file, to a conditional request and to one for a range. The file is closed once it is sent.
 *
 * @throws {HttpError} 412 or 416
 */
export async function sendFile(
  call: FileRequest,
  deps: SendDeps,
  file: OpenFile,
  options: SendOptions,
): Promise<Response> {
  try {
    return await respond(call, deps, file, options);
  } catch (error) {
    file.close();
    throw error;
  }
}

async function respond(
  { request, requestId, context }: FileRequest,
  { onError, idleTimeout }: SendDeps,
  file: OpenFile,
  { headers, validators, beforeBody, ...options }: SendOptions,
): Promise<Response> {
  const { size } = file.record;
  const outcome = evaluateRead(preconditionsOf(request), validators);
  if (outcome === 412) throw errors.preconditionFailed();
  if (outcome === 304) return withoutBody(file, 304, headers);
  const range = options.range === undefined
    ? requestedRange(request, size, validators)
    : options.range();
  if (range === "unsatisfiable") throw errors.rangeNotSatisfiable(size);
  const { start, end } = range ?? { start: 0, end: size };
  const status = range === undefined ? 200 : 206;
  headers.set("Content-Length", String(end - start));
  if (range !== undefined) headers.set("Content-Range", `bytes ${start}-${end - 1}/${size}`);
  if (request.method === "HEAD") return withoutBody(file, status, headers);
  await beforeBody?.();
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

/**
 * The range that a request asks for; `undefined` for the whole file. "GET is the only method for which range handling is
 * defined" (RFC 9110, 14.2).
 */
function requestedRange(
  request: Request,
  size: number,
  validators: Validators,
): ByteRange | "unsatisfiable" | undefined {
  if (request.method !== "GET") return undefined;
  if (!allowsRange(request.headers.get("if-range"), validators)) return undefined;
  return parseRange(request.headers.get("range"), size);
}

function withoutBody(file: OpenFile, status: number, headers: Headers): Response {
  file.close();
  if (status === 304) headers.delete("Content-Type");
  return new HttpResponse(null, { status, headers });
}

/** "type/subtype" (RFC 9110, 8.3.1) with parameters. Browsers disagree about lists and other text. */
const MEDIA_TYPE = /^([!#$%&'*+\-.^_`|~0-9a-z]+\/[!#$%&'*+\-.^_`|~0-9a-z]+)[ \t]*(?:;[^,]*)?$/;

/** HTML, all kinds of XML (including SVG and XHTML), and containers that may have them inside. */
const ACTIVE = /^(?:text\/html|text\/xsl|.*[/+]xml|(?:multipart|message)\/.*)$/;

/** Keeps a browser that displays a file of this type from running scripts in it with the origin of this server. */
export function secureFile(headers: Headers, type: string): void {
  headers.set("X-Content-Type-Options", "nosniff");
  const [, essence] = MEDIA_TYPE.exec(type.trim().toLowerCase()) ?? [];
  if (essence === undefined || ACTIVE.test(essence)) {
    headers.set("Content-Security-Policy", "sandbox; default-src 'none'");
  }
}
