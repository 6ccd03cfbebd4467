import { hostnameOf, isHost } from "../../rules/hosts.ts";
import { parseAddress, type TrustedProxies } from "./client_address.ts";

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
  // Without the header, which HTTP/1.0 allows, the URL has the server's own address.
  const host = headers.get("host") ?? new URL(url).host;
  const address = trusted && "hostname" in peer ? parseAddress(peer.hostname) : undefined;
  if (address === undefined || !trusted?.has(address)) return `${scheme}://${host}`;
  const last = (name: string) => headers.get(name)?.split(",").at(-1)?.trim() ?? "";
  const proto = last("x-forwarded-proto").toLowerCase();
  const forwardedHost = last("x-forwarded-host");
  return `${proto === "https" || proto === "http" ? proto : scheme}://${
    isHost(forwardedHost) ? forwardedHost : host
  }`;
}

/** Returns the name that a request's `Host` header has, in lower case and without the port. */
export function requestedHost(headers: Headers): string {
  return hostnameOf(headers.get("host") ?? "");
}
