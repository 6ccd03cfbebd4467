/**
 * The description of an object in the headers of requests and responses: content type, kept headers and user metadata.
 *
 * @module
 */
import { ResponseHeaders } from "../http/responses/http_response.ts";
import { secureFile } from "../http/responses/send_file.ts";
import { contentTypeOf, contentTypeProblem, namedContentType } from "../rules/content_type.ts";
import type {
  FileRecord,
  FolderRecord,
  ObjectChecksum,
  ObjectMetadata,
} from "../store/engine/records.ts";
import { checksumHeaders } from "./object_checksum.ts";
import { objectEncoding } from "./payload/payload.ts";
import { S3Error, s3Errors } from "./s3_error.ts";
import type { Validators } from "../rules/preconditions.ts";
import { validators } from "../store/files/file_record.ts";

/** The most user metadata of an object, names and values, in bytes (Amazon's limit). */
const MAX_USER_METADATA = 2048;

/** The most of the other headers that are kept, in bytes: records are small. */
const MAX_KEPT_HEADERS = 4096;

/** The headers that are kept and sent back. The content type is the file's own. */
const KEPT = [
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "expires",
] as const;

const USER = "x-amz-meta-";

/** What an object has besides its bytes. */
export interface ObjectDescription {
  type: string;
  object: ObjectMetadata | undefined;
}

/** Reads the description of an object from the headers of a request, or from the fields of a form. @throws {S3Error} if it is too large. */
export function describeObject(headers: Headers, key: string): ObjectDescription {
  const type = namedContentType(headers.get("content-type")) ?? contentTypeOf(key);
  const problem = contentTypeProblem(type);
  if (problem !== undefined) {
    throw new S3Error("InvalidArgument", `The content type ${problem}`, {
      ArgumentName: "Content-Type",
    });
  }
  const kept = keptHeaders(headers);
  const user = userMetadata(headers);
  const object = {
    ...(kept === undefined ? {} : { headers: kept }),
    ...(user === undefined ? {} : { user }),
  };
  return { type, object: Object.keys(object).length === 0 ? undefined : object };
}

function keptHeaders(headers: Headers): Record<string, string> | undefined {
  const kept: Record<string, string> = {};
  for (const name of KEPT) {
    const sent = headers.get(name);
    const value = name === "content-encoding" ? objectEncoding(sent) : sent;
    if (value) kept[name] = value;
  }
  requireSize(kept, MAX_KEPT_HEADERS);
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function userMetadata(headers: Headers): Record<string, string> | undefined {
  const user: Record<string, string> = {};
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (lower.startsWith(USER) && lower.length > USER.length) {
      user[lower.slice(USER.length)] = value;
    }
  }
  requireSize(user, MAX_USER_METADATA);
  return Object.keys(user).length === 0 ? undefined : user;
}

function requireSize(values: Record<string, string>, max: number): void {
  const size = Object.entries(values).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    0,
  );
  if (size <= max) return;
  throw new S3Error("MetadataTooLarge", `The metadata has ${size} bytes: at most ${max} are kept`, {
    Size: String(size),
    MaxSizeAllowed: String(max),
  });
}

/** The headers of a response with an object. @param checksum Of the bytes in the response, if the caller asked for it. */
export function objectHeaders(record: FileRecord, checksum: ObjectChecksum | undefined): Headers {
  const { type, modified, object = {} } = record;
  const headers = new ResponseHeaders({
    "Content-Type": type,
    "Accept-Ranges": "bytes",
    "ETag": `"${entityTag(record)}"`,
    "Last-Modified": new Date(modified).toUTCString(),
  });
  for (const [name, value] of Object.entries(object.headers ?? {})) headers.set(name, value);
  for (const [name, value] of Object.entries(object.user ?? {})) headers.set(USER + name, value);
  for (const [name, value] of Object.entries(checksumHeaders(checksum))) headers.set(name, value);
  secureFile(headers, type);
  return headers;
}

/** Features that the server does not have. A request that asks for one is refused, as it must not seem to succeed. */
const UNSUPPORTED: readonly { header: string; what: string; allowed?: readonly string[] }[] = [
  { header: "x-amz-server-side-encryption", what: "encryption at rest" },
  { header: "x-amz-server-side-encryption-aws-kms-key-id", what: "encryption at rest" },
  { header: "x-amz-server-side-encryption-customer-algorithm", what: "encryption at rest" },
  {
    header: "x-amz-copy-source-server-side-encryption-customer-algorithm",
    what: "encryption at rest",
  },
  { header: "x-amz-object-lock-mode", what: "Object Lock" },
  { header: "x-amz-object-lock-retain-until-date", what: "Object Lock" },
  { header: "x-amz-object-lock-legal-hold", what: "Object Lock", allowed: ["OFF"] },
  { header: "x-amz-bucket-object-lock-enabled", what: "Object Lock", allowed: ["false", "False"] },
  { header: "x-amz-website-redirect-location", what: "redirects" },
  { header: "x-amz-tagging", what: "tags", allowed: [""] },
  { header: "x-amz-write-offset-bytes", what: "appending to objects" },
  { header: "x-amz-if-match-last-modified-time", what: "conditions on the time" },
  { header: "x-amz-if-match-size", what: "conditions on the size" },
  {
    header: "x-amz-acl",
    what: "access control lists",
    allowed: ["private", "bucket-owner-full-control"],
  },
  ...["read", "write", "read-acp", "write-acp", "full-control"].map((grant) => ({
    header: `x-amz-grant-${grant}`,
    what: "access control lists",
  })),
];

/** @throws {S3Error} if the headers of a request ask for something that the server does not do. */
export function refuseUnsupported(headers: Headers): void {
  for (const { header, what, allowed = [] } of UNSUPPORTED) {
    const value = headers.get(header);
    if (value !== null && !allowed.includes(value)) throw s3Errors.notImplemented(what);
  }
  const storageClass = headers.get("x-amz-storage-class") ?? "STANDARD";
  if (storageClass !== "STANDARD") {
    throw new S3Error("InvalidStorageClass", "The only storage class of this server is STANDARD");
  }
}

/** The response headers that a signed request may replace, each with its parameter. */
const OVERRIDES: readonly (readonly [parameter: string, header: string])[] = [
  ["response-content-type", "Content-Type"],
  ["response-content-language", "Content-Language"],
  ["response-expires", "Expires"],
  ["response-cache-control", "Cache-Control"],
  ["response-content-disposition", "Content-Disposition"],
  ["response-content-encoding", "Content-Encoding"],
];

/** Replaces headers of a response as the parameters ask. @throws {S3Error} if a header cannot have a value. */
export function overrideHeaders(
  headers: Headers,
  query: { one(name: string): string | undefined },
): void {
  for (const [parameter, header] of OVERRIDES) {
    const value = query.one(parameter);
    if (value === undefined) continue;
    try {
      headers.set(header, value);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw s3Errors.badArgument(parameter, value, "no header can have it");
    }
  }
  secureFile(headers, headers.get("Content-Type") ?? "");
}

/**
 * Returns the entity tag of an object, without quotes: the MD5 that S3 clients expect, if it is known. Otherwise it is the
 * version of the file with a suffix after a dash, which tells clients that it is no MD5.
 */
export function entityTag({ md5Tag, version }: Pick<FileRecord, "md5Tag" | "version">): string {
  return md5Tag ?? opaque(version);
}

/** Returns what the conditions of S3 requests are compared with. */
export function objectValidators(record: FileRecord): Validators {
  return asObject(validators(record));
}

/** Returns the validators of a file with the entity tag of its object. */
export function asObject(file: Validators): Validators {
  return { ...file, etag: file.tag ?? opaque(file.etag) };
}

/** Returns the validators of a folder's marker, which is an empty object. */
export function markerValidators({ created }: FolderRecord): Validators {
  return { etag: EMPTY_TAG, tag: EMPTY_TAG, modified: created, dateIsStrong: false };
}

function opaque(version: string): string {
  return `${version}-0`;
}

/** Returns the number of parts of an object; `undefined` if it was not sent in parts. */
export function partCount({ md5Tag, layout }: FileRecord): number | undefined {
  if (layout.kind === "manifest") return layout.parts;
  return md5Tag?.endsWith("-1") === true ? 1 : undefined;
}

/** The entity tag of an empty object: the MD5 of no bytes. */
export const EMPTY_TAG = "d41d8cd98f00b204e9800998ecf8427e";
