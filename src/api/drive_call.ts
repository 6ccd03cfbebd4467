import { authenticateForProject, type Caller, reauthenticate } from "../http/authentication.ts";
import { announcedSize, assertDigest, expectedDigest, readBody } from "../http/body.ts";
import { toHttpError } from "../http/error_response.ts";
import { errors } from "../http/http_error.ts";
import type { RequestKind } from "../http/request_context.ts";
import { decodeLeniently, decodeSegment, Query } from "../http/request_target.ts";
import { forOwner } from "../openapi/info.ts";
import { schema } from "../openapi/schemas.ts";
import type { ErrorCode } from "../rules/error_codes.ts";
import type { Access, Failures, OperationDescription } from "../openapi/operation.ts";
import { MAX_CONTENT_TYPE, namedContentType } from "../rules/content_type.ts";
import { driveNameProblem, fileNameProblem, isProjectId } from "../rules/names.ts";
import { MAX_PAYLOAD } from "../rules/payloads.ts";
import type { Rights } from "../rules/rights.ts";
import type { Actor } from "../store/accounts/events.ts";
import { NoSuchProject } from "../store/engine/errors.ts";
import type { Place } from "../store/engine/records.ts";
import type { Deps, Endpoint, Handler, RoutedRequest } from "./endpoint.ts";
import { forbiddenText, requireRights } from "./permissions.ts";

/** A request to a drive or a project's drives, whose sender is authorized. */
export interface DriveCall extends Omit<RoutedRequest, "query"> {
  project: string;
  /** Empty if the route has none. */
  drive: string;
  /** The id of the upload or the link; empty if the route has none. */
  id: string;
  query: Query;
  /**
   * The rights of the sender, who has the permissions that the operation needs, and access to `drive`. Each name that is
   * not from `placeOf`, and each other drive, is the handler's to check.
   */
  rights: Rights;
  caller: Caller;
  /** Returns who makes a change, for the audit log. */
  actor: () => Actor;
  /**
   * Checks the sender's credentials again. To be called right before the body is stored; `Fields.read` does it.
   *
   * @throws {HttpError} 401 if the key or token was revoked or has expired since the request arrived.
   */
  reauthorize: () => Promise<void>;
}

/** Handles a request whose sender is authorized. */
export type DriveHandler = (call: DriveCall, deps: Deps) => Promise<Response>;

const DRIVE_ACCESS: Access = {
  security: forOwner,
  allowsCors: true,
  failures: {
    Unauthorized: "The key is missing or unknown.",
    NotFound: "The project does not exist (only the administrator gets this response).",
    TooManyWrongKeys: "Too many wrong keys came from this network.",
  },
};

/** The errors of an operation that writes to a drive. */
export const writeFailures: Failures = {
  Conflict: "The drive is being removed.",
  StorageFull: "The disk is full, or the project's limit would be exceeded: nothing was stored.",
};

/** The error of an operation whose `Content-Type` is that of a file. */
export const typeFailures: Failures = {
  UnsupportedMediaType: "The body is `multipart/form-data`: nothing was stored.",
};

/** The errors of an operation that stores its body. */
export const bodyFailures: Failures = {
  ...typeFailures,
  BodyTimeout: "The body stopped coming, or came too slowly: nothing was stored.",
  TooLarge: `The body is larger than ${MAX_PAYLOAD} bytes.`,
  Unavailable:
    "Too many uploads are running, of the project or of all; the server is shutting down, or its store cannot be reached.",
};

/** An endpoint of the file API, for the project's owner and the administrator. */
export function driveEndpoint(
  operation: OperationDescription,
  handle: DriveHandler,
  kind: RequestKind = "other",
): Endpoint {
  const failures = { ...DRIVE_ACCESS.failures, Forbidden: forbiddenText(operation.id) };
  const access = { ...DRIVE_ACCESS, failures };
  return { operation, access, handle: authorized(operation.id, handle), kind };
}

/** Checks the key before the parameters, and these before the body ("order of checks"). */
function authorized(operation: string, handler: DriveHandler): Handler {
  return async (routed, deps) => {
    // A project id that cannot be decoded belongs to no key: that is 403, before its form is checked.
    const project = decodeLeniently(routed.params["project"] ?? "");
    const sender = await authorize(routed, project, deps);
    routed.context.project = project;
    requireRights(operation, sender.caller.rights);
    try {
      return await handler(driveCallOf(routed, project, sender), deps);
    } catch (error) {
      // The owner of a project that was just deleted gets the response to an unknown key.
      throw sender.caller.isAdministrator && error instanceof NoSuchProject
        ? errors.projectNotFound(project)
        : error;
    }
  };
}

/**
 * Requires a key of the project, the administrator's token, or a session with one of them.
 *
 * @throws {HttpError} 401, 403 or 429 as for keys; 404 if the administrator names a project that does not exist.
 */
async function authorize(
  { request: { headers }, address, context }: RoutedRequest,
  project: string,
  { administrator, store, wrongKeys }: Deps,
): Promise<Pick<DriveCall, "caller" | "reauthorize">> {
  const auth = { administrator, store, wrongKeys, address, context };
  const caller = await authenticateForProject(headers, project, auth);
  if (caller.isAdministrator) {
    const exists = isProjectId(project) && await store.projects.get(project) !== undefined;
    if (!exists) throw errors.projectNotFound(project);
  }
  return { caller, reauthorize: () => reauthenticate(caller, auth) };
}

function driveCallOf(
  routed: RoutedRequest,
  project: string,
  { caller, reauthorize }: Pick<DriveCall, "caller" | "reauthorize">,
): DriveCall {
  const { address, context, params, query } = routed;
  const { rights } = caller;
  return {
    ...routed,
    actor: () => ({ by: context.key ?? "", address: address() }),
    project,
    drive: params["drive"] === undefined ? "" : driveOf(params["drive"], rights),
    id: decodeSegment(params["id"] ?? params["link"] ?? ""),
    query: new Query(query),
    caller,
    rights,
    reauthorize,
  };
}

/**
 * Decodes a drive's name.
 *
 * @throws {HttpError} 400 if it is not a valid one.
 * @throws {RightMissing} if the key is not for this drive.
 */
function driveOf(segment: string, rights: Rights): string {
  const drive = decodeSegment(segment);
  const problem = driveNameProblem(drive);
  if (problem !== undefined) throw errors.badDriveName(problem);
  rights.requireDrive(drive);
  return drive;
}

/**
 * The file that the parameter `name` names.
 *
 * @throws {HttpError} 400 if it is missing or not a valid name.
 * @throws {RightMissing} if the key is not for this name.
 */
export function placeOf({ project, drive, query, rights }: DriveCall): Place {
  const name = query.required("name");
  const problem = fileNameProblem(name);
  if (problem !== undefined) throw errors.badFileName(problem);
  rights.requireName(name);
  return { project, drive, name };
}

/** What `curl -F` and forms of pages send. */
const FORM = /^multipart\/form-data\b/i;

/**
 * The content type that a request gives its file; `undefined` if it counts as absent.
 *
 * @throws {HttpError} 400 if it is too long, 415 if the body is a form with the file in it.
 */
export function typeOf({ request }: DriveCall): string | undefined {
  const type = namedContentType(request.headers.get("content-type"));
  if (type !== undefined && FORM.test(type)) throw errors.fileInForm();
  if (type !== undefined && type.length > MAX_CONTENT_TYPE) {
    throw errors.badContentType(MAX_CONTENT_TYPE);
  }
  return type;
}

/** The body of a request that is to be stored. */
export interface UploadBody {
  bytes: AsyncIterable<Uint8Array>;
  /** `Content-Length`, if there is one. */
  announced: number | undefined;
  /**
   * To be called with the SHA-256 of the received bytes right before they are published.
   *
   * @throws {HttpError} 400 if `Content-Digest` does not match, 401 if the sender's key was revoked.
   */
  accept: (received: { sha256: string }) => Promise<void>;
}

/**
 * Checks the headers of a body that is to be stored. Nothing is read before its bytes are iterated.
 *
 * @throws {HttpError} 400 if `Content-Digest` is malformed, 413 if the body is announced too large.
 */
export function uploadBody(
  { request, context, reauthorize }: DriveCall,
  { idleTimeout, uploadPace }: Deps,
): UploadBody {
  const digest = expectedDigest(request.headers);
  const announced = announcedSize(request.headers, MAX_PAYLOAD);
  const limits = { limit: MAX_PAYLOAD, idle: idleTimeout, pace: uploadPace, context };
  const accept = async ({ sha256 }: { sha256: string }) => {
    assertDigest(digest, sha256);
    await reauthorize();
  };
  return { bytes: readBody(request, limits), announced, accept };
}

/** Why an item of a call failed, as `failed` lists have it. */
export interface ItemFailure {
  error: string;
  code: ErrorCode;
}

/** The schema of `ItemFailure`'s fields. */
export const failureFields = {
  error: { type: "string", minLength: 1 },
  code: schema("ErrorCode"),
} as const;

/** Returns why an item of a call failed although the call continues. Defects are reported. */
export function itemFailure(
  error: unknown,
  { requestId }: DriveCall,
  { onError }: Pick<Deps, "onError">,
): ItemFailure {
  const { status, cause, message, code } = toHttpError(error);
  if (status >= 500 && cause !== undefined) onError(cause, requestId);
  return { error: message, code };
}
