import { typeByExtension } from "@std/media-types/type-by-extension";

/** "When it cannot be derived, it defaults to `application/octet-stream`." */
export const DEFAULT_CONTENT_TYPE = "application/octet-stream";

/** What a client library sends where its caller named no type. It is not a registered type. */
const FILLER = "binary/octet-stream";

/** The content type that a caller really named; `undefined` where it named none. */
export function namedContentType(header: string | null): string | undefined {
  const type = header?.trim() ?? "";
  return type === "" || type.toLowerCase() === FILLER ? undefined : type;
}

/** "When absent, the content type is derived from the file name." */
export function contentTypeOf(name: string): string {
  const base = name.slice(name.lastIndexOf("/") + 1);
  const dot = base.lastIndexOf(".");
  const derived = dot === -1 ? undefined : typeByExtension(base.slice(dot + 1));
  return derived ?? DEFAULT_CONTENT_TYPE;
}
