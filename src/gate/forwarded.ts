import { clientAddress, type TrustedProxies } from "../http/client_address.ts";
import { errors } from "../http/http_error.ts";
import { joinedField } from "../http1/fields.ts";
import { isHost, type RequestHead } from "../http1/request_head.ts";

/** Where a request came from, as far as we believe it. */
export interface Origin {
  /** The caller's address. */
  address: string;
  proto: "http" | "https";
  /** The host that the caller called, with its port. It selects the application; only HTTP/1.0 may have none. */
  host: string | undefined;
}

/** What the gate knows of a connection. */
export interface Peer {
  address: Deno.NetAddr;
  /** Whether the connection is one of TLS. */
  isSecure: boolean;
}

/**
 * Reads where a request came from: the connection says it, or a trusted proxy at its other end.
 *
 * @throws {HttpError} 400 where such a proxy names a host that is none.
 */
export function originOf(
  { fields, host }: Pick<RequestHead, "fields" | "host">,
  { address, isSecure }: Peer,
  trusted: TrustedProxies | undefined,
): Origin {
  const own: Origin = {
    address: clientAddress(address, NO_HEADERS, undefined),
    proto: isSecure ? "https" : "http",
    host,
  };
  if (trusted === undefined || !trusted.has(own.address)) return own;
  const told = (name: string) => joinedField(fields, name)?.split(",").at(-1)?.trim();
  const hops = new Headers({ "x-forwarded-for": joinedField(fields, "x-forwarded-for") ?? "" });
  const proto = told("x-forwarded-proto")?.toLowerCase();
  return {
    address: clientAddress(address, hops, trusted),
    proto: proto === "https" || proto === "http" ? proto : own.proto,
    host: forwardedHost(told("x-forwarded-host")) ?? host,
  };
}

function forwardedHost(told: string | undefined): string | undefined {
  if (told === undefined || told === "") return undefined;
  if (!isHost(told)) throw errors.badForwardedHost();
  return told;
}

const NO_HEADERS = new Headers();
