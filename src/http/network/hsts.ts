/** The value of the header: a year, in seconds. Subdomains may be other servers, so they decide for themselves. */
export const HSTS = "max-age=31536000";

export const HSTS_HEADER = "Strict-Transport-Security";

/** Makes browsers use https only from the first response on (RFC 6797). */
export function withHsts<Info>(
  app: (request: Request, info: Info) => Promise<Response>,
): (request: Request, info: Info) => Promise<Response> {
  return async (request, info) => {
    const response = await app(request, info);
    response.headers.set(HSTS_HEADER, HSTS);
    return response;
  };
}
