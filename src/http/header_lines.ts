/** A request as the server of `http1/` passes it on, or as the runtime does. */
interface ReceivedRequest extends Request {
  readonly lines?: readonly { lower: string; value: string }[];
}

/**
 * Returns the headers of a request, each line for itself if the server kept them: `Headers` joins the lines of one name,
 * and the runtime takes long to iterate it.
 */
export function headerLines(request: ReceivedRequest): Iterable<readonly [string, string]> {
  return request.lines?.map(({ lower, value }) => [lower, value] as const) ?? request.headers;
}
