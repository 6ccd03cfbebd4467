import { typeByExtension } from "@std/media-types/type-by-extension";

/** A content type that is stored with a file: two names of 127 characters (RFC 6838, 4.2) and a slash. */
export const MAX_CONTENT_TYPE = 255;

/** "When it cannot be derived, it defaults to `application/octet-stream`." */
export const DEFAULT_CONTENT_TYPE = "application/octet-stream";

/** What a client library sends where its caller named no type. It is not a registered type. */
const FILLER = "binary/octet-stream";

/** The content type that a caller really named; `undefined` where it named none. */
export function namedContentType(header: string | null): string | undefined {
  const type = header?.trim() ?? "";
  return type === "" || type.toLowerCase() === FILLER ? undefined : type;
}

/** How many characters of one a message repeats. */
const QUOTED = 100;

/**
 * What is wrong with a content type that is to be stored, as the end of a sentence that begins with "The content type";
 * `undefined` if nothing.
 */
export function contentTypeProblem(type: string): string | undefined {
  // What a header field can hold (RFC 9110, 5.5).
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(type)) {
    return `${
      JSON.stringify(type.slice(0, QUOTED))
    } has a character that no header can hold: it must be like text/plain`;
  }
  return type.length > MAX_CONTENT_TYPE
    ? `has ${type.length} characters: at most ${MAX_CONTENT_TYPE} are allowed`
    : undefined;
}

/** "When absent, the content type is derived from the file name." */
export function contentTypeOf(name: string): string {
  const base = name.slice(name.lastIndexOf("/") + 1);
  const dot = base.lastIndexOf(".");
  const derived = dot === -1 ? undefined : typeByExtension(base.slice(dot + 1));
  return derived ?? DEFAULT_CONTENT_TYPE;
}
