import { typeByExtension } from "@std/media-types/type-by-extension";

/**
 * A content type that is stored with a file, in characters: two names of 127 characters (RFC 6838, 4.2) and a slash.
 */
export const MAX_CONTENT_TYPE = 255;

/** "When it cannot be derived, it defaults to `application/octet-stream`." */
export const DEFAULT_CONTENT_TYPE = "application/octet-stream";

/**
 * Types that clients send when their user names none: a client library of Deta, and curl. They count as absent, with
 * parameters too: some HTTP libraries add a charset to the form's.
 */
const FILLERS = /^(?:binary\/octet-stream|application\/x-www-form-urlencoded)\s*(?:;|$)/i;

/** Characters of a refused content type that a message quotes. */
const MAX_QUOTED = 100;

/**
 * Returns the content type in a request's header; `undefined` if it is absent, empty, or the filler of a client.
 */
export function namedContentType(header: string | null): string | undefined {
  const type = header?.trim() ?? "";
  return type === "" || FILLERS.test(type) ? undefined : type;
}

/**
 * Checks a content type before it is stored.
 *
 * @returns What is wrong with it, as the end of a sentence that starts with "The content type"; `undefined` for a valid
 * one.
 */
export function contentTypeProblem(type: string): string | undefined {
  // The characters of a header field (RFC 9110, 5.5): downloads send the type back.
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(type)) {
    const quoted = JSON.stringify(type.slice(0, MAX_QUOTED));
    return `${quoted} has a character that no header can hold: it must be like text/plain`;
  }
  if (type.length <= MAX_CONTENT_TYPE) return undefined;
  return `has ${type.length} characters: at most ${MAX_CONTENT_TYPE} are allowed`;
}

/**
 * Returns the content type of a file whose upload names none. "When absent, the content type is derived from the file
 * name."
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * assertEquals(contentTypeOf("photos/a.PNG"), "image/png");
 * assertEquals(contentTypeOf("Makefile"), DEFAULT_CONTENT_TYPE);
 * ```
 */
export function contentTypeOf(name: string): string {
  const base = name.slice(name.lastIndexOf("/") + 1);
  const dot = base.lastIndexOf(".");
  const derived = dot === -1 ? undefined : typeByExtension(base.slice(dot + 1));
  return derived ?? DEFAULT_CONTENT_TYPE;
}

/** Bytes of a thumbnail at most: one value of the store. */
export const MAX_THUMBNAIL = 65_536;

/** The first bytes of each content type, one character a byte. */
const SIGNATURES: readonly [type: string, start: RegExp][] = [
  ["image/jpeg", /^\xff\xd8\xff/],
  // deno-lint-ignore no-control-regex -- the signature has one
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  // Between the two words is the size of the file.
  ["image/webp", /^RIFF[^]{4}WEBP/],
];

/** Bytes that `SIGNATURES` look at. */
const SIGNATURE_LENGTH = 12;

/**
 * Returns the content type of a thumbnail, by its first bytes; `undefined` if it is no JPEG, PNG or WebP.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * assertEquals(thumbnailType(new Uint8Array([0xff, 0xd8, 0xff, 0xe0])), "image/jpeg");
 * assertEquals(thumbnailType(new TextEncoder().encode("<svg>")), undefined);
 * ```
 */
export function thumbnailType(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, SIGNATURE_LENGTH));
  return SIGNATURES.find(([, signature]) => signature.test(start))?.[0];
}
