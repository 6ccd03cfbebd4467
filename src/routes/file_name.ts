import { MAX_CONTENT_TYPE } from "../drive/limits.ts";
import { fileNameProblem } from "../drive/names.ts";
import { namedContentType } from "../drive/content_type.ts";
import type { Call } from "../http/drive_call.ts";
import { errors } from "../http/http_error.ts";
import type { Place } from "../store/records.ts";

/** The file that a call names. @throws {HttpError} 400 where `name` is missing or cannot be one. */
export function placeOf({ project, drive, query }: Call): Place {
  const name = query.required("name");
  const problem = fileNameProblem(name);
  if (problem !== undefined) throw errors.badFileName(problem);
  return { project, drive, name };
}

/** The content type that a call names; `undefined` where it names none. @throws {HttpError} 400 where it is too long. */
export function typeOf({ request }: Call): string | undefined {
  const type = namedContentType(request.headers.get("content-type"));
  if (type !== undefined && type.length > MAX_CONTENT_TYPE) {
    throw errors.badContentType(MAX_CONTENT_TYPE);
  }
  return type;
}
