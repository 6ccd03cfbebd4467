import { isIP, isIPv4, isIPv6 } from "node:net";

/** How many of the eight groups of an IPv6 address one customer of a provider has for itself to the end: a /64. */
const NETWORK_GROUPS = 4;

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

/** What stands for an address where callers are counted: an IPv6 address is one of many that its caller can take. */
export function networkOf(address: string): string {
  const parsed = parseAddress(address) ?? address;
  if (!isIPv6(parsed)) return parsed;
  return `${parsed.split(":").slice(0, NETWORK_GROUPS).join(":")}::/64`;
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
