import type { Preconditions } from "../drive/preconditions.ts";

/** The conditional headers of a request. */
export function preconditionsOf(headers: Headers): Preconditions {
  return {
    ifMatch: headers.get("if-match"),
    ifNoneMatch: headers.get("if-none-match"),
    ifModifiedSince: headers.get("if-modified-since"),
    ifUnmodifiedSince: headers.get("if-unmodified-since"),
    ifRange: headers.get("if-range"),
  };
}
