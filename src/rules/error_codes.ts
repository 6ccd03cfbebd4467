/**
 * The table of all errors: each has a code, by which programs tell it from others, and a status. Codes are part of the
 * API: one that was released keeps its name, meaning and status.
 *
 * @module
 */

/** What is fixed for an error code. */
interface ErrorKind {
  status: number;
  /** When a request gets it, for the documentation. */
  meaning: string;
  /** Headers of every response with it. */
  headers?: Readonly<Record<string, string>>;
}

/** The same request may succeed after a second. */
const RETRY = { "Retry-After": "1" };

/** The rest of the request may still arrive, so the connection is closed. */
const CLOSE = { Connection: "close" };

export const ERROR_CODES = {
  archive_too_large: { status: 400, meaning: "The archive would have too many files or names." },
  digest_mismatch: {
    status: 400,
    meaning: "The body does not have the SHA-256 of `Content-Digest`.",
  },
  incomplete_body: { status: 400, meaning: "The connection ended before the body was complete." },
  invalid_body: { status: 400, meaning: "The body is not the JSON that the call takes." },
  invalid_drive_name: { status: 400, meaning: "The drive in the path cannot be the name of one." },
  invalid_encoding: {
    status: 400,
    meaning: "The path or the query is not percent-encoded UTF-8.",
  },
  invalid_field: {
    status: 400,
    meaning: "A field of the body is missing, unknown, or has a value that is not allowed.",
  },
  invalid_file_name: {
    status: 400,
    meaning: "A name in the query is not one of a file, or a list of names is not allowed.",
  },
  invalid_form: { status: 400, meaning: "The form is not the one of the page." },
  invalid_header: { status: 400, meaning: "A header has a value that is not allowed." },
  invalid_host: { status: 400, meaning: "`Host` or `X-Forwarded-Host` is not a host name." },
  invalid_parameter: {
    status: 400,
    meaning: "A parameter of the query is missing, repeated, or has a value that is not allowed.",
  },
  invalid_parts: {
    status: 400,
    meaning: "Parts are missing or too small: the upload stays open.",
  },
  invalid_path: { status: 400, meaning: "The path has a backslash, `.` or `..` (gate)." },
  malformed_request: { status: 400, meaning: "The request is not valid HTTP/1.1." },
  same_file: { status: 400, meaning: "Source and target are the same file." },
  upload_name_mismatch: { status: 400, meaning: "The upload is of a file with another name." },

  cross_origin_session: {
    status: 401,
    meaning: "The session of a browser is not accepted from pages of other origins (gate).",
  },
  link_password_required: {
    status: 401,
    meaning: "The link has a password, and the request has none or a wrong one.",
  },
  missing_key: { status: 401, meaning: "The request has no key or token." },
  session_ended: { status: 401, meaning: "The session has ended." },
  unknown_key: { status: 401, meaning: "The key or token is unknown, revoked or expired." },

  administrator_only: { status: 403, meaning: "Only the administrator may do this." },
  cross_origin_request: {
    status: 403,
    meaning: "The request was sent by a page of another origin.",
  },
  host_not_allowed: { status: 403, meaning: "The project may not choose this host name." },
  key_limited: { status: 403, meaning: "The key is for other drives or names." },
  link_embedded: {
    status: 403,
    meaning: "A page embeds what a link leads to as a script, style sheet or frame.",
  },
  missing_permission: { status: 403, meaning: "The key does not have the permission to do this." },
  rights_exceeded: {
    status: 403,
    meaning: "The key would create or revoke something with more rights than its own.",
  },
  wrong_project: { status: 403, meaning: "The key is of another project." },

  app_key_not_found: { status: 404, meaning: "The application has no such key." },
  app_not_found: { status: 404, meaning: "There is no such application." },
  challenge_not_found: {
    status: 404,
    meaning: "There is no such challenge of a certificate authority.",
  },
  drive_not_found: { status: 404, meaning: "There is no such drive." },
  file_not_found: { status: 404, meaning: "There is no such file." },
  key_not_found: { status: 404, meaning: "The project has no such key." },
  link_not_found: {
    status: 404,
    meaning: "There is no such link, it has expired or was revoked, or its file is gone.",
  },
  project_not_found: { status: 404, meaning: "There is no such project." },
  route_not_found: { status: 404, meaning: "There is nothing at this path." },
  s3_key_not_found: { status: 404, meaning: "The project has no such S3 key." },
  session_not_found: { status: 404, meaning: "The key has no such session." },
  thumbnail_not_found: { status: 404, meaning: "The file has no thumbnail." },
  trash_item_not_found: { status: 404, meaning: "There is no such item in the trash." },
  upload_not_found: {
    status: 404,
    meaning: "There is no such upload: it was never started, was aborted or has expired.",
  },
  webhook_not_found: { status: 404, meaning: "The project has no such webhook." },

  method_not_allowed: { status: 405, meaning: "The method is not supported here." },

  request_timeout: {
    status: 408,
    meaning: "The request or its body stopped arriving, or arrived too slowly.",
    headers: CLOSE,
  },

  access_off: { status: 409, meaning: "The application's access control is off." },
  app_exists: { status: 409, meaning: "The project has an application of this name." },
  app_key_exists: { status: 409, meaning: "The application has a key of this name." },
  being_removed: {
    status: 409,
    meaning: "The project, drive or application is being removed.",
    headers: RETRY,
  },
  drive_exists: { status: 409, meaning: "The project has a drive of this name." },
  changes_off: { status: 409, meaning: "The project keeps no changes." },
  file_exists: { status: 409, meaning: "A file has the name, and `overwrite` is not set." },
  host_exists: { status: 409, meaning: "Another application has the host name." },
  project_exists: { status: 409, meaning: "There is a project with this id." },
  s3_keys_unavailable: {
    status: 409,
    meaning: "The server cannot encrypt the secrets of S3 keys.",
  },
  too_many_links: { status: 409, meaning: "The project has as many links as are allowed." },
  too_many_open_uploads: {
    status: 409,
    meaning: "The project has as many open uploads as are allowed.",
  },
  too_many_webhooks: { status: 409, meaning: "The project has as many webhooks as are allowed." },
  upload_completed: { status: 409, meaning: "The upload is complete." },

  changes_expired: {
    status: 410,
    meaning: "Changes after the cursor are no longer kept: list the drive again.",
  },

  precondition_failed: { status: 412, meaning: "A conditional header does not hold." },

  body_too_large: { status: 413, meaning: "The body is larger than allowed." },

  target_too_long: { status: 414, meaning: "The target of the request is too long (gate)." },

  form_body: { status: 415, meaning: "The body is a form in place of the bytes of a file." },
  unsupported_image: { status: 415, meaning: "The thumbnail is no JPEG, PNG or WebP." },

  range_not_satisfiable: { status: 416, meaning: "The range is outside the file." },

  expectation_failed: { status: 417, meaning: "`Expect` is not supported (gate)." },

  too_many_wrong_keys: { status: 429, meaning: "Too many wrong keys came from this network." },
  too_many_wrong_passwords: {
    status: 429,
    meaning: "Too many wrong passwords of this link came from this network.",
  },

  head_too_large: { status: 431, meaning: "The head of the request is too large." },

  file_damaged: {
    status: 500,
    meaning: "The file is damaged: restore it from a backup, or replace or delete it.",
  },
  internal_error: { status: 500, meaning: "A defect of the server. Its log has the details." },

  not_implemented: { status: 501, meaning: "The `Transfer-Encoding` is not supported (gate)." },

  upstream_forbidden: {
    status: 502,
    meaning: "The server does not connect to the application's address (gate).",
  },
  upstream_invalid_response: {
    status: 502,
    meaning: "The application's response is not valid HTTP (gate).",
  },
  upstream_missing: { status: 502, meaning: "The application has no address yet (gate)." },
  upstream_unreachable: { status: 502, meaning: "The application cannot be reached (gate)." },

  database_missing: {
    status: 503,
    meaning: "No database is attached to the server.",
    headers: RETRY,
  },
  memory_exhausted: { status: 503, meaning: "The server's memory is in use.", headers: RETRY },
  shutting_down: { status: 503, meaning: "The server is shutting down.", headers: RETRY },
  store_unavailable: {
    status: 503,
    meaning: "The store cannot be reached right now.",
    headers: RETRY,
  },
  too_many_connections: {
    status: 503,
    meaning: "Too many clients are connected.",
    headers: RETRY,
  },
  too_many_uploads: { status: 503, meaning: "Too many uploads are running.", headers: RETRY },
  too_many_waiting: {
    status: 503,
    meaning: "Too many callers of the project wait for changes.",
    headers: RETRY,
  },

  upstream_timeout: { status: 504, meaning: "The application did not answer in time (gate)." },

  http_version_not_supported: {
    status: 505,
    meaning: "The version of HTTP is not supported (gate).",
  },

  disk_full: { status: 507, meaning: "The server's disk is full." },
  quota_exceeded: { status: 507, meaning: "The project's quota is full." },
} as const satisfies Readonly<Record<string, ErrorKind>>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** All codes, by status and name. */
export const ERROR_CODE_NAMES = Object.keys(ERROR_CODES) as readonly ErrorCode[];

export function errorKind(code: ErrorCode): ErrorKind {
  return ERROR_CODES[code];
}

/** A request is refused. The message is a sentence for the caller. */
export class Refusal extends Error {
  override readonly name: string = this.constructor.name;

  constructor(readonly code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
  }

  get status(): number {
    return ERROR_CODES[this.code].status;
  }
}
