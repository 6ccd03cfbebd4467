/** A request as the server of `http1/` passes it on, or as the runtime does. */
interface ReceivedRequest extends Request {
  readonly lines?: readonly { lower: string; value: string }[];
}

/**
 * Returns the header lines of a request, as they were received if the server kept them: `Headers` joins lines of the same
 * name, and is slow to iterate.
 */
export function headerLines(request: ReceivedRequest): Iterable<readonly [string, string]> {
  return request.lines?.map(({ lower, value }) => [lower, value] as const) ?? request.headers;
}
