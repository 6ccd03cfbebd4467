import { isIP, isIPv4, isIPv6 } from "node:net";

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
