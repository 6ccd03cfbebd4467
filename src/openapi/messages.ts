import { type ErrorCode, errorKind } from "../rules/error_codes.ts";
import { schema } from "./schemas.ts";
import type {
  Body,
  Content,
  HeaderObject,
  HeaderObjects,
  Json,
  MediaType,
  Reference,
  ResponseObject,
  Schema,
} from "./types.ts";

/** Any bytes. Generators of clients need a schema for them. */
export const BYTES: MediaType = { schema: { type: "string", format: "binary" } };

export function jsonBody(
  description: string,
  schema: Schema,
  { required = true, example }: { required?: boolean; example?: Json } = {},
): Body {
  const media = { schema, ...(example === undefined ? {} : { example }) };
  return { description, required, content: { "application/json": media } };
}

/** A request body of arbitrary bytes, whose type `Content-Type` names. */
export function bytesBody(description: string): Body {
  return {
    description,
    required: false,
    content: { "application/octet-stream": BYTES, "*/*": BYTES },
  };
}

/** A reference to a header in `components`. */
export function header(name: string): Reference {
  return { $ref: `#/components/headers/${name}` };
}

/** "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7). */
const HTTP_DATE =
  "^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \\d\\d [A-Z][a-z]{2} \\d{4} \\d\\d:\\d\\d:\\d\\d GMT$";

/** A header that every such response has. */
function always(description: string, schema: Schema): HeaderObject {
  return { description, required: true, schema: { type: "string", ...schema } };
}

/** A header that some of the responses have. */
function sometimes(description: string, schema: Schema = {}): HeaderObject {
  return { description, schema: { type: "string", ...schema } };
}

/** The response headers, by their names in `components`. */
export const headers: Readonly<Record<string, HeaderObject>> = {
  RequestId: always(
    "The id that the caller sent, if it was valid, otherwise one that the server made. The log has it beside every error.",
    {
      pattern: "^[A-Za-z0-9._~:@/+=-]{1,128}$",
      examples: ["3f2b8a52-6a0e-4c2c-9a54-3e0a5d2d9b11"],
    },
  ),
  NoStore: always(
    "The response is valid for one moment and one caller: caches must not store it.",
    {
      const: "no-store",
    },
  ),
  NoBuffering: sometimes("Makes proxies such as nginx pass on a stream of events at once.", {
    const: "no",
  }),
  AllowOrigin: sometimes(
    "The origins whose pages may read the response: all, or, if the server has a list of origins, the requesting one if it is listed.",
    { examples: ["*"] },
  ),
  ExposeHeaders: sometimes("The headers that pages may read.", {
    examples: ["ETag, Content-Range, Content-Length, Accept-Ranges, Last-Modified, X-Request-Id"],
  }),
  Vary: sometimes("The request headers that the response depends on.", { examples: ["Origin"] }),
  AllowMethods: sometimes("To a preflight: the methods that this path supports."),
  AllowHeaders: sometimes("To a preflight: the headers that pages may send."),
  PreflightMaxAge: sometimes("To a preflight: for how many seconds the response may be cached.", {
    pattern: "^\\d+$",
  }),
  Allow: always("The methods that this path supports.", {
    pattern: "^[A-Z]+(, [A-Z]+)*$",
    examples: ["GET, POST, DELETE, HEAD, OPTIONS"],
  }),
  Authenticate: always("The credentials that are accepted.", {
    enum: [
      'ApiKey realm="kvdrive"',
      'Bearer realm="kvdrive", ApiKey realm="kvdrive"',
      'Bearer realm="kvdrive"',
      'Basic realm="kvdrive", charset="UTF-8"',
      'LinkPassword realm="kvdrive"',
    ],
  }),
  RetryAfter: always("The number of seconds after which to try again.", { pattern: "^[1-9]\\d*$" }),
  RetryAfterSome: sometimes("The number of seconds after which to try again, if that can help.", {
    pattern: "^[1-9]\\d*$",
  }),
  RetryAfterWrongKeys: sometimes(
    "For how many seconds further wrong keys from the caller's network are refused. A correct key is accepted.",
    { pattern: "^[1-9]\\d*$" },
  ),
  AcceptRanges: always("Parts of the file can be requested with `Range`.", { const: "bytes" }),
  ETag: always("The version of the file, for conditional requests.", {
    pattern: '^"[^"]+"$',
    examples: ['"01J9Z3NDEKTSV4RRFFQ69G5FAV"'],
  }),
  ThumbnailETag: always("The version of the thumbnail, for conditional requests.", {
    pattern: '^"[^"]+"$',
  }),
  LastModified: always("When this version was written.", { pattern: HTTP_DATE }),
  FileCacheControl: always("A shared cache would not check the key.", {
    const: "private, no-cache",
  }),
  NoSniff: always("Browsers must not guess another content type.", { const: "nosniff" }),
  Attachment: always("Browsers save it as a file of this name.", {
    pattern: '^attachment; filename="',
    examples: ['attachment; filename="photos.zip"'],
  }),
  FilePolicy: sometimes(
    "For a file in which a browser could run scripts, such as HTML or SVG: no scripts run and nothing is loaded.",
    { const: "sandbox; default-src 'none'" },
  ),
  ReprDigest: sometimes(
    "The SHA-256 of the whole file (RFC 9530). For a file made of several parts it is available some time after completion.",
    { pattern: "^sha-256=:[A-Za-z0-9+/]{43}=:$" },
  ),
  Mtime: sometimes(
    "When the caller's own copy was last modified, if the upload said so: `mtime`.",
    {
      pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$",
      examples: ["2021-04-22T11:50:08.123Z"],
    },
  ),
  ContentRange: always("The position of these bytes in the file, and its size.", {
    pattern: "^bytes \\d+-\\d+/\\d+$",
  }),
  KeyName: always(
    "The name of the caller's key, percent-encoded beyond ASCII. Empty for the owner, and while access control is off.",
    {},
  ),
  Revalidate: always("A cache must revalidate it before each use.", { const: "no-cache" }),
  PageCaching: always(
    "A cache must revalidate it before each use; with a session it is not kept.",
    {
      enum: ["no-cache", "no-store"],
    },
  ),
  Immutable: always("A cache may keep it and need not revalidate it.", {
    const: "public, max-age=31536000, immutable",
  }),
  AnyOrigin: always("Pages of every origin may read it.", { const: "*" }),
  PagePolicy: always("Only the page's own files are run or shown.", {}),
  OpenerPolicy: always("Pages that it opens cannot access it.", { const: "same-origin" }),
  ReferrerPolicy: always("Its address is not sent to other servers.", { const: "no-referrer" }),
  FrameOptions: always("No page may embed it in a frame.", { const: "DENY" }),
  Sandbox: always("What a link serves runs nothing and loads nothing.", {
    pattern: "^sandbox( allow-downloads allow-forms allow-same-origin)?; default-src 'none'; ",
  }),
  ResourcePolicy: always("Pages of other sites must not embed it.", { const: "same-origin" }),
  Robots: always("Search engines must not list it.", { const: "noindex" }),
  Disposition: sometimes("Whether browsers show or save the file, and its name.", {
    pattern: '^(inline|attachment); filename="',
    examples: ['inline; filename="cat.jpg"'],
  }),
  SharedCacheControl: always(
    "Files: caches must revalidate them, and must not store those of links with a password or a limit. Pages: never stored.",
    { enum: ["private, no-cache", "no-store"] },
  ),
  SharedRanges: sometimes("Whether parts of the file can be requested with `Range`.", {
    enum: ["bytes", "none"],
  }),
  SharedETag: sometimes("The version of the file, for conditional requests.", {
    pattern: '^"[^"]+"$',
  }),
  SharedModified: sometimes("When this version of the file was written.", { pattern: HTTP_DATE }),
  SessionCookie: always("Stores the session in the browser, or removes it.", {
    pattern:
      "^(__Host-|__Secure-)?kvdrive_dashboard=[A-Za-z0-9]*; Path=/[^;]*; Max-Age=\\d+; HttpOnly; SameSite=Strict(; Secure)?$",
  }),
  UnlockCookie: sometimes("Opens the link in this browser for 12 hours.", {
    pattern: "^kvdrive_link=[^;]+; Path=(/[^;]+)?/s/",
  }),
  Location: sometimes("The address of the page to open.", { pattern: "^(/.+)?/s/" }),
  ContentEncoding: sometimes("The compression of the body.", { const: "gzip" }),
  UnsatisfiedRange: always("The size of the file.", { pattern: "^bytes \\*/\\d+$" }),
};

/** The headers of every response. */
const everywhere: HeaderObjects = { "X-Request-Id": header("RequestId") };

/** The headers that let pages of other origins read a response. */
export const corsHeaders: HeaderObjects = {
  "Access-Control-Allow-Origin": header("AllowOrigin"),
  "Access-Control-Expose-Headers": header("ExposeHeaders"),
  "Vary": header("Vary"),
};

/** The headers of everything that links serve. */
export const sharedHeaders: HeaderObjects = {
  "Content-Security-Policy": header("Sandbox"),
  "Cross-Origin-Opener-Policy": header("OpenerPolicy"),
  "Cross-Origin-Resource-Policy": header("ResourcePolicy"),
  "Referrer-Policy": header("ReferrerPolicy"),
  "X-Content-Type-Options": header("NoSniff"),
  "X-Frame-Options": header("FrameOptions"),
  "X-Robots-Tag": header("Robots"),
};

/** The same below `/s/`, in errors of every path. */
export const sharedErrorHeaders: HeaderObjects = Object.fromEntries(
  Object.keys(sharedHeaders).map((name) => [name, sometimes("Below `/s/`, as for links.")]),
);

/** The headers of JSON that is compressed, which browsers with a session get. */
const zippedHeaders: HeaderObjects = {
  "Content-Encoding": header("ContentEncoding"),
  "Vary": header("Vary"),
};

export function jsonResponse(
  description: string,
  schemaName: string,
  { example, headers = {} }: { example?: Json; headers?: HeaderObjects } = {},
): ResponseObject {
  const media = { schema: schema(schemaName), ...(example === undefined ? {} : { example }) };
  return {
    description,
    headers: { ...everywhere, "Cache-Control": header("NoStore"), ...zippedHeaders, ...headers },
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

/** An error response and its status. */
interface Failure {
  status: number;
  response: ResponseObject;
}

/** @param code The code of the example, whose status it has. */
function failure(
  code: ErrorCode,
  description: string,
  sentence: string,
  headers: HeaderObjects = {},
): Failure {
  const example = { errors: [sentence], code };
  const all = { ...corsHeaders, ...headers };
  const { status } = errorKind(code);
  return { status, response: jsonResponse(description, "Errors", { example, headers: all }) };
}

const retryAfter: HeaderObjects = { "Retry-After": header("RetryAfter") };

/** The errors, by their names in `components`. */
export const errors = {
  BadRequest: failure(
    "invalid_parameter",
    "The request is malformed.",
    'The query parameter "name" is missing: it is required',
    sharedErrorHeaders,
  ),
  Unauthorized: failure(
    "missing_key",
    "The credentials are missing or unknown.",
    "The X-Api-Key header is missing: send the project key",
    { "WWW-Authenticate": header("Authenticate") },
  ),
  AccessDenied: failure(
    "missing_key",
    "Access control is on, and the caller sent no key of this application.",
    "The X-API-Key header is missing: send a key of this application",
    {
      "WWW-Authenticate": header("Authenticate"),
      "Retry-After": header("RetryAfterWrongKeys"),
    },
  ),
  Forbidden: failure(
    "wrong_project",
    "The credentials are known, but do not allow this.",
    "The key in X-Api-Key is of another project than the one in the path",
  ),
  NotFound: failure(
    "file_not_found",
    "The resource does not exist.",
    'There is no file "pets/cat.jpg" in this drive',
    sharedErrorHeaders,
  ),
  MethodNotAllowed: failure(
    "method_not_allowed",
    "This path does not support this method.",
    "The method PUT is not allowed here: use GET, POST, DELETE, HEAD, OPTIONS",
    { "Allow": header("Allow"), ...sharedErrorHeaders },
  ),
  BodyTimeout: failure(
    "request_timeout",
    "The body stopped coming. The connection is closed.",
    "The body stopped coming: nothing was stored, send it again",
  ),
  Conflict: failure(
    "being_removed",
    "The request conflicts with the current state.",
    'The drive "photos" is being removed: try again',
    { "Retry-After": header("RetryAfterSome") },
  ),
  Gone: failure(
    "changes_expired",
    "Changes after the cursor are no longer kept.",
    "The changes after this cursor are no longer kept: list the drive again, " +
      'beginning with a new cursor, which a request without "since" returns',
  ),
  PreconditionFailed: failure(
    "precondition_failed",
    "A condition of the request does not hold.",
    "The file is not in the state that the conditional headers demand: nothing was changed",
  ),
  TooLarge: failure(
    "body_too_large",
    "The body is too large.",
    "The body is larger than 10485760 bytes: send larger files in parts, see POST …/uploads",
  ),
  UnsupportedMediaType: failure(
    "form_body",
    "The body is a form: nothing was stored.",
    "The body is a form (multipart/form-data): send the bytes themselves, such as with curl -X POST --data-binary @FILE or -T FILE",
  ),
  RangeNotSatisfiable: failure(
    "range_not_satisfiable",
    "The range lies outside the file.",
    "The Range header asks for bytes that a file of 26 bytes does not have",
    { "Content-Range": header("UnsatisfiedRange") },
  ),
  TooManyWrongKeys: failure(
    "too_many_wrong_keys",
    "Too many wrong keys came from this network. A correct key is still accepted.",
    "Too many wrong keys came from this network: send the right one, or wait 42 seconds",
    retryAfter,
  ),
  HeadTooLarge: failure(
    "head_too_large",
    "The head of the request is larger than 64 KiB, or has more than 256 headers. The connection is closed.",
    "The request cannot be answered: its head has more than 65536 bytes",
  ),
  ServerError: failure(
    "internal_error",
    "A defect of the server. Its log has the details under the request's id.",
    "The server failed to answer this request: its log has the details under the X-Request-Id",
  ),
  Unavailable: failure(
    "shutting_down",
    "Temporarily unavailable: the server is shutting down, its store cannot be reached, or too many uploads are running.",
    "The server is shutting down: try again",
    retryAfter,
  ),
  StorageFull: failure(
    "disk_full",
    "There is not enough space: nothing was stored.",
    "The server's disk is full: nothing was stored; delete files or ask its operator",
  ),
} as const;

/** The name of an error in `components`. */
export type ErrorName = keyof typeof errors;
