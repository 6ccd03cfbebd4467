import { type ErrorCode, errorKind, Refusal } from "../rules/error_codes.ts";
import { MAX_PAYLOAD } from "../rules/payloads.ts";

/** An error response. The message is for the caller, the cause for the server's log. */
export class HttpError extends Refusal {
  /** Those that are fixed for the code, and others. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    cause?: unknown,
  ) {
    super(code, message, { cause });
    this.headers = { ...errorKind(code).headers, ...headers };
  }
}

const refuse = (...args: ConstructorParameters<typeof HttpError>) => new HttpError(...args);
const unauthorized = (code: ErrorCode, schemes: string, message: string) =>
  new HttpError(code, message, { "WWW-Authenticate": schemes });
const tooManyWrong = (code: ErrorCode, message: string, wait: number) =>
  new HttpError(code, message, { "Retry-After": String(wait) });

/** The accepted credentials, as `WWW-Authenticate` names them. */
export const KEY_SCHEME = 'ApiKey realm="kvdrive"';
const TOKEN = 'Bearer realm="kvdrive"';
const TOKEN_OR_KEY = `${TOKEN}, ${KEY_SCHEME}`;

const DAMAGED = "The file is damaged: restore it from a backup, or replace or delete it";
const FAILED =
  "The server failed to answer this request: its log has the details under the X-Request-Id";

/** Every error response. Each sentence says what was wrong and what would be right. */
export const errors = {
  // 400 Bad Request
  badHost: (host: string) =>
    refuse(
      "invalid_host",
      `The Host header ${JSON.stringify(host)} is not a host name with an optional port`,
    ),
  badEncoding: (where: string) =>
    refuse(
      "invalid_encoding",
      `The ${where} is not percent-encoded UTF-8: write "%" as "%25" and other bytes as UTF-8`,
    ),
  missingParameter: (name: string) =>
    refuse("invalid_parameter", `The query parameter "${name}" is missing: it is required`),
  repeatedParameter: (name: string) =>
    refuse(
      "invalid_parameter",
      `The query parameter "${name}" is given more than once: give it once`,
    ),
  badParameter: (name: string, value: string, wanted: string) =>
    refuse(
      "invalid_parameter",
      `The query parameter "${name}" is ${quote(value)}: it must be ${wanted}`,
    ),
  badContains: (bytes: number, limit: number) =>
    refuse(
      "invalid_parameter",
      `The query parameter "contains" has ${bytes} bytes of UTF-8: at most ${limit} are allowed`,
    ),
  searchInFolder: () =>
    refuse(
      "invalid_parameter",
      'The query parameters "contains" and "recursive=false" exclude each other: a search includes all folders, so leave one of the two out',
    ),
  badFileName: (problem: string) => refuse("invalid_file_name", `The file name ${problem}`),
  badDriveName: (problem: string) => refuse("invalid_drive_name", `The drive name ${problem}`),
  badContentType: (limit: number) =>
    refuse(
      "invalid_header",
      `The Content-Type header is too long: at most ${limit} characters are allowed`,
    ),
  badDigest: () =>
    refuse(
      "invalid_header",
      "The Content-Digest header must be like sha-256=:<base64 of 32 bytes>:",
    ),
  digestMismatch: () =>
    refuse(
      "digest_mismatch",
      "The body does not have the SHA-256 that Content-Digest names: nothing was stored, send it again",
    ),
  incompleteBody: (cause?: unknown) =>
    refuse(
      "incomplete_body",
      "The body ended before it was complete: nothing was stored, send it again",
      {},
      cause,
    ),
  badObject: (fields: readonly string[], problem: string) =>
    refuse("invalid_body", `The body must be a JSON object with ${listed(fields)}: ${problem}`),
  unknownField: (name: string, fields: readonly string[]) =>
    refuse(
      "invalid_field",
      `The field ${quote(name)} is unknown: ${known(fields)}`,
    ),
  missingField: (name: string) =>
    refuse("invalid_field", `The field "${name}" is missing: it is required`),
  badField: (name: string, problem: string) =>
    refuse("invalid_field", `The field "${name}" ${problem}`),
  badItem: (name: string, item: string, problem: string) =>
    refuse("invalid_field", `The field "${name}" has ${quote(item)}, which ${problem}`),
  nothingToChange: (fields: readonly string[]) =>
    refuse("invalid_field", `The body has no field to set: ${known(fields)}`),
  badNames: (problem: string) =>
    refuse("invalid_file_name", `The names to delete must be 1 to 1000 strings: ${problem}`),
  ifMatchOfMany: () =>
    refuse("invalid_header", "If-Match is about one source: leave it out with items and prefixes"),
  sameFile: (name: string) =>
    refuse(
      "same_file",
      `Source and target are the same file ${quote(name)}: choose another name or drive`,
    ),
  archiveTooLarge: (limit: string) =>
    refuse(
      "archive_too_large",
      `The archive would have more than ${limit}: ask for several smaller ones`,
    ),
  linkTarget: () =>
    refuse(
      "invalid_field",
      'The link needs either a "name" or a "prefix": send one of the two fields',
    ),
  badPasswordForm: () =>
    refuse(
      "invalid_form",
      'The form must have the password of the link in "password": use the page',
    ),

  // 401 Unauthorized
  missingKey: () =>
    unauthorized(
      "missing_key",
      KEY_SCHEME,
      "The X-Api-Key header is missing: send the project key",
    ),
  unknownKey: () =>
    unauthorized(
      "unknown_key",
      KEY_SCHEME,
      "The key in X-Api-Key is not known: send the project key",
    ),
  endedKey: (how: "was revoked" | "expired") =>
    unauthorized(
      "unknown_key",
      KEY_SCHEME,
      `The key in X-Api-Key ${how} while the body was received: nothing was stored, send another key`,
    ),
  missingCredentials: () =>
    unauthorized(
      "missing_key",
      TOKEN_OR_KEY,
      "The credentials are missing: send the administrator's token as Authorization: Bearer, or the project key as X-Api-Key",
    ),
  unknownToken: () =>
    unauthorized(
      "unknown_key",
      TOKEN_OR_KEY,
      "The token in Authorization is not the administrator's: send that, or leave it out and send the project key as X-Api-Key",
    ),
  unknownSecret: () =>
    unauthorized(
      "unknown_key",
      TOKEN_OR_KEY,
      "The secret is not known: send a key, token or unused sign-in code",
    ),
  sessionEnded: () =>
    unauthorized("session_ended", TOKEN_OR_KEY, "The session has ended: sign in again"),
  missingMetricsToken: () =>
    unauthorized(
      "missing_key",
      TOKEN,
      "The token is missing: send the one for metrics, or the administrator's, as Authorization: Bearer",
    ),
  unknownMetricsToken: () =>
    unauthorized(
      "unknown_key",
      TOKEN,
      "The token in Authorization is neither the one for metrics nor the administrator's: send one of them",
    ),
  missingAppKey: () =>
    unauthorized(
      "missing_key",
      KEY_SCHEME,
      "The X-API-Key header is missing: send a key of this application",
    ),
  unknownAppKey: (wait?: number) =>
    refuse(
      "unknown_key",
      "The key in X-API-Key does not open this application: send one of its own",
      {
        "WWW-Authenticate": KEY_SCHEME,
        ...(wait === undefined ? {} : { "Retry-After": String(wait) }),
      },
    ),
  linkPassword: (scheme: string) =>
    unauthorized(
      "link_password_required",
      scheme,
      "The link has a password, and the request has none or a wrong one: send it with HTTP Basic, with any user name",
    ),

  // 403 Forbidden
  wrongProject: () =>
    refuse("wrong_project", "The key in X-Api-Key is of another project than the one in the path"),
  administratorOnly: () =>
    refuse(
      "administrator_only",
      "A project key does not allow this: send the administrator's token as Authorization: Bearer",
    ),
  upstreamNotAllowed: () =>
    refuse(
      "administrator_only",
      'Only the administrator can set the upstream, the address that this server connects to: leave "upstream" out',
    ),
  hostNotAllowed: (suffix: string | undefined) =>
    refuse(
      "host_not_allowed",
      suffix === undefined
        ? 'Only the administrator can set host names: leave "host" out, or ask for a suffix below which you may choose'
        : `A project key may only set a "host" below ${suffix}: choose such a name, or leave "host" out`,
    ),
  crossOriginRequest: () =>
    refuse(
      "cross_origin_request",
      "The request came from a page of another origin: open the dashboard itself",
    ),
  linkEmbedded: () =>
    refuse(
      "link_embedded",
      "What a link leads to cannot be a script, a style sheet or a frame of a page: open or download it",
    ),

  // 404 Not Found
  linkNotFound: () =>
    refuse(
      "link_not_found",
      "There is nothing here: the link is wrong, has expired or was revoked, or its file is gone",
    ),
  sessionNotFound: (id: string) =>
    refuse("session_not_found", `There is no session ${quote(id)} of this key`),
  linkIdNotFound: (id: string) =>
    refuse("link_not_found", `There is no link ${quote(id)} in this drive`),
  /** @param basePath The path that all routes are below; empty for none. */
  routeNotFound: (basePath = "") =>
    refuse(
      "route_not_found",
      `There is nothing at this path: the API is at ${basePath}/v1/{project_id}/{drive_name}/files and …/uploads, its administration at ${basePath}/admin/v1/projects, and the dashboard at ${basePath}/`,
    ),
  fileNotFound: (name: string) =>
    refuse("file_not_found", `There is no file ${quote(name)} in this drive`),
  thumbnailNotFound: (name: string) =>
    refuse("thumbnail_not_found", `The file ${quote(name)} has no thumbnail`),
  projectNotFound: (project: string) =>
    refuse("project_not_found", `There is no project ${quote(project)}`),
  driveNotFound: (drive: string) =>
    refuse("drive_not_found", `There is no drive ${quote(drive)} in this project`),
  projectKeyNotFound: (prefix: string) =>
    refuse("key_not_found", `There is no key with the prefix ${quote(prefix)} in this project`),
  s3KeyNotFound: (id: string) =>
    refuse("s3_key_not_found", `There is no S3 key with the id ${quote(id)} in this project`),
  appNotFound: (app: string) =>
    refuse("app_not_found", `There is no application ${quote(app)} in this project`),
  appKeyNotFound: (name: string) =>
    refuse("app_key_not_found", `There is no key ${quote(name)} of this application`),
  trashItemNotFound: () =>
    refuse(
      "trash_item_not_found",
      "There is no such item in the trash: it was restored, deleted, or has expired",
    ),
  webhookNotFound: (id: string) =>
    refuse("webhook_not_found", `There is no webhook ${quote(id)} of this project`),
  challengeNotFound: () => refuse("challenge_not_found", "There is no challenge with this token"),
  notRedirected: () =>
    refuse("route_not_found", "This port only redirects host names of this server to https"),

  // 405 Method Not Allowed, 408 Request Timeout
  methodNotAllowed: (method: string, allow: string) =>
    refuse("method_not_allowed", `The method ${method} is not allowed here: use ${allow}`, {
      Allow: allow,
    }),
  bodyTimeout: () =>
    refuse("request_timeout", "The body stopped coming: nothing was stored, send it again"),
  bodyTooSlow: () =>
    refuse("request_timeout", "The body came too slowly: nothing was stored, send it again"),
  requestTimeout: () => refuse("request_timeout", "The request stopped coming: send it again"),

  // 409 Conflict, 412 Precondition Failed
  targetExists: (name: string) =>
    refuse(
      "file_exists",
      `There is a file ${quote(name)} already: send "overwrite": true to replace it`,
    ),
  driveExists: (drive: string) =>
    refuse("drive_exists", `There is a drive ${quote(drive)} already: choose another name`),
  nameTaken: () =>
    refuse("file_exists", 'Another file has its name: send "overwrite": true to replace that'),
  changesOff: () =>
    refuse("changes_off", 'The project keeps no changes: set its "change_days" first'),
  preconditionFailed: () =>
    refuse(
      "precondition_failed",
      "The file is not in the state that the conditional headers require: nothing was changed",
    ),

  // 413 Content Too Large, 415 Unsupported Media Type, 416 Range Not Satisfiable, 429 Too Many Requests
  payloadTooLarge: (limit = MAX_PAYLOAD) =>
    refuse(
      "body_too_large",
      `The body is larger than ${limit} bytes: send larger files in parts, see POST …/uploads`,
    ),
  fieldsTooLarge: (limit: number) =>
    refuse(
      "body_too_large",
      `The body is larger than ${limit} bytes: send the fields alone, or fewer items`,
    ),
  fileInForm: () =>
    refuse(
      "form_body",
      "The body is a form (multipart/form-data): send the bytes themselves, such as with curl -X POST --data-binary @FILE or -T FILE",
    ),
  notThumbnail: () =>
    refuse(
      "unsupported_image",
      "The body does not begin like a JPEG, PNG or WebP: send the bytes of such an image",
    ),
  thumbnailTooLarge: (limit: number) =>
    refuse(
      "body_too_large",
      `The thumbnail is larger than ${limit} bytes: send a smaller image`,
    ),
  rangeNotSatisfiable: (size: number) =>
    refuse(
      "range_not_satisfiable",
      `The Range header asks for bytes that a file of ${size} bytes does not have`,
      { "Content-Range": `bytes */${size}` },
    ),
  tooManyWrongPasswords: (wait: number) =>
    tooManyWrong(
      "too_many_wrong_passwords",
      `Too many wrong passwords of this link came from this network: wait ${wait} seconds`,
      wait,
    ),
  tooManyWrongKeys: (wait: number) =>
    tooManyWrong(
      "too_many_wrong_keys",
      `Too many wrong keys came from this network: send the right one, or wait ${wait} seconds`,
      wait,
    ),

  malformed: (code: "malformed_request" | "head_too_large", problem: string) =>
    refuse(code, `The request cannot be answered: ${problem}`),

  // 500 Internal Server Error, 502 Bad Gateway, 504 Gateway Timeout
  internalError: (cause: unknown) => refuse("internal_error", FAILED, {}, cause),
  fileDamaged: (cause: unknown) => refuse("file_damaged", DAMAGED, {}, cause),

  // 503 Service Unavailable, 507 Insufficient Storage
  storeUnavailable: (cause: unknown) =>
    refuse("store_unavailable", "The store cannot be reached right now: try again", {}, cause),
  databaseMissing: () =>
    refuse(
      "database_missing",
      "No database is attached to this server: attach a Deno KV database to it, in Deno Deploy's dashboard",
    ),
  tooManyUploads: () => refuse("too_many_uploads", "Too many uploads are running: try again"),
  memoryExhausted: (part: string) =>
    refuse("memory_exhausted", `The server's memory for ${part} is in use: try again`),
  shuttingDown: () => refuse("shutting_down", "The server is shutting down: try again"),
  serverFull: () => refuse("too_many_connections", "Too many clients are connected: try again"),
  diskFull: (cause: unknown) =>
    refuse(
      "disk_full",
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

/** Fields as a sentence lists them: `the fields are "name" and "host"`. */
function known(fields: readonly string[]): string {
  return `${fields.length === 1 ? "the only field is" : "the fields are"} ${listed(fields)}`;
}

/** Names as a sentence lists them: `"name", "host" and "upstream"`. */
function listed(names: readonly string[]): string {
  return new Intl.ListFormat("en-GB").format(names.map((name) => `"${name}"`));
}
