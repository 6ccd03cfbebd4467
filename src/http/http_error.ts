import { MAX_PAYLOAD } from "../rules/payloads.ts";
import { StoreFull } from "../store/disk/disk_space.ts";
import {
  AccessIsOff,
  AlreadyExists,
  BeingDeleted,
  isDiskFailure,
  MemoryExhausted,
  NoSuchApp,
  NoSuchProject,
  QuotaExceeded,
  StoreUnavailable,
  TooManyOpenUploads,
  type UploadProblem,
  UploadRefused,
} from "../store/engine/errors.ts";
import { json } from "./json_response.ts";

/** What `Retry-After` says with 503, in seconds. */
const RETRY_AFTER = 1;

/** An answer that is not what the caller asked for. The message is for the caller, the cause for our log. */
export class HttpError extends Error {
  override readonly name = "HttpError";

  constructor(
    readonly status: number,
    message: string,
    readonly headers: Record<string, string> = {},
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** How much of what a caller sent a sentence repeats. */
const QUOTED = 200;

function quote(value: string): string {
  return JSON.stringify(value.length > QUOTED ? `${value.slice(0, QUOTED)}…` : value);
}

/** Names as a sentence has them: `"name" and "host"`. */
function listed(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(" and ");
}

/** Who administers comes in by one of two. */
const bothWays = { "WWW-Authenticate": 'Bearer realm="kvdrive", ApiKey realm="kvdrive"' };

/** How metrics are asked for. */
const tokenAsked = { "WWW-Authenticate": 'Bearer realm="kvdrive"' };

/** How callers of an application come in. */
const keyAsked = { "WWW-Authenticate": 'ApiKey realm="kvdrive"' };

const retryLater = { "Retry-After": String(RETRY_AFTER) };

/** Every error that a caller can get. Each sentence tells what was wrong and what would be right. */
export const errors = {
  badHost: () => new HttpError(400, "The Host header is not a host name with an optional port"),
  badForwardedHost: () =>
    new HttpError(
      400,
      "The X-Forwarded-Host header is not a host name with an optional port: the proxy has to set it",
    ),
  badEncoding: (where: string) =>
    new HttpError(
      400,
      `The ${where} is not percent-encoded UTF-8: write "%" as "%25" and other bytes as UTF-8`,
    ),
  missingParameter: (name: string) =>
    new HttpError(400, `The query parameter "${name}" is missing: it is required`),
  repeatedParameter: (name: string) =>
    new HttpError(400, `The query parameter "${name}" is given more than once: give it once`),
  badParameter: (name: string, value: string, wanted: string) =>
    new HttpError(400, `The query parameter "${name}" is ${quote(value)}: it must be ${wanted}`),
  badFileName: (problem: string) => new HttpError(400, `The file name ${problem}`),
  badDriveName: (problem: string) => new HttpError(400, `The drive name ${problem}`),
  badContentType: (limit: number) =>
    new HttpError(
      400,
      `The Content-Type header is too long: at most ${limit} characters are allowed`,
    ),
  badDigest: () =>
    new HttpError(400, "The Content-Digest header must be like sha-256=:<base64 of 32 bytes>:"),
  digestMismatch: () =>
    new HttpError(
      400,
      "The body does not have the SHA-256 that Content-Digest names: nothing was stored, send it again",
    ),
  badJson: (problem: string) =>
    new HttpError(400, `The body must be a JSON object like {"names": ["a.txt"]}: ${problem}`),
  badObject: (fields: readonly string[], problem: string) =>
    new HttpError(400, `The body must be a JSON object with ${listed(fields)}: ${problem}`),
  unknownField: (name: string, fields: readonly string[]) =>
    new HttpError(400, `The field ${quote(name)} is not known here: there is ${listed(fields)}`),
  nothingToChange: (fields: readonly string[]) =>
    new HttpError(400, `The body names nothing to change: there is ${listed(fields)}`),
  missingField: (name: string) =>
    new HttpError(400, `The field "${name}" is missing: it is required`),
  badField: (name: string, problem: string) => new HttpError(400, `The field "${name}" ${problem}`),
  badNames: (problem: string) =>
    new HttpError(400, `The names to delete must be 1 to 1000 strings: ${problem}`),
  incompleteBody: (cause?: unknown) =>
    new HttpError(
      400,
      "The body ended before it was complete: nothing was stored, send it again",
      {},
      cause,
    ),
  badParts: (problem: string) => new HttpError(400, problem),
  uploadNameMismatch: (message: string) => new HttpError(400, message),

  missingKey: () =>
    new HttpError(401, "The X-Api-Key header is missing: send the project key", {
      "WWW-Authenticate": 'ApiKey realm="kvdrive"',
    }),
  unknownKey: () =>
    new HttpError(401, "The key in X-Api-Key is not known: send the project key", {
      "WWW-Authenticate": 'ApiKey realm="kvdrive"',
    }),
  revokedKey: () =>
    new HttpError(
      401,
      "The key in X-Api-Key was revoked while the body was received: nothing was stored, send another key",
      { "WWW-Authenticate": 'ApiKey realm="kvdrive"' },
    ),
  missingCredentials: () =>
    new HttpError(
      401,
      "The credentials are missing: send the administrator's token as Authorization: Bearer, or the project key as X-Api-Key",
      bothWays,
    ),
  unknownToken: () =>
    new HttpError(
      401,
      "The token in Authorization is not the administrator's: send that, or leave it out and send the project key as X-Api-Key",
      bothWays,
    ),
  missingMetricsToken: () =>
    new HttpError(
      401,
      "The token is missing: send the one for metrics, or the administrator's, as Authorization: Bearer",
      tokenAsked,
    ),
  unknownMetricsToken: () =>
    new HttpError(
      401,
      "The token in Authorization is neither the one for metrics nor the administrator's: send one of them",
      tokenAsked,
    ),
  tooManyWrongKeys: (wait: number) =>
    new HttpError(
      429,
      `Too many wrong keys came from this network: send the right one, or wait ${wait} seconds`,
      { "Retry-After": String(wait) },
    ),
  wrongProject: () =>
    new HttpError(403, "The key in X-Api-Key is of another project than the one in the path"),
  administratorOnly: () =>
    new HttpError(
      403,
      "A project key does not allow this: send the administrator's token as Authorization: Bearer",
    ),
  upstreamNotAllowed: () =>
    new HttpError(
      403,
      'The upstream is the administrator\'s to set, as it says where this server connects to: leave "upstream" out',
    ),
  hostNotAllowed: (suffix: string | undefined) =>
    new HttpError(
      403,
      suffix === undefined
        ? 'Host names are the administrator\'s to set: leave "host" out, or ask for a suffix below which you may choose'
        : `A project key may only set a "host" below ${suffix}: choose such a name, or leave "host" out`,
    ),

  routeNotFound: () =>
    new HttpError(
      404,
      "There is nothing at this path: the API is at /v1/{project_id}/{drive_name}/files and …/uploads, its administration at /admin/v1/projects, and the dashboard at /",
    ),
  fileNotFound: (name: string) =>
    new HttpError(404, `There is no file ${quote(name)} in this drive`),
  projectNotFound: (project: string) => new HttpError(404, `There is no project ${quote(project)}`),
  driveNotFound: (drive: string) =>
    new HttpError(404, `There is no drive ${quote(drive)} in this project`),
  projectKeyNotFound: (prefix: string) =>
    new HttpError(404, `There is no key with the prefix ${quote(prefix)} in this project`),
  appNotFound: (app: string) =>
    new HttpError(404, `There is no application ${quote(app)} in this project`),
  appKeyNotFound: (name: string) =>
    new HttpError(404, `There is no key ${quote(name)} of this application`),
  uploadNotFound: (message: string) => new HttpError(404, message),
  methodNotAllowed: (method: string, allow: string) =>
    new HttpError(405, `The method ${method} is not allowed here: use ${allow}`, { Allow: allow }),
  bodyTimeout: () =>
    new HttpError(408, "The body stopped coming: nothing was stored, send it again", {
      Connection: "close",
    }),
  bodyTooSlow: () =>
    new HttpError(408, "The body came too slowly: nothing was stored, send it again", {
      Connection: "close",
    }),
  uploadCompleted: (message: string) => new HttpError(409, message),
  conflict: (message: string) => new HttpError(409, message),
  driveBeingRemoved: (drive: string) =>
    new HttpError(409, `The drive ${quote(drive)} is being removed: try again`, retryLater),
  preconditionFailed: () =>
    new HttpError(
      412,
      "The file is not in the state that the conditional headers demand: nothing was changed",
    ),
  payloadTooLarge: (limit = MAX_PAYLOAD) =>
    new HttpError(
      413,
      `The body is larger than ${limit} bytes: send larger files in parts, see POST …/uploads`,
    ),
  jsonTooLarge: (limit: number) =>
    new HttpError(413, `The body is larger than ${limit} bytes: send the fields alone`),
  rangeNotSatisfiable: (size: number) =>
    new HttpError(
      416,
      `The Range header asks for bytes that a file of ${size} bytes does not have`,
      {
        "Content-Range": `bytes */${size}`,
      },
    ),

  malformed: (status: number, problem: string) =>
    new HttpError(status, `The request cannot be answered: ${problem}`),
  serverFull: () => new HttpError(503, "Too many clients are connected: try again", retryLater),
  badMessage: (status: number, problem: string) =>
    new HttpError(
      status,
      `The request cannot be passed on: ${problem}`,
      status === 405 ? { Allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" } : {},
    ),
  dotSegments: () =>
    new HttpError(
      400,
      'The path has a backslash, or a segment "." or "..": write it without them',
    ),
  badSignIn: () =>
    new HttpError(400, 'The form must have the project key in "key": use the sign-in page'),
  missingAppKey: () =>
    new HttpError(401, "The X-API-Key header is missing: send a key of this application", keyAsked),
  crossOriginSession: () =>
    new HttpError(
      401,
      "The session of this browser counts for requests from the application's own pages: send a key in X-API-Key",
      keyAsked,
    ),
  unknownAppKey: (wait?: number) =>
    new HttpError(
      401,
      "The key in X-API-Key does not open this application: send one of its own",
      wait === undefined ? keyAsked : { ...keyAsked, "Retry-After": String(wait) },
    ),
  crossOriginForm: () =>
    new HttpError(403, "The form was not sent by the sign-in page here: open it and use that"),
  hostNotFound: () =>
    new HttpError(
      404,
      "There is no application here: one is at its own host name, or at /{project_id}/{app}/ under an IP address, localhost or a name in --apps-host",
    ),
  gatePageNotFound: () =>
    new HttpError(
      404,
      "There is nothing here: the pages of the gate are /.kvdrive/sign-in and /.kvdrive/sign-out",
    ),
  requestTimeout: () =>
    new HttpError(408, "The request stopped coming: send it again", { Connection: "close" }),
  signInTooLarge: (limit: number) =>
    new HttpError(413, `The form has more than ${limit} bytes: use the sign-in page`),
  upstreamMissing: () =>
    new HttpError(502, "The application has no upstream yet: its administrator has to set one"),
  upstreamUnreachable: () =>
    new HttpError(502, "The application cannot be reached: try again later"),
  upstreamForbidden: () =>
    new HttpError(
      502,
      "The application is at an address that this server does not connect to: its administrator has to change or allow it",
    ),
  upstreamInvalidResponse: () =>
    new HttpError(502, "The application gave an answer that is not of HTTP/1.1"),
  gateFull: () => new HttpError(503, "Too many callers are connected: try again", retryLater),
  upstreamTimeout: () =>
    new HttpError(504, "The application did not answer in time: try again later"),

  internalError: (cause: unknown) =>
    new HttpError(
      500,
      "The server failed to answer this request: its log has the details under the X-Request-Id",
      {},
      cause,
    ),
  storeUnavailable: (cause: unknown) =>
    new HttpError(503, "The store cannot be reached right now: try again", retryLater, cause),
  databaseMissing: () =>
    new HttpError(
      503,
      "No database is attached to this server: attach a Deno KV database to it, in Deno Deploy's dashboard",
      retryLater,
    ),
  tooManyUploads: () => new HttpError(503, "Too many uploads are running: try again", retryLater),
  memoryExhausted: (part: string) =>
    new HttpError(503, `The server's memory for ${part} is in use: try again`, retryLater),
  shuttingDown: () => new HttpError(503, "The server is shutting down: try again", retryLater),
  quotaExceeded: (message: string) => new HttpError(507, message),
  diskFull: (cause: unknown) =>
    new HttpError(
      507,
      "The server's disk is full: nothing was stored; delete files or ask its operator",
      {},
      cause,
    ),
} as const;

/** What a refused call on an upload is in HTTP. */
const UPLOAD_ERRORS: Record<UploadProblem, (message: string) => HttpError> = {
  absent: errors.uploadNotFound,
  "other name": errors.uploadNameMismatch,
  completed: errors.uploadCompleted,
  parts: errors.badParts,
};

/** The error that a caller gets for whatever was thrown: our own defects say nothing of their inside. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof UploadRefused) return UPLOAD_ERRORS[error.problem](error.message);
  // Its key let the caller in a moment ago.
  if (error instanceof NoSuchProject) return errors.unknownKey();
  if (error instanceof NoSuchApp) return errors.appNotFound(error.app);
  if (error instanceof BeingDeleted && error.what === "drive") {
    return errors.driveBeingRemoved(error.id);
  }
  if (isConflict(error)) return errors.conflict(error.message);
  if (error instanceof StoreUnavailable || isDiskFailure(error)) {
    return errors.storeUnavailable(error);
  }
  if (error instanceof MemoryExhausted) return errors.memoryExhausted(error.part);
  if (error instanceof QuotaExceeded) return errors.quotaExceeded(error.message);
  if (error instanceof StoreFull) return errors.diskFull(error);
  return errors.internalError(error);
}

function isConflict(error: unknown): error is Error {
  return [BeingDeleted, AlreadyExists, AccessIsOff, TooManyOpenUploads].some((kind) =>
    error instanceof kind
  );
}

/** "An error body is `{"errors": ["one clear sentence", …]}`, never empty." */
export function renderError({ status, message, headers }: HttpError): Response {
  return json(status, { errors: [message] }, headers);
}
