import { header, type HeaderObject, type HeaderObjects, type Schema } from "./types.ts";

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
  LastModified: always("When this version was written.", { pattern: HTTP_DATE }),
  FileCacheControl: always("A shared cache would not check the key.", {
    const: "private, no-cache",
  }),
  NoSniff: always("Browsers must not guess another content type.", { const: "nosniff" }),
  FilePolicy: sometimes(
    "For a file in which a browser could run scripts, such as HTML or SVG: no scripts run and nothing is loaded.",
    { const: "sandbox; default-src 'none'" },
  ),
  ReprDigest: sometimes(
    "The SHA-256 of the whole file (RFC 9530). For a file made of several parts it is available some time after completion.",
    { pattern: "^sha-256=:[A-Za-z0-9+/]{43}=:$" },
  ),
  ContentRange: always("The position of these bytes in the file, and its size.", {
    pattern: "^bytes \\d+-\\d+/\\d+$",
  }),
  KeyName: always(
    "The name of the caller's key, percent-encoded beyond ASCII. Empty for the owner, and while access control is off.",
    {},
  ),
  Revalidate: always("A cache must revalidate it before each use.", {
    const: "no-cache",
  }),
  AnyOrigin: always("Pages of every origin may read it.", { const: "*" }),
  PagePolicy: always("Only the page's own files are run or shown.", {}),
  OpenerPolicy: always("Pages that it opens cannot access it.", { const: "same-origin" }),
  ReferrerPolicy: always("Its address is not sent to other servers.", { const: "no-referrer" }),
  FrameOptions: always("No page may embed it in a frame.", { const: "DENY" }),
  ContentEncoding: sometimes("The compression of the file.", { const: "gzip" }),
  UnsatisfiedRange: always("The size of the file.", { pattern: "^bytes \\*/\\d+$" }),
};

/** The headers of every response. */
export const everywhere: HeaderObjects = { "X-Request-Id": header("RequestId") };

/** The headers that let pages of other origins read a response. */
export const corsHeaders: HeaderObjects = {
  "Access-Control-Allow-Origin": header("AllowOrigin"),
  "Access-Control-Expose-Headers": header("ExposeHeaders"),
  "Vary": header("Vary"),
};
