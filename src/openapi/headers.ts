import { MAX_WRONG_KEYS } from "../http/network/wrong_keys.ts";
import { header, type HeaderObject, type HeaderObjects, type Schema } from "./types.ts";

/** "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7). */
const HTTP_DATE =
  "^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \\d\\d [A-Z][a-z]{2} \\d{4} \\d\\d:\\d\\d:\\d\\d GMT$";

function always(description: string, schema: Schema): HeaderObject {
  return { description, required: true, schema: { type: "string", ...schema } };
}

function sometimes(description: string, schema: Schema = {}): HeaderObject {
  return { description, schema: { type: "string", ...schema } };
}

/** The headers of answers, by their names in `components`. */
export const headers: Readonly<Record<string, HeaderObject>> = {
  RequestId: always(
    "The id that the caller sent, if it was a sane one, else one of the server's. The log has it beside every error.",
    {
      pattern: "^[A-Za-z0-9._~:@/+=-]{1,128}$",
      examples: ["3f2b8a52-6a0e-4c2c-9a54-3e0a5d2d9b11"],
    },
  ),
  NoStore: always("The answer is about one moment and one caller: nothing on the way keeps it.", {
    const: "no-store",
  }),
  AllowOrigin: sometimes(
    "The origins whose pages may read the answer: all, unless the server was told some; then the asking one, if it is of those.",
    { examples: ["*"] },
  ),
  ExposeHeaders: sometimes("The headers that pages may read.", {
    examples: ["ETag, Content-Range, Content-Length, Accept-Ranges, Last-Modified, X-Request-Id"],
  }),
  Vary: sometimes("What in the request the answer depends on.", { examples: ["Origin"] }),
  AllowMethods: sometimes("To a preflight: the methods that this path answers."),
  AllowHeaders: sometimes("To a preflight: the headers that pages may send."),
  PreflightMaxAge: sometimes("To a preflight: for how many seconds it holds.", {
    pattern: "^\\d+$",
  }),
  Allow: always("The methods that this path answers.", {
    pattern: "^[A-Z]+(, [A-Z]+)*$",
    examples: ["GET, POST, DELETE, HEAD, OPTIONS"],
  }),
  Authenticate: always("Which credentials are asked for.", {
    enum: [
      'ApiKey realm="kvdrive"',
      'Bearer realm="kvdrive", ApiKey realm="kvdrive"',
      'Bearer realm="kvdrive"',
    ],
  }),
  RetryAfter: always("After how many seconds to try again.", { pattern: "^[1-9]\\d*$" }),
  RetryAfterSome: sometimes("After how many seconds to try again, where that helps.", {
    pattern: "^[1-9]\\d*$",
  }),
  RetryAfterWrongKeys: sometimes(
    `For how many seconds wrong keys of the caller's network are refused, after ${MAX_WRONG_KEYS} of them. A right key passes.`,
    { pattern: "^[1-9]\\d*$" },
  ),
  AcceptRanges: always("Parts of the file can be asked for with `Range`.", { const: "bytes" }),
  ETag: always("The version of the file, for conditions.", {
    pattern: '^"[^"]+"$',
    examples: ['"01J9Z3NDEKTSV4RRFFQ69G5FAV"'],
  }),
  LastModified: always("When this version was written.", { pattern: HTTP_DATE }),
  FileCacheControl: always("A cache on the way would not ask for the key.", {
    const: "private, no-cache",
  }),
  NoSniff: always("Browsers take the content type as it is told.", { const: "nosniff" }),
  FilePolicy: sometimes(
    "Of a file in which a browser could run scripts, such as HTML or SVG: it runs none, and loads nothing.",
    { const: "sandbox; default-src 'none'" },
  ),
  ReprDigest: sometimes(
    "The SHA-256 of the whole file (RFC 9530). A file made of several parts has it a while after its completion.",
    { pattern: "^sha-256=:[A-Za-z0-9+/]{43}=:$" },
  ),
  ContentRange: always("Which bytes of how many these are.", { pattern: "^bytes \\d+-\\d+/\\d+$" }),
  KeyName: always(
    "The name of the key that called, percent-encoded beyond ASCII. Empty for the owner, and while everyone gets in.",
    {},
  ),
  AskAgain: always("Who keeps it asks each time whether it is still the same.", {
    const: "no-cache",
  }),
  AnyOrigin: always("Pages of every origin may read it.", { const: "*" }),
  PagePolicy: always("Nothing but the page's own files runs or is shown.", {}),
  OpenerPolicy: always("No page that it opens can reach it.", { const: "same-origin" }),
  ReferrerPolicy: always("No other server learns its address.", { const: "no-referrer" }),
  FrameOptions: always("No page may frame it.", { const: "DENY" }),
  ContentEncoding: sometimes("How the file is packed.", { const: "gzip" }),
  UnsatisfiedRange: always("How many bytes the file has.", { pattern: "^bytes \\*/\\d+$" }),
};

/** What every answer has. */
export const everywhere: HeaderObjects = { "X-Request-Id": header("RequestId") };

/** What lets pages read an answer, if they may. */
export const forPages: HeaderObjects = {
  "Access-Control-Allow-Origin": header("AllowOrigin"),
  "Access-Control-Expose-Headers": header("ExposeHeaders"),
  "Vary": header("Vary"),
};
