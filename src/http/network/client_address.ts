// `ipaddr.js` is not used: it reads the IPv6 address `::1.2.3.4` as an IPv4 address, and accepts `1.2.3` and octal numbers.
import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { hostnameOf, isHost } from "../../rules/hosts.ts";

/**
 * The address that a request comes from: the peer's, or, if that is a trusted proxy, "the last address of
 * `X-Forwarded-For` that is not itself trusted". Earlier entries may be forged.
 *
 * @returns The address in its normal form; the transport for a peer on a socket of this machine.
 */
export function clientAddress(
  peer: Deno.Addr,
  headers: Headers,
  trusted: TrustedProxies | undefined,
): string {
  let address = "hostname" in peer ? parseAddress(peer.hostname) ?? peer.hostname : peer.transport;
  if (trusted === undefined) return address;
  const hops = (headers.get("x-forwarded-for") ?? "").split(",").reverse();
  for (const hop of hops) {
    if (!trusted.has(address)) return address;
    const next = parseAddress(hop);
    // A proxy that does not know, or hides, its client stands for all its clients.
    if (next === undefined) return address;
    address = next;
  }
  return address;
}

export class TrustedProxies {
  private constructor(private readonly networks: BlockList) {}

  /** Parses addresses and networks separated by commas (`10.0.0.0/8, ::1`); `undefined` if one of them is invalid. */
  static parse(text: string): TrustedProxies | undefined {
    const networks = text.split(",").map((one) => parseNetwork(one.trim()));
    if (networks.includes(undefined)) return undefined;
    return new TrustedProxies(blockList(networks.filter((network) => network !== undefined)));
  }

  /** Whether an address in normal form is in one of the networks. */
  has(address: string): boolean {
    return this.networks.check(address, familyOf(address));
  }
}

/**
 * The network whose connections are counted together: an IPv4 /24, an IPv6 /64. `undefined` for this machine and for
 * trusted proxies, which forward many clients.
 */
export function connectionNetwork(
  address: string,
  trusted: TrustedProxies | undefined,
): string | undefined {
  const parsed = parseAddress(address);
  if (parsed === undefined || isLoopback(parsed)) return undefined;
  if (trusted?.has(parsed)) return undefined;
  return networkOf(parsed, isIPv6(parsed) ? 64 : 24);
}

/** Returns whether a client is on this machine, by its address as `clientAddress` returns it. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address);
}

/** An address in normal form and the number of bits of its network's prefix. */
export type Network = readonly [address: string, bits: number];

/** `127.0.0.0/8` and `::1`, in their normal form. A `BlockList` takes as long as the rest of a small request. */
const LOOPBACK = /^(?:127\.[\d.]+|0:0:0:0:0:0:0:1)$/;

/**
 * An address in its normal form: without port, brackets and zone, IPv6 with eight groups, an IPv4-mapped IPv6 address as
 * IPv4. `undefined` if the text is not an address.
 */
export function parseAddress(text: string): string | undefined {
  const [, bracketed, plain] = /^\[(.*)\](?::\d+)?$|^([\d.]+)(?::\d+)?$/.exec(text.trim()) ?? [];
  const [address = ""] = (bracketed ?? plain ?? text.trim()).split("%");
  if (isIP(address) !== 6) return isIPv4(address) ? address : undefined;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return groups.map((group) => group.toString(16)).join(":");
  return bytesOf(groups).slice(12).join(".");
}

/** Networks whose addresses hold an IPv4 address, and the bytes at which it may be. */
const EMBEDDING: readonly { network: BlockList; places: readonly number[][] }[] = [
  // IPv4-compatible addresses (RFC 4291, 2.5.5.1) and NAT64 (RFC 6052, 2.1).
  {
    network: blockList([["::", 96], ["64:ff9b::", 96]]),
    places: [[12, 13, 14, 15]],
  },
  // Local NAT64 (RFC 8215), with any length of the prefix (RFC 6052, 2.2).
  {
    network: blockList([["64:ff9b:1::", 48]]),
    places: [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15]],
  },
  // 6to4 (RFC 3056, 2).
  { network: blockList([["2002::", 16]]), places: [[2, 3, 4, 5]] },
];

/** Returns the IPv4 addresses to which a gateway may translate an IPv6 address in its normal form. */
export function embeddedAddresses(address: string): string[] {
  if (!isIPv6(address)) return [];
  const bytes = bytesOf(groupsOf(address));
  return EMBEDDING.filter(({ network }) => network.check(address, "ipv6"))
    .flatMap(({ places }) => places.map((place) => place.map((at) => bytes[at]).join(".")));
}

function bytesOf(groups: readonly number[]): number[] {
  return groups.flatMap((group) => [group >> 8, group & 0xff]);
}

/** Parses an address (`::1`) or a network (`10.0.0.0/8`); `undefined` if the text is neither. */
export function parseNetwork(text: string): Network | undefined {
  const [, address = "", length] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const parsed = isIP(address) === 0 ? undefined : parseAddress(address);
  if (parsed === undefined) return undefined;
  const most = isIPv6(parsed) ? 128 : 32;
  const bits = Number(length ?? most);
  return bits > most ? undefined : [parsed, bits];
}

/**
 * The network of an address, such as `192.0.2/24` or `2001:db8:0:7/64`. Text that is not an address is returned unchanged.
 *
 * @param bits The length of the prefix: a multiple of 8 for IPv4, of 16 for IPv6.
 */
export function networkOf(address: string, bits: number): string {
  const parsed = parseAddress(address);
  if (parsed === undefined) return address;
  const [separator, groupBits] = isIPv6(parsed) ? [":", 16] : [".", 8];
  return `${parsed.split(separator).slice(0, bits / groupBits).join(separator)}/${bits}`;
}

/** A list that checks whether an address is in one of the networks. */
export function blockList(networks: readonly Network[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of networks) list.addSubnet(address, bits, familyOf(address));
  return list;
}

/** The family of an address, as `BlockList` names it. */
export function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // The URL parser writes embedded IPv4 addresses in hexadecimal, too.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = "", after] = canonical.split("::").map((half) => half.split(":"));
  const numbers = (half: readonly string[] | string) =>
    [...half].filter((group) => group !== "").map((group) => Number.parseInt(group, 16));
  const left = numbers(before);
  const right = numbers(after ?? []);
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

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
