import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";

/**
 * An address in its one form: without a port, brackets or zone, an IPv4 address inside of IPv6 as the former.
 * `undefined` where the text is no address.
 */
export function parseAddress(text: string): string | undefined {
  const [, bracketed, plain] = /^\[(.*)\](?::\d+)?$|^([\d.]+)(?::\d+)?$/.exec(text.trim()) ?? [];
  const [address = ""] = (bracketed ?? plain ?? text.trim()).split("%");
  if (isIP(address) !== 6) return isIPv4(address) ? address : undefined;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return groups.map((group) => group.toString(16)).join(":");
  return groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]).join(".");
}

/**
 * The network of an address whose prefix has so many bits, a multiple of 16, of IPv4 also of 8: `192.0.2/24`,
 * `2001:db8:0:7/64`. What is no address is returned as it is.
 */
export function networkOf(address: string, bits: number): string {
  const parsed = parseAddress(address);
  if (parsed === undefined) return address;
  const [separator, groupBits] = isIPv6(parsed) ? [":", 16] : [".", 8];
  return `${parsed.split(separator).slice(0, bits / groupBits).join(separator)}/${bits}`;
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  // The parser of URLs writes it in hexadecimal throughout.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = "", after] = canonical.split("::").map((half) => half.split(":"));
  const numbers = (half: readonly string[] | string) =>
    [...half].filter((group) => group !== "").map((group) => Number.parseInt(group, 16));
  const left = numbers(before);
  const right = numbers(after ?? []);
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

/** The networks of proxies that are believed what they say of a caller's address. */
export class TrustedProxies {
  readonly #networks = new BlockList();

  /** Reads addresses and networks (`10.0.0.0/8, ::1`), separated by commas. `undefined` where one is neither. */
  static parse(text: string): TrustedProxies | undefined {
    const proxies = new TrustedProxies();
    const isUnderstood = text.split(",").every((one) => proxies.#add(one.trim()));
    return isUnderstood ? proxies : undefined;
  }

  #add(text: string): boolean {
    const [, address = "", length] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
    const parsed = isIP(address) === 0 ? undefined : parseAddress(address);
    if (parsed === undefined) return false;
    const bits = isIPv6(parsed) ? 128 : 32;
    const prefix = Number(length ?? bits);
    if (prefix > bits) return false;
    this.#networks.addSubnet(parsed, prefix, familyOf(parsed));
    return true;
  }

  /** Whether an address, in its one form, is in one of the networks. */
  has(address: string): boolean {
    return this.#networks.check(address, familyOf(address));
  }
}

/**
 * The address that a request comes from: the peer's, or, where that is a trusted proxy, "the last address of
 * `X-Forwarded-For` that is not itself trusted". What stands before it anybody can have written.
 */
export function clientAddress(
  peer: Deno.Addr,
  headers: Headers,
  trusted: TrustedProxies | undefined,
): string {
  // Whoever comes over a socket of this machine has no address: they count as one.
  let address = "hostname" in peer ? parseAddress(peer.hostname) ?? peer.hostname : peer.transport;
  if (trusted === undefined) return address;
  const hops = (headers.get("x-forwarded-for") ?? "").split(",").reverse();
  for (const hop of hops) {
    if (!trusted.has(address)) return address;
    const next = parseAddress(hop);
    // A proxy that does not know, or hides, who called it stands for its callers.
    if (next === undefined) return address;
    address = next;
  }
  return address;
}

/**
 * The network whose connections are counted together: an IPv4 /24, an IPv6 /64. `undefined` for this machine and for a
 * trusted proxy, behind which are many clients.
 */
export function connectionNetwork(
  address: string,
  trusted: TrustedProxies | undefined,
): string | undefined {
  const parsed = parseAddress(address);
  if (parsed === undefined || LOOPBACK_NETWORKS.check(parsed, familyOf(parsed))) return undefined;
  if (trusted?.has(parsed)) return undefined;
  return networkOf(parsed, isIPv6(parsed) ? 64 : 24);
}

const LOOPBACK_NETWORKS = new BlockList();
LOOPBACK_NETWORKS.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK_NETWORKS.addAddress("::1", "ipv6");

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}
