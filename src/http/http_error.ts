import { MAX_PAYLOAD } from "../rules/payloads.ts";
import { RightMissing } from "../rules/rights.ts";
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
  StoreDamaged,
  StoreUnavailable,
  TooManyLinks,
  TooManyOpenUploads,
  type UploadProblem,
  UploadRefused,
} from "../store/engine/errors.ts";
import { json } from "./responses/json_response.ts";

/** The value of `Retry-After` with 503, in seconds. */
const RETRY_AFTER = 1;

/** An error response. The message is for the caller, the cause for the server's log. */
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

const badRequest = (message: string) => new HttpError(400, message);
const unauthorized = (schemes: string, message: string) =>
  new HttpError(401, message, { "WWW-Authenticate": schemes });
const forbidden = (message: string) => new HttpError(403, message);
const notFound = (message: string) => new HttpError(404, message);
/** The connection is closed, as the rest of the request may still arrive. */
const timeout = (message: string) => new HttpError(408, message, { Connection: "close" });
const conflict = (message: string) => new HttpError(409, message);
const tooLarge = (message: string) => new HttpError(413, message);
const tooManyRequests = (message: string, wait: number) =>
  new HttpError(429, message, { "Retry-After": String(wait) });
const badGateway = (message: string) => new HttpError(502, message);
const unavailable = (message: string, cause?: unknown) =>
  new HttpError(503, message, retryLater, cause);

const retryLater = { "Retry-After": String(RETRY_AFTER) };

/** The accepted credentials, as `WWW-Authenticate` names them. */
const KEY = 'ApiKey realm="kvdrive"';
const TOKEN = 'Bearer realm="kvdrive"';
const TOKEN_OR_KEY = `${TOKEN}, ${KEY}`;

const DAMAGED = "The file is damaged: restore it from a backup, or replace or delete it";
const FAILED =
  "The server failed to answer this request: its log has the details under the X-Request-Id";

/** Every error response. Each sentence says what was wrong and what would be right. */
export const errors = {
  // 400 Bad Request
  badHost: (host: string) =>
    badRequest(`The Host header ${JSON.stringify(host)} is not a host name with an optional port`),
  badForwardedHost: () =>
    badRequest(
      "The X-Forwarded-Host header is not a host name with an optional port: the proxy has to set it",
    ),
  badEncoding: (where: string) =>
    badRequest(
      `The ${where} is not percent-encoded UTF-8: write "%" as "%25" and other bytes as UTF-8`,
    ),
  dotSegments: () =>
    badRequest('The path has a backslash, or a segment "." or "..": write it without them'),
  missingParameter: (name: string) =>
    badRequest(`The query parameter "${name}" is missing: it is required`),
  repeatedParameter: (name: string) =>
    badRequest(`The query parameter "${name}" is given more than once: give it once`),
  badParameter: (name: string, value: string, wanted: string) =>
    badRequest(`The query parameter "${name}" is ${quote(value)}: it must be ${wanted}`),
  badContains: (bytes: number, limit: number) =>
    badRequest(
      `The query parameter "contains" has ${bytes} bytes of UTF-8: at most ${limit} are allowed`,
    ),
  searchInFolder: () =>
    badRequest(
      'The query parameters "contains" and "recursive=false" exclude each other: a search includes all folders, so leave one of the two out',
    ),
  badFileName: (problem: string) => badRequest(`The file name ${problem}`),
  badDriveName: (problem: string) => badRequest(`The drive name ${problem}`),
  badContentType: (limit: number) =>
    badRequest(`The Content-Type header is too long: at most ${limit} characters are allowed`),
  badDigest: () =>
    badRequest("The Content-Digest header must be like sha-256=:<base64 of 32 bytes>:"),
  digestMismatch: () =>
    badRequest(
      "The body does not have the SHA-256 that Content-Digest names: nothing was stored, send it again",
    ),
  incompleteBody: (cause?: unknown) =>
    new HttpError(
      400,
      "The body ended before it was complete: nothing was stored, send it again",
      {},
      cause,
    ),
  badObject: (fields: readonly string[], problem: string) =>
    badRequest(`The body must be a JSON object with ${listed(fields)}: ${problem}`),
  unknownField: (name: string, fields: readonly string[]) =>
    badRequest(`The field ${quote(name)} is unknown: the fields are ${listed(fields)}`),
  missingField: (name: string) => badRequest(`The field "${name}" is missing: it is required`),
  badField: (name: string, problem: string) => badRequest(`The field "${name}" ${problem}`),
  badItem: (name: string, item: string, problem: string) =>
    badRequest(`The field "${name}" has ${quote(item)}, which ${problem}`),
  nothingToChange: (fields: readonly string[]) =>
    badRequest(`The body has no field to set: the fields are ${listed(fields)}`),
  badNames: (problem: string) =>
    badRequest(`The names to delete must be 1 to 1000 strings: ${problem}`),
  badCopy: badRequest,
  sameFile: (name: string) =>
    badRequest(`Source and target are the same file ${quote(name)}: choose another name or drive`),
  archiveTooLarge: (limit: string) =>
    badRequest(`The archive would have more than ${limit}: ask for several smaller ones`),
  badParts: badRequest,
  uploadNameMismatch: badRequest,
  badSignIn: () => badRequest('The form must have the project key in "key": use the sign-in page'),
  linkTarget: () =>
    badRequest('The link needs either a "name" or a "prefix": send one of the two fields'),
  badPasswordForm: () =>
    badRequest('The form must have the password of the link in "password": use the page'),

  // 401 Unauthorized
  missingKey: () => unauthorized(KEY, "The X-Api-Key header is missing: send the project key"),
  unknownKey: () => unauthorized(KEY, "The key in X-Api-Key is not known: send the project key"),
  endedKey: (how: "was revoked" | "expired") =>
    unauthorized(
      KEY,
      `The key in X-Api-Key ${how} while the body was received: nothing was stored, send another key`,
    ),
  missingCredentials: () =>
    unauthorized(
      TOKEN_OR_KEY,
      "The credentials are missing: send the administrator's token as Authorization: Bearer, or the project key as X-Api-Key",
    ),
  unknownToken: () =>
    unauthorized(
      TOKEN_OR_KEY,
      "The token in Authorization is not the administrator's: send that, or leave it out and send the project key as X-Api-Key",
    ),
  unknownSecret: () =>
    unauthorized(TOKEN_OR_KEY, "The secret is not known: send a key, token or unused sign-in code"),
  sessionEnded: () => unauthorized(TOKEN_OR_KEY, "The session has ended: sign in again"),
  missingMetricsToken: () =>
    unauthorized(
      TOKEN,
      "The token is missing: send the one for metrics, or the administrator's, as Authorization: Bearer",
    ),
  unknownMetricsToken: () =>
    unauthorized(
      TOKEN,
      "The token in Authorization is neither the one for metrics nor the administrator's: send one of them",
    ),
  missingAppKey: () =>
    unauthorized(KEY, "The X-API-Key header is missing: send a key of this application"),
  unknownAppKey: (wait?: number) =>
    new HttpError(
      401,
      "The key in X-API-Key does not open this application: send one of its own",
      {
        "WWW-Authenticate": KEY,
        ...(wait === undefined ? {} : { "Retry-After": String(wait) }),
      },
    ),
  linkPassword: (scheme: string) =>
    unauthorized(
      scheme,
      "The link has a password, and the request has none or a wrong one: send it with HTTP Basic, with any user name",
    ),
  crossOriginSession: () =>
    unauthorized(
      KEY,
      "A browser session is accepted only from the application's own pages: send a key in X-API-Key",
    ),

  // 403 Forbidden
  wrongProject: () =>
    forbidden("The key in X-Api-Key is of another project than the one in the path"),
  rightMissing: forbidden,
  administratorOnly: () =>
    forbidden(
      "A project key does not allow this: send the administrator's token as Authorization: Bearer",
    ),
  upstreamNotAllowed: () =>
    forbidden(
      'Only the administrator can set the upstream, the address that this server connects to: leave "upstream" out',
    ),
  hostNotAllowed: (suffix: string | undefined) =>
    forbidden(
      suffix === undefined
        ? 'Only the administrator can set host names: leave "host" out, or ask for a suffix below which you may choose'
        : `A project key may only set a "host" below ${suffix}: choose such a name, or leave "host" out`,
    ),
  crossOriginForm: () =>
    forbidden("The form was not sent by the sign-in page: open that page and use its form"),
  crossOriginRequest: () =>
    forbidden("The request came from a page of another origin: open the dashboard itself"),
  linkEmbedded: () =>
    forbidden(
      "What a link leads to cannot be a script, a style sheet or a frame of a page: open or download it",
    ),

  // 404 Not Found
  linkNotFound: () =>
    notFound(
      "There is nothing here: the link is wrong, has expired or was revoked, or its file is gone",
    ),
  sessionNotFound: (id: string) => notFound(`There is no session ${quote(id)} of this key`),
  linkIdNotFound: (id: string) => notFound(`There is no link ${quote(id)} in this drive`),
  routeNotFound: () =>
    notFound(
      "There is nothing at this path: the API is at /v1/{project_id}/{drive_name}/files and …/uploads, its administration at /admin/v1/projects, and the dashboard at /",
    ),
  fileNotFound: (name: string) => notFound(`There is no file ${quote(name)} in this drive`),
  projectNotFound: (project: string) => notFound(`There is no project ${quote(project)}`),
  driveNotFound: (drive: string) => notFound(`There is no drive ${quote(drive)} in this project`),
  projectKeyNotFound: (prefix: string) =>
    notFound(`There is no key with the prefix ${quote(prefix)} in this project`),
  s3KeyNotFound: (id: string) =>
    notFound(`There is no S3 key with the id ${quote(id)} in this project`),
  appNotFound: (app: string) => notFound(`There is no application ${quote(app)} in this project`),
  appKeyNotFound: (name: string) => notFound(`There is no key ${quote(name)} of this application`),
  uploadNotFound: notFound,
  hostNotFound: () =>
    notFound(
      "There is no application here: an application has its own host name, or the path /{project_id}/{app}/ under an IP address, localhost or a name in --apps-host",
    ),
  challengeNotFound: () => notFound("There is no challenge with this token"),
  notRedirected: () => notFound("This port only redirects host names of this server to https"),
  gatePageNotFound: () =>
    notFound("There is no such page: the gate has /.kvdrive/sign-in and /.kvdrive/sign-out"),

  // 405 Method Not Allowed, 408 Request Timeout
  methodNotAllowed: (method: string, allow: string) =>
    new HttpError(405, `The method ${method} is not allowed here: use ${allow}`, { Allow: allow }),
  bodyTimeout: () => timeout("The body stopped coming: nothing was stored, send it again"),
  bodyTooSlow: () => timeout("The body came too slowly: nothing was stored, send it again"),
  requestTimeout: () => timeout("The request stopped coming: send it again"),

  // 409 Conflict, 412 Precondition Failed
  conflict,
  uploadCompleted: conflict,
  targetExists: (name: string) =>
    conflict(
      `There is a file ${quote(name)} already: send "overwrite": true to replace it`,
    ),
  driveBeingRemoved: (drive: string) =>
    new HttpError(409, `The drive ${quote(drive)} is being removed: try again`, retryLater),
  preconditionFailed: () =>
    new HttpError(
      412,
      "The file is not in the state that the conditional headers require: nothing was changed",
    ),

  // 413 Content Too Large, 415 Unsupported Media Type, 416 Range Not Satisfiable, 429 Too Many Requests
  payloadTooLarge: (limit = MAX_PAYLOAD) =>
    tooLarge(
      `The body is larger than ${limit} bytes: send larger files in parts, see POST …/uploads`,
    ),
  fieldsTooLarge: (limit: number) =>
    tooLarge(`The body is larger than ${limit} bytes: send the fields alone, or fewer items`),
  fileInForm: () =>
    new HttpError(
      415,
      "The body is a form (multipart/form-data): send the bytes themselves, such as with curl -X POST --data-binary @FILE or -T FILE",
    ),
  rangeNotSatisfiable: (size: number) =>
    new HttpError(
      416,
      `The Range header asks for bytes that a file of ${size} bytes does not have`,
      { "Content-Range": `bytes */${size}` },
    ),
  tooManyWrongPasswords: (wait: number) =>
    tooManyRequests(
      `Too many wrong passwords of this link came from this network: wait ${wait} seconds`,
      wait,
    ),
  tooManyWrongKeys: (wait: number) =>
    tooManyRequests(
      `Too many wrong keys came from this network: send the right one, or wait ${wait} seconds`,
      wait,
    ),

  // The status depends on what is malformed.
  malformed: (status: number, problem: string) =>
    new HttpError(status, `The request cannot be answered: ${problem}`),
  badMessage: (status: number, problem: string) =>
    new HttpError(
      status,
      `The request cannot be passed on: ${problem}`,
      status === 405 ? { Allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" } : {},
    ),

  // 500 Internal Server Error, 502 Bad Gateway, 504 Gateway Timeout
  internalError: (cause: unknown) =>
    new HttpError(500, cause instanceof StoreDamaged ? DAMAGED : FAILED, {}, cause),
  upstreamMissing: () =>
    badGateway("The application has no upstream yet: the administrator must set one"),
  upstreamUnreachable: () => badGateway("The application cannot be reached: try again later"),
  upstreamForbidden: () =>
    badGateway(
      "The application is at an address that this server does not connect to: the administrator must change or allow it",
    ),
  upstreamInvalidResponse: () =>
    badGateway("The application sent a response that is not valid HTTP/1.1: fix the application"),
  upstreamTimeout: () =>
    new HttpError(504, "The application did not answer in time: try again later"),

  // 503 Service Unavailable, 507 Insufficient Storage
  storeUnavailable: (cause: unknown) =>
    unavailable("The store cannot be reached right now: try again", cause),
  databaseMissing: () =>
    unavailable(
      "No database is attached to this server: attach a Deno KV database to it, in Deno Deploy's dashboard",
    ),
  tooManyUploads: () => unavailable("Too many uploads are running: try again"),
  memoryExhausted: (part: string) =>
    unavailable(`The server's memory for ${part} is in use: try again`),
  shuttingDown: () => unavailable("The server is shutting down: try again"),
  serverFull: () => unavailable("Too many clients are connected: try again"),
  quotaExceeded: (message: string) => new HttpError(507, message),
  diskFull: (cause: unknown) =>
    new HttpError(
      507,
      "The server's disk is full: nothing was stored; delete files or ask its operator",
      {},
      cause,
    ),
} as const;

/** The longest part of a caller's value that a sentence repeats, in characters. */
const MAX_QUOTED = 200;

function quote(value: string): string {
  return JSON.stringify(value.length > MAX_QUOTED ? `${value.slice(0, MAX_QUOTED)}…` : value);
}

/** Names as a sentence lists them: `"name" and "host"`. */
function listed(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(" and ");
}

/** The errors for refused calls on an upload. */
const UPLOAD_ERRORS: Record<UploadProblem, (message: string) => HttpError> = {
  absent: errors.uploadNotFound,
  "other name": errors.uploadNameMismatch,
  completed: errors.uploadCompleted,
  parts: errors.badParts,
};

/** The error for anything that was thrown. An unexpected one becomes a 500 without its details. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof RightMissing) return errors.rightMissing(error.message);
  if (error instanceof UploadRefused) return UPLOAD_ERRORS[error.problem](error.message);
  // The project was deleted after its key was accepted.
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
  const kinds = [BeingDeleted, AlreadyExists, AccessIsOff, TooManyOpenUploads, TooManyLinks];
  return kinds.some((kind) => error instanceof kind);
}

/** "An error body is `{"errors": ["one clear sentence", …]}`, never empty." */
export function renderError({ status, message, headers }: HttpError): Response {
  return json(status, { errors: [message] }, headers);
}
