/** Whether the runtime is Deno 2.9 or later, which is the oldest that was seen to know what is asked for here. */
export function isRecentRuntime(version: string = Deno.version.deno): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 9);
}

/**
 * "Bytes are never changed on the way (no compression of ours)." Recent runtimes have an option for that; older ones keep
 * their hands off an answer that says so to all on its way.
 */
export function untouched<Rest extends unknown[]>(
  handler: (request: Request, ...rest: Rest) => Promise<Response>,
  isRecent: boolean = isRecentRuntime(),
): (request: Request, ...rest: Rest) => Promise<Response> {
  if (isRecent) return handler;
  return async (request, ...rest) => {
    const response = await handler(request, ...rest);
    if (!request.headers.has("accept-encoding") || !isPackable(response)) return response;
    // One header, as of several only the first is read.
    const told = response.headers.get("cache-control");
    response.headers.set("Cache-Control", told === null ? "no-transform" : `${told}, no-transform`);
    return response;
  };
}

function isPackable({ body, headers }: Response): boolean {
  return body !== null && !headers.has("content-encoding");
}
