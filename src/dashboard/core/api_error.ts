import type { components } from "./api_schema.d.ts";

/** By which the dashboard tells one error of the server from another. */
export type ErrorCode = components["schemas"]["ErrorCode"];

/** A call that failed, with a sentence for the user. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    /** The status of the answer; 0 if there was none. */
    readonly status: number,
    message: string,
    /** Seconds after which the server wants to be asked again. */
    readonly retryAfter?: number,
    /** `undefined` if the server did not answer, but a proxy or nothing. */
    readonly code?: ErrorCode,
  ) {
    super(message);
  }

  /** Whether the same call may succeed later: the server was not reached, is busy or failed. */
  get isTemporary(): boolean {
    return [0, 408, 429, 500, 502, 503, 504].includes(this.status);
  }
}

/** The error for a call without an answer. */
export function unreachable(): ApiError {
  const reason = navigator.onLine ? "The server does not answer" : "This device is offline";
  return new ApiError(0, reason);
}

/** The error for an answer that is not a success. Reads its body. */
export async function refused(response: Response): Promise<ApiError> {
  const seconds = Number(response.headers.get("retry-after") ?? NaN);
  const { message, code } = errorIn(await response.text().catch(() => ""));
  return new ApiError(
    response.status,
    message === undefined ? proxySentence(response.status) : wordsOf({ code, error: message }),
    Number.isFinite(seconds) ? seconds : undefined,
    code,
  );
}

/** The server's sentence and code in the JSON of an error; nothing if a proxy answered something else. */
function errorIn(text: string): { message?: string; code?: ErrorCode } {
  try {
    const { errors, code } = JSON.parse(text);
    const [message] = Array.isArray(errors) ? errors : [];
    return typeof message === "string" ? { message, code } : {};
  } catch {
    // A proxy may answer with a page.
    return {};
  }
}

/** The sentence for an answer of a proxy in front of the server. */
function proxySentence(status: number): string {
  return status === 413
    ? "A proxy in front of the server refuses requests of this size: it must let 11 MB pass"
    : `The server answered with status ${status}`;
}

/** A sentence for the user about anything that was thrown. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Errors whose own sentence is shown: it says what is wrong with an entered value, or how much space is left. */
type Specific = "invalid_field" | "upstream_forbidden" | "quota_exceeded";

const BUSY = "The server is busy: try again in a moment";
const SESSION = "The session has ended: sign in again";
const PAGE = "The page and the server do not fit together: reload the page";
const KEY = "The key that you signed in with may not do this";
const SLOW = "The connection was too slow or broke off: try again";
const APPLICATION = "The application cannot be reached";

/** What each error of the server means to people: they never see the sentences that it has for programs. */
const WORDS: Readonly<Record<Exclude<ErrorCode, Specific>, string>> = {
  archive_too_large: "These are too many files for one archive: download fewer at a time",
  digest_mismatch: "The bytes have changed on their way: try again",
  incomplete_body: SLOW,
  invalid_body: PAGE,
  invalid_drive_name: "A drive cannot have this name",
  invalid_encoding: PAGE,
  invalid_file_name: "A file or folder cannot have this name",
  invalid_form: PAGE,
  invalid_header: PAGE,
  invalid_host: "The server does not accept this address: open the dashboard under another one",
  invalid_parameter: PAGE,
  invalid_parts: "Parts of the upload are missing: upload the file again",
  invalid_path: PAGE,
  malformed_request: PAGE,
  same_file: "It is there already",
  upload_name_mismatch: PAGE,
  cross_origin_session: SESSION,
  link_password_required: "The link has a password",
  missing_key: SESSION,
  session_ended: SESSION,
  unknown_key: SESSION,
  administrator_only: "Only the administrator may do this",
  cross_origin_request:
    "The server does not accept this address: open the dashboard under another one",
  host_not_allowed: "The project may not choose this host name: ask the administrator",
  key_limited: "The key that you signed in with is for other drives or files",
  link_embedded: PAGE,
  missing_permission: KEY,
  rights_exceeded: "The key that you signed in with has fewer rights than this needs",
  wrong_project: "The key that you signed in with is of another project",
  app_key_not_found: "This key is gone",
  app_not_found: "This application is gone",
  challenge_not_found: PAGE,
  drive_not_found: "This drive is gone",
  file_not_found: "There is no file with this name any more",
  key_not_found: "This key is gone",
  link_not_found: "This link is gone",
  project_not_found: "This project is gone",
  route_not_found: PAGE,
  s3_key_not_found: "This key is gone",
  session_not_found: "This session has ended already",
  thumbnail_not_found: "The file has no picture",
  trash_item_not_found: "It is no longer in the trash",
  upload_not_found: "The upload was aborted, or has expired",
  webhook_not_found: "This webhook is gone",
  method_not_allowed: PAGE,
  request_timeout: SLOW,
  access_off: "Access control of the application is off",
  app_exists: "There is an application with this name already",
  app_key_exists: "There is a key with this name already",
  being_removed: "It is being removed: wait a moment",
  drive_exists: "There is a drive with this name already",
  changes_off: "The project keeps no changes: choose for how many days under Activity, Files",
  file_exists: "There is a file with this name already",
  host_exists: "Another application has this host name",
  project_exists: "There is a project with this id already",
  s3_keys_unavailable: "The server cannot keep S3 keys: ask the administrator",
  too_many_links: "The project has as many links as it may have: revoke some first",
  too_many_webhooks: "The project has as many webhooks as it may have: delete some first",
  too_many_open_uploads: "Too many uploads are unfinished: finish or abort some first",
  upload_completed: "The upload is complete already",
  changes_expired: PAGE,
  precondition_failed: "It has changed meanwhile: load it again",
  body_too_large: "This is larger than the server accepts",
  target_too_long: "The name is too long",
  form_body: PAGE,
  unsupported_image: "The picture is of another kind than JPEG, PNG and WebP",
  range_not_satisfiable: "The file has become shorter: load it again",
  expectation_failed: PAGE,
  too_many_wrong_keys: "Too many wrong keys came from your network: wait a while",
  too_many_wrong_passwords: "Too many wrong passwords came from your network: wait a while",
  head_too_large: PAGE,
  file_damaged: "The file is damaged on the server: restore it from a backup, or delete it",
  internal_error: "The server has failed. The administrator finds the reason in its log",
  not_implemented: PAGE,
  upstream_invalid_response: APPLICATION,
  upstream_missing: "The application has no address yet",
  upstream_unreachable: APPLICATION,
  upstream_timeout: APPLICATION,
  database_missing: "The server has no database: ask the administrator",
  memory_exhausted: BUSY,
  shutting_down: "The server is restarting: try again in a moment",
  store_unavailable: "The server cannot reach its store: try again in a moment",
  too_many_connections: BUSY,
  too_many_uploads: BUSY,
  too_many_waiting: BUSY,
  http_version_not_supported: PAGE,
  disk_full: "The disk of the server is full: nothing was stored",
};

/** Returns the words for an error of the server. @param error Its own sentence. */
export function wordsOf({ code, error }: { code?: ErrorCode | undefined; error: string }): string {
  return code === undefined ? error : WORDS[code as keyof typeof WORDS] ?? error;
}
