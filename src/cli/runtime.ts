/** Whether the runtime is Deno 2.9 or later, which is the oldest that was seen to know what is asked for here. */
export function isRecentRuntime(version: string = Deno.version.deno): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 9);
}

/**
 * Makes up for what older runtimes do otherwise. "Bytes are never changed on the way (no compression of ours)": recent ones
 * have an option for that, older ones keep their hands off an answer that says so to all on its way. And they end a
 * connection of which they have not read all, without a word to the caller, who would send the next request over it.
 */
export function forOlderRuntimes<Rest extends unknown[]>(
  handler: (request: Request, ...rest: Rest) => Promise<Response>,
  isRecent: boolean = isRecentRuntime(),
): (request: Request, ...rest: Rest) => Promise<Response> {
  if (isRecent) return handler;
  return async (request, ...rest) => {
    const response = await handler(request, ...rest);
    if (request.body !== null && response.status >= 400) {
      response.headers.set("Connection", "close");
    }
    if (!mayBePacked(request, response)) return response;
    // One header, as of several only the first is read.
    const told = response.headers.get("cache-control");
    response.headers.set("Cache-Control", told === null ? "no-transform" : `${told}, no-transform`);
    return response;
  };
}

/** A request for the head alone gets the same headers as one for all. */
function mayBePacked(request: Request, { body, headers }: Response): boolean {
  if (!request.headers.has("accept-encoding") || headers.has("content-encoding")) return false;
  return body !== null || request.method === "HEAD";
}
