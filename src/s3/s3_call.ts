import { concat } from "@std/bytes/concat";
import { createHash } from "node:crypto";
import type { RequestContext } from "../http/request_context.ts";
import type { Query } from "../http/request_target.ts";
import type { ServerParts } from "../http/server_parts.ts";
import { storeBody as storeAnyBody } from "../http/store_body.ts";
import { fileNameProblem, folderNameProblem } from "../rules/names.ts";
import type { Rights } from "../rules/rights.ts";
import type { Actor } from "../store/accounts/events.ts";
import type { Place } from "../store/engine/records.ts";
import type { Verified } from "./auth/signature.ts";
import { openPayload, type Payload, type PayloadOptions } from "./payload/payload.ts";
import { S3Error, s3Errors } from "./s3_error.ts";
import { BadXml, readXml, type XmlNode } from "../xml/xml_reader.ts";

/** What the S3 API needs from the program. */
export interface S3Deps extends ServerParts {
  /** The domain under which buckets have host names, in lower case; absent if there is none. */
  domain: string | undefined;
}

/** A request whose signature is valid. */
export interface S3Call {
  request: Request;
  /** Those of the request and, if it is presigned, those in its query. */
  headers: Headers;
  requestId: string;
  /** The project of the access key. */
  project: string;
  /** Empty for a request about all buckets. */
  bucket: string;
  /** Empty for a request about a bucket. */
  key: string;
  query: Query;
  /** The rights of the access key, which has the permissions of the operation, and access to the bucket. */
  rights: Rights;
  verified: Pick<Verified<unknown>, "payload" | "signing">;
  context: RequestContext;
  /** Returns the address that the client used, such as `https://s3.example.com`. */
  origin: () => string;
  /** Returns who makes a change, for the audit log. */
  actor: () => Actor;
  /**
   * Checks the access key again. To be called right before a body is stored.
   *
   * @throws {S3Error} if it was revoked or has expired since the request arrived.
   */
  reauthorize: () => Promise<void>;
}

/** The largest object that is sent in one request, and the largest part, in bytes (Amazon's limits). */
export const MAX_OBJECT_BODY = 5 * 2 ** 30;

/** The largest object, in bytes (Amazon's limit). */
export const MAX_OBJECT = 5 * 2 ** 40;

/** The largest XML of a request, in bytes: 1000 keys of 1024 bytes, each of which may be written as a reference. */
const MAX_XML = 8 * 2 ** 20;

/** Whether a key is that of a folder's marker. */
export function isFolder(key: string): boolean {
  return key.endsWith("/");
}

/**
 * Returns the place of an object or of a folder's marker.
 *
 * @throws {S3Error} if the key cannot be a name here.
 * @throws {RightMissing} if the access key is not for this name.
 */
export function placeOf(
  { project, bucket, rights }: Pick<S3Call, "project" | "bucket" | "rights">,
  key: string,
): Place {
  const problem = isFolder(key) ? folderNameProblem(key) : fileNameProblem(key);
  if (problem !== undefined) {
    throw new S3Error("InvalidArgument", `The key ${problem}`, { ArgumentName: "Key" });
  }
  rights.requireName(key);
  return { project, drive: bucket, name: key, needsDrive: true };
}

/** @throws {S3Error} if the bucket of a request does not exist. */
export async function requireBucket(
  { project, bucket }: Pick<S3Call, "project" | "bucket">,
  { store }: S3Deps,
): Promise<void> {
  if (!await store.projects.hasDrive(project, bucket)) throw s3Errors.noSuchBucket(bucket);
}

/** The error for a key without an object: `NoSuchKey`, or `NoSuchBucket` if its bucket does not exist either. */
export async function absentError(call: S3Call, deps: S3Deps): Promise<S3Error> {
  const exists = await deps.store.projects.hasDrive(call.project, call.bucket);
  return exists ? s3Errors.noSuchKey(call.key) : s3Errors.noSuchBucket(call.bucket);
}

/** How the body of a request is read, beside the limits of the server. */
type BodyOptions = Partial<Pick<PayloadOptions, "limit" | "compute" | "hasChecksum">>;

/** Opens the body of a request that is to be stored: nothing is read before its bytes are iterated. */
export function bodyOf(call: S3Call, deps: S3Deps, options: BodyOptions = {}): Payload {
  const { request, verified, context } = call;
  return openPayload(request, verified, {
    limit: MAX_OBJECT_BODY,
    ...options,
    idle: deps.idleTimeout,
    pace: deps.uploadPace,
    context,
  });
}

/**
 * Stores a body: waits for an upload slot of the project, and reserves space on the disk for the body first.
 *
 * @param work Reads the bytes that it is given.
 * @throws {S3Error} if the size of the body is not announced.
 * @throws {HttpError} 503 if no slot becomes free in time.
 * @throws {StoreFull} if the disk has not enough space.
 */
export async function storeBody<T>(
  { project }: S3Call,
  deps: S3Deps,
  body: Pick<Payload, "announced" | "bytes">,
  work: (bytes: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  if (body.announced === undefined) {
    throw new S3Error("MissingContentLength", "The request needs the header Content-Length");
  }
  return await storeAnyBody(project, deps, body, work);
}

/** Bytes of memory for each byte of a body: for its text, and for what is parsed from it. */
const TEXT_MEMORY = 3;

/**
 * Checks the digests of a request's body and passes it to `use` as text. A body can take long, so the access key is
 * checked again as well. Memory is held until `use` is done.
 *
 * @throws {S3Error}
 */
export async function withText<T>(
  call: S3Call,
  deps: S3Deps,
  options: BodyOptions,
  use: (text: string) => Promise<T>,
): Promise<T> {
  const payload = bodyOf(call, deps, { ...options, limit: MAX_XML });
  const { announced = 0 } = payload;
  using memory = await deps.store.memory.json.reserve(call.project, TEXT_MEMORY * announced);
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of payload.bytes) {
    size += piece.byteLength;
    if (size > announced) await memory.extend(TEXT_MEMORY * piece.byteLength);
    pieces.push(piece);
  }
  const bytes = concat(pieces);
  payload.finish({ size, sha256: createHash("sha256").update(bytes).digest("base64") });
  await call.reauthorize();
  return await use(decode(bytes));
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new S3Error("MalformedXML", "The body is not UTF-8");
  }
}

/**
 * Reads the body of a request as a document. Memory is held until `use` is done.
 *
 * @param options.root The name of its root.
 * @param options.maxElements The most elements that it may have.
 * @param parse Returns what the document says; it may throw `BadXml`.
 * @throws {S3Error} if it is another document.
 */
export async function withDocument<D, T>(
  call: S3Call,
  deps: S3Deps,
  { root, maxElements, ...options }: BodyOptions & { root: string; maxElements: number },
  parse: (document: XmlNode) => D,
  use: (said: D) => Promise<T>,
): Promise<T> {
  return await withText(call, deps, options, (text) => {
    try {
      return use(parse(readXml(text, root, maxElements)));
    } catch (error) {
      if (!(error instanceof BadXml)) throw error;
      throw new S3Error("MalformedXML", `The XML of the body ${error.message}`);
    }
  });
}
