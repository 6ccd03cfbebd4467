import { HttpError, KEY_SCHEME } from "../http/http_error.ts";
import type { ErrorCode } from "../rules/error_codes.ts";

/** The codes for malformed messages, by their status. */
const MALFORMED = {
  400: "malformed_request",
  405: "method_not_allowed",
  414: "target_too_long",
  417: "expectation_failed",
  431: "head_too_large",
  501: "not_implemented",
  505: "http_version_not_supported",
} as const satisfies Record<number, ErrorCode>;

type MalformedStatus = keyof typeof MALFORMED;

/** The error responses that only the gate has. Each sentence says what was wrong and what would be right. */
export const gateErrors = {
  badForwardedHost: () =>
    new HttpError(
      "invalid_host",
      "The X-Forwarded-Host header is not a host name with an optional port: the proxy has to set it",
    ),
  dotSegments: () =>
    new HttpError(
      "invalid_path",
      'The path has a backslash, or a segment "." or "..": write it without them',
    ),
  badSignIn: () =>
    new HttpError(
      "invalid_form",
      'The form must have the project key in "key": use the sign-in page',
    ),
  crossOriginSession: () =>
    new HttpError(
      "cross_origin_session",
      "A browser session is accepted only from the application's own pages: send a key in X-API-Key",
      { "WWW-Authenticate": KEY_SCHEME },
    ),
  crossOriginForm: () =>
    new HttpError(
      "cross_origin_request",
      "The form was not sent by the sign-in page: open that page and use its form",
    ),
  hostNotFound: () =>
    new HttpError(
      "app_not_found",
      "There is no application here: an application has its own host name, or the path /{project_id}/{app}/ under an IP address, localhost or a name in --apps-host",
    ),
  gatePageNotFound: () =>
    new HttpError(
      "route_not_found",
      "There is no such page: the gate has /.kvdrive/sign-in and /.kvdrive/sign-out",
    ),
  badMessage: (status: MalformedStatus, problem: string) =>
    new HttpError(
      MALFORMED[status],
      `The request cannot be passed on: ${problem}`,
      status === 405 ? { Allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" } : {},
    ),
  upstreamMissing: () =>
    new HttpError(
      "upstream_missing",
      "The application has no upstream yet: the administrator must set one",
    ),
  upstreamUnreachable: () =>
    new HttpError("upstream_unreachable", "The application cannot be reached: try again later"),
  upstreamForbidden: () =>
    new HttpError(
      "upstream_forbidden",
      "The application is at an address that this server does not connect to: the administrator must change or allow it",
    ),
  upstreamInvalidResponse: () =>
    new HttpError(
      "upstream_invalid_response",
      "The application sent a response that is not valid HTTP/1.1: fix the application",
    ),
  upstreamTimeout: () =>
    new HttpError("upstream_timeout", "The application did not answer in time: try again later"),
} as const;
