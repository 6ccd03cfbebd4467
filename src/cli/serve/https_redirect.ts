import { hostnameOf } from "../../rules/hosts.ts";
import { renderError, toHttpError } from "../../http/error_response.ts";
import { errors } from "../../http/http_error.ts";

/** The path of the answers to challenges (RFC 8555, 8.3). */
const CHALLENGE = "/.well-known/acme-challenge/";

export interface RedirectOptions {
  /** Returns the answer to a challenge of an authority; `undefined` for an unknown token. */
  answerOf: (token: string) => Promise<string | undefined>;
  /** Returns the https address of a host name; `undefined` for one that is not of this server. */
  originOf: (name: string) => Promise<string | undefined>;
}

/**
 * Returns the handler of the port for plain HTTP: it answers challenges and redirects everything else to https. It only
 * redirects to host names of this server, so that no forged `Host` header leads a caller elsewhere.
 */
export function httpsRedirect(
  { answerOf, originOf }: RedirectOptions,
): (request: Request) => Promise<Response> {
  return async ({ url }) => {
    try {
      // The target exactly as it was sent: parsing would change names of files.
      const [, host = "", target = ""] = /^https?:\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
      if (target.startsWith(CHALLENGE)) {
        const text = await answerOf(target.slice(CHALLENGE.length));
        if (text === undefined) throw errors.challengeNotFound();
        return new Response(text, {
          headers: { "Content-Type": "text/plain", "Content-Length": String(text.length) },
        });
      }
      const origin = await originOf(hostnameOf(host));
      if (origin === undefined) throw errors.notRedirected();
      return new Response(null, { status: 308, headers: { Location: origin + target } });
    } catch (error) {
      return renderError(toHttpError(error));
    }
  };
}
