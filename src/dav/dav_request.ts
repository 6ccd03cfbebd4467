/** The first segment of all paths of WebDAV. */
export const DAV = "dav";

/** How the routes are named in logs and metrics: without names and secrets. */
export const DAV_ROUTE = `/${DAV}`;

/** What may follow the path of WebDAV. */
const END = /^(?:[/?]|$)/;

/**
 * Returns whether a request is for WebDAV. Windows asks the root of a server for its options first, with a header that it
 * alone sends: everyone else is told what the page there allows.
 *
 * @param basePath The path that all routes are below; empty for none.
 */
export function isDavRequest({ method, url, headers }: Request, basePath: string): boolean {
  const path = url.indexOf("/", url.indexOf("://") + 3);
  const start = `${basePath}${DAV_ROUTE}`;
  // Every request of the server comes here, so it is not parsed.
  if (path !== -1 && url.startsWith(start, path)) {
    const end = path + start.length;
    return END.test(url.slice(end, end + 1));
  }
  return method === "OPTIONS" && url.slice(path) === `${basePath}/` && headers.has("translate");
}
