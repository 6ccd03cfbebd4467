import { announcedSize, readBody } from "../../http/body.ts";
import { HttpError } from "../../http/http_error.ts";
import { preconditionsOf } from "../../http/responses/send_file.ts";
import { storeBody } from "../../http/store_body.ts";
import { contentTypeOf, contentTypeProblem, namedContentType } from "../../rules/content_type.ts";
import { utcTime } from "../../rules/dates.ts";
import { allowsWrite, type Validators } from "../../rules/preconditions.ts";
import { CHUNK_SIZE, type FileRecord, type Place } from "../../store/engine/records.ts";
import { validators } from "../../store/files/file_record.ts";
import type { Beside } from "../../store/files/file_reader.ts";
import type { DavCall, DavDeps } from "../dav_call.ts";
import { DavError, davErrors } from "../dav_error.ts";
import { holderOf, requireTokens } from "../locks/guard.ts";
import type { Holder } from "../locks/lock_rules.ts";
import { emptyResponse } from "../responses.ts";
import { noBytes, refuseJunk, writtenPlace } from "../resource.ts";

/** The largest file, in bytes: that of S3. */
const MAX_BODY = 5 * 2 ** 40;

/** `PUT`: stores a file. */
export async function put(call: DavCall, deps: DavDeps): Promise<Response> {
  const { request: { headers } } = call;
  // "An origin server SHOULD respond with a 400 … to any PUT request that has a Content-Range" (RFC 9110, 14.5).
  if (headers.has("content-range")) {
    throw davErrors.badRequest("A part of a file cannot be stored: leave Content-Range out");
  }
  const place = { ...await writtenPlace(call, deps, call.path), needsDrive: true };
  refuseJunk(deps, place);
  const condition = writeCondition(call);
  const target = requireTarget(call, deps, place, condition);
  // A small body is received in less time than a look at the store takes.
  if (!isSmall(headers)) await deps.store.files.reader.readForWrite(place, target.beside);
  const mtime = mtimeOf(headers);
  const stored = await storeFile(call, deps, place, { mtime, condition, beside: target.beside });
  const taken: Record<string, string> = mtime === undefined ? {} : { "X-OC-MTime": "accepted" };
  const status = target.isNew() ? 201 : 204;
  return emptyResponse(status, { ...taken, "ETag": `"${stored.version}"` });
}

/** Whether a body is small, and sent without waiting for `100 Continue`. */
function isSmall(headers: Headers): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= CHUNK_SIZE && !headers.has("expect");
}

/** What is required of the name that a file is written to, each time that the name is looked at. */
interface WrittenTarget {
  beside: Beside;
  /** Returns whether there was no file when it was last looked at. */
  isNew: () => boolean;
}

function requireTarget(
  call: DavCall,
  deps: DavDeps,
  place: Place,
  condition: (current: Validators | undefined) => boolean,
): WrittenTarget {
  let isNew = false;
  // A lock may end while the body is received: the header `If` is evaluated once.
  let holder: Holder | undefined;
  const beside = deps.store.besides(place, async (record, around) => {
    isNew = record === undefined;
    if (isNew && await around.isFolder()) throw noBytes();
    if (!condition(record && validators(record))) throw refused();
    if (isNew && !await around.hasParent()) throw davErrors.noParent();
    holder ??= await holderOf(
      call,
      deps,
      record === undefined
        ? { kind: "absent", place, isFolder: false }
        : { kind: "file", place, record },
    );
    const { drive, name } = place;
    const change = { drive, name, changesFolder: isNew, isDeep: false };
    requireTokens(call, deps, holder, around.locks, change);
  });
  return { beside, isNew: () => isNew };
}

/** Returns a function that evaluates the conditional headers of a write on the current file. */
export function writeCondition(
  { request }: DavCall,
): (current: Validators | undefined) => boolean {
  const conditions = preconditionsOf(request);
  return (current) => allowsWrite(conditions, current);
}

/** The error of a write whose conditional headers do not hold. */
export function refused(): DavError {
  return davErrors.preconditionFailed(
    "The file is not in the state that the conditional headers require: nothing was changed",
  );
}

async function storeFile(
  call: DavCall,
  deps: DavDeps,
  place: Place,
  how: {
    mtime: number | undefined;
    condition: (current: Validators | undefined) => boolean;
    beside: Beside;
  },
): Promise<FileRecord> {
  const { request, context, project } = call;
  const { idleTimeout: idle, uploadPace: pace } = deps;
  const type = namedContentType(request.headers.get("content-type"));
  const typeProblem = type && contentTypeProblem(type);
  if (typeProblem) throw davErrors.badRequest(`The content type ${typeProblem}`);
  const tooLarge = (limit: number) =>
    new HttpError("body_too_large", davErrors.tooLarge(limit).message);
  const announced = announcedSize(request.headers, MAX_BODY, tooLarge);
  const bytes = readBody(request, { limit: MAX_BODY, idle, pace, tooLarge, context });
  const stored = await storeBody(
    project,
    deps,
    { announced, bytes },
    (bytes) =>
      deps.store.files.put(place, bytes, {
        type: type ?? contentTypeOf(place.name),
        ...how,
        // "Properties defined on an existing resource … are not otherwise affected" by a PUT (RFC 4918, 9.7.1).
        keepsProperties: true,
        announced,
        maxSize: MAX_BODY,
        accept: call.reauthorize,
      }),
  );
  if (stored === "refused") throw refused();
  return stored;
}

/** Seconds since 1970, which clients of ownCloud and Nextcloud send. */
const SECONDS = /^-?\d{1,12}(?:\.\d+)?$/;

/** When the client's own copy was last modified, in milliseconds since 1970, if other clients can be told it. */
function mtimeOf(headers: Headers): number | undefined {
  const text = headers.get("x-oc-mtime");
  if (text === null || !SECONDS.test(text)) return undefined;
  const time = Math.floor(Number(text) * 1000);
  return utcTime(time) === undefined ? undefined : time;
}
