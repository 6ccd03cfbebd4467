import { corsHeaders, everywhere } from "./headers.ts";
import {
  type Content,
  header,
  type HeaderObjects,
  type Json,
  type ResponseObject,
  schema,
} from "./types.ts";

/** A successful response in JSON. */
export function jsonResponse(
  description: string,
  schemaName: string,
  { example, headers = {} }: { example?: Json; headers?: HeaderObjects } = {},
): ResponseObject {
  const media = { schema: schema(schemaName), ...(example === undefined ? {} : { example }) };
  return {
    description,
    headers: { ...everywhere, "Cache-Control": header("NoStore"), ...headers },
    content: { "application/json": media },
  };
}

/** A response without a body, or with one that is not JSON. */
export function plainResponse(
  description: string,
  headers: HeaderObjects,
  content?: Content,
): ResponseObject {
  const body = content === undefined ? {} : { content };
  return { description, headers: { ...everywhere, ...headers }, ...body };
}

function failure(
  description: string,
  example: string,
  headers: HeaderObjects = {},
): ResponseObject {
  const all = { ...corsHeaders, ...headers };
  return jsonResponse(description, "Errors", { example: { errors: [example] }, headers: all });
}

const retryAfter: HeaderObjects = { "Retry-After": header("RetryAfter") };

/** The errors, by their names in `components`. */
export const responses = {
  BadRequest: failure(
    "The request is malformed.",
    'The query parameter "name" is missing: it is required',
  ),
  Unauthorized: failure(
    "The credentials are missing or unknown.",
    "The X-Api-Key header is missing: send the project key",
    { "WWW-Authenticate": header("Authenticate") },
  ),
  AccessDenied: failure(
    "Access control is on, and the caller sent no key of this application.",
    "The X-API-Key header is missing: send a key of this application",
    {
      "WWW-Authenticate": header("Authenticate"),
      "Retry-After": header("RetryAfterWrongKeys"),
    },
  ),
  Forbidden: failure(
    "The credentials are known, but do not allow this.",
    "The key in X-Api-Key is of another project than the one in the path",
  ),
  NotFound: failure(
    "The resource does not exist.",
    'There is no file "pets/cat.jpg" in this drive',
  ),
  MethodNotAllowed: failure(
    "This path does not support this method.",
    "The method PUT is not allowed here: use GET, POST, DELETE, HEAD, OPTIONS",
    { "Allow": header("Allow") },
  ),
  BodyTimeout: failure(
    "The body stopped coming. The connection is closed.",
    "The body stopped coming: nothing was stored, send it again",
  ),
  Conflict: failure(
    "The request conflicts with the current state.",
    'The drive "photos" is being removed: try again',
    { "Retry-After": header("RetryAfterSome") },
  ),
  PreconditionFailed: failure(
    "A condition of the request does not hold.",
    "The file is not in the state that the conditional headers demand: nothing was changed",
  ),
  TooLarge: failure(
    "The body is too large.",
    "The body is larger than 10485760 bytes: send larger files in parts, see POST …/uploads",
  ),
  RangeNotSatisfiable: failure(
    "The range lies outside the file.",
    "The Range header asks for bytes that a file of 26 bytes does not have",
    { "Content-Range": header("UnsatisfiedRange") },
  ),
  TooManyWrongKeys: failure(
    "Too many wrong keys came from this network. A correct key is still accepted.",
    "Too many wrong keys came from this network: send the right one, or wait 42 seconds",
    retryAfter,
  ),
  HeadTooLarge: failure(
    "The head of the request is larger than 64 KiB, or has more than 256 headers. The connection is closed.",
    "The request cannot be answered: its head has more than 65536 bytes",
  ),
  ServerError: failure(
    "A defect of the server. Its log has the details under the request's id.",
    "The server failed to answer this request: its log has the details under the X-Request-Id",
  ),
  Unavailable: failure(
    "Temporarily unavailable: the server is shutting down, its store cannot be reached, or too many uploads are running.",
    "The server is shutting down: try again",
    retryAfter,
  ),
  StorageFull: failure(
    "There is not enough space: nothing was stored.",
    "The server's disk is full: nothing was stored; delete files or ask its operator",
  ),
} as const;

/** The name of an error in `components`. */
export type ErrorName = keyof typeof responses;

/** The status of each error. */
export const STATUS_OF: Readonly<Record<ErrorName, number>> = {
  BadRequest: 400,
  Unauthorized: 401,
  AccessDenied: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  BodyTimeout: 408,
  Conflict: 409,
  PreconditionFailed: 412,
  TooLarge: 413,
  RangeNotSatisfiable: 416,
  TooManyWrongKeys: 429,
  HeadTooLarge: 431,
  ServerError: 500,
  Unavailable: 503,
  StorageFull: 507,
};
