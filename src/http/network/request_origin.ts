import { hostnameOf } from "../../rules/hosts.ts";
import { parseAddress, type TrustedProxies } from "./client_address.ts";

/** A host name or address with an optional port, as a trusted proxy sends it. */
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/**
 * Returns the origin that the client requested, such as `https://files.example.com`: as the request names it, or as a
 * trusted proxy does in `X-Forwarded-Proto` and `X-Forwarded-Host`.
 *
 * @param url The URL of the request, with the scheme of the connection.
 */
export function requestOrigin(
  url: string,
  headers: Headers,
  peer: Deno.Addr,
  trusted: TrustedProxies | undefined,
): string {
  const scheme = url.startsWith("https:") ? "https" : "http";
  const host = headers.get("host") ?? "";
  const address = "hostname" in peer ? parseAddress(peer.hostname) : undefined;
  if (address === undefined || !trusted?.has(address)) return `${scheme}://${host}`;
  const last = (name: string) => headers.get(name)?.split(",").at(-1)?.trim() ?? "";
  const proto = last("x-forwarded-proto").toLowerCase();
  const forwardedHost = last("x-forwarded-host");
  return `${proto === "https" || proto === "http" ? proto : scheme}://${
    HOST.test(forwardedHost) ? forwardedHost : host
  }`;
}

/** Returns the name that a request's `Host` header has, in lower case and without the port. */
export function requestedHost(headers: Headers): string {
  return hostnameOf(headers.get("host") ?? "");
}
