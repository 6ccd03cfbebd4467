import { BlockList, isIP, isIPv6 } from "node:net";
import { parseAddress } from "./client_address.ts";

/**
 * Addresses that answer for the machine or its hosting provider, with credentials among others: link-local ones
 * (RFC 3927, RFC 4291; also behind NAT64, RFC 6052), and the metadata services of AWS, Alibaba Cloud, Azure and Oracle
 * that have others.
 */
const LINK_LOCAL: readonly [string, number][] = [
  ["169.254.0.0", 16],
  ["fe80::", 10],
  ["64:ff9b::a9fe:0", 112],
  ["fd00:ec2::254", 128],
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
  ["192.0.0.192", 32],
];

/** Names of metadata services. What else resolves to one shows when it is connected to. */
const METADATA = new Set([
  "metadata",
  "metadata.goog",
  "metadata.google.internal",
  "metadata.azure.internal",
  "instance-data",
  "instance-data.ec2.internal",
]);

const LOOPBACK: readonly [string, number][] = [["127.0.0.0", 8], ["::1", 128], ["0.0.0.0", 32], [
  "::",
  128,
]];

/** A host, or all addresses of a network, with one port or any. */
interface Allowed {
  name?: string;
  network?: BlockList;
  port: number | undefined;
}

/** Upstreams that the operator allows, although they would be refused: `--allow-upstream`. */
export class AllowedUpstreams {
  readonly #entries: readonly Allowed[];

  private constructor(entries: readonly Allowed[]) {
    this.#entries = entries;
  }

  static readonly none: AllowedUpstreams = new AllowedUpstreams([]);

  /** Reads hosts (`metadata.google.internal`, `[::1]:8000`) and networks (`169.254.0.0/16`), separated by commas. */
  static parse(text: string): AllowedUpstreams | undefined {
    const entries = text.split(",").map((one) => parseAllowed(one.trim()));
    return entries.includes(undefined)
      ? undefined
      : new AllowedUpstreams(entries.filter((entry) => entry !== undefined));
  }

  /** Whether one of a host's spellings, a name or addresses, is allowed at a port. */
  has(hosts: readonly string[], port: number): boolean {
    return this.#entries.some((allowed) =>
      (allowed.port === undefined || allowed.port === port) &&
      hosts.some((host) => allowed.name === host || isIn(allowed.network, host))
    );
  }
}

/** A host and port that an application was said to be at. */
export interface Target {
  /** As `URL` has it. */
  hostname: string;
  port: number;
}

/**
 * Where the gate connects to. Link-local addresses, the metadata services of clouds and the ports of kvdrive itself are
 * refused, unless they are allowed.
 */
export class UpstreamRules {
  readonly #allowed: AllowedUpstreams;
  readonly #ownPorts: ReadonlySet<number>;

  /** @param ownPorts The ports on which this process listens. They may be added later, as the listeners start. */
  constructor(allowed: AllowedUpstreams, ownPorts: ReadonlySet<number>) {
    this.#allowed = allowed;
    this.#ownPorts = ownPorts;
  }

  /**
   * Why the gate does not connect to an address such as `http://127.0.0.1:3000`, as the end of a sentence, as far as the
   * text shows it; `undefined` where it shows nothing.
   */
  problemOf(upstream: string): string | undefined {
    const target = targetOf(upstream);
    const host = plainHost(target.hostname);
    if (this.#allowed.has([host], target.port)) return undefined;
    if (isIn(LINK_LOCALS, host) || METADATA.has(host)) {
      return "leads to a link-local address or the metadata of a cloud: only --allow-upstream allows that";
    }
    const isHere = isIn(LOOPBACKS, host) || host === "localhost" || host.endsWith(".localhost");
    if (!isHere || !this.#ownPorts.has(target.port)) return undefined;
    return "leads to this server itself: only --allow-upstream allows that";
  }

  /**
   * Whether a connection may be used. It is judged by the addresses of its two ends, because a name may have resolved to
   * another address than it does for others.
   */
  allows(
    target: Target,
    { remoteAddr, localAddr }: { remoteAddr: Deno.Addr; localAddr: Deno.Addr },
  ): boolean {
    const remote = addressOf(remoteAddr);
    if (this.#allowed.has([plainHost(target.hostname), remote], target.port)) return true;
    if (isIn(LINK_LOCALS, remote)) return false;
    // A connection to an address of this machine has that address at both ends.
    const isHere = isIn(LOOPBACKS, remote) || remote === addressOf(localAddr);
    return !isHere || !this.#ownPorts.has(target.port);
  }
}

const LINK_LOCALS = blockList(LINK_LOCAL);
const LOOPBACKS = blockList(LOOPBACK);

/** The host and port of an upstream. */
export function targetOf(upstream: string): Target {
  const { protocol, hostname, port } = new URL(upstream);
  const usual = protocol === "https:" ? 443 : 80;
  return { hostname, port: port === "" ? usual : Number(port) };
}

/** A name without the dot at its end, or an address in its one form. */
function plainHost(hostname: string): string {
  return parseAddress(hostname) ?? hostname.toLowerCase().replace(/\.$/, "");
}

function addressOf(address: Deno.Addr): string {
  const text = "hostname" in address ? address.hostname : "";
  return parseAddress(text) ?? text;
}

function blockList(networks: readonly [string, number][]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of networks) list.addSubnet(address, bits, familyOf(address));
  return list;
}

function isIn(networks: BlockList | undefined, host: string): boolean {
  return networks !== undefined && isIP(host) !== 0 && networks.check(host, familyOf(host));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}

const NAME = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9])?$/;

/** `10.0.0.0/8`, `::1`, and with a port `10.0.0.0/8:8000`, `[::1]:8000`, `[fe80::]/10:8000`, `app.internal:8000`. */
function parseAllowed(text: string): Allowed | undefined {
  const network = parseNetwork(text);
  if (network !== undefined) return { network, port: undefined };
  const [, host = text, portText] = /^(.*[^:]):(\d{1,5})$/.exec(text) ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  const [, address, bits = ""] = /^\[([0-9a-f:.]+)\](\/\d{1,3})?$/i.exec(host) ?? [];
  const bracketed = parseNetwork(address === undefined ? "" : address + bits);
  const plain = host.includes(":") ? undefined : parseNetwork(host);
  const within = bracketed ?? plain;
  if (within !== undefined) return { network: within, port };
  const name = host.toLowerCase();
  return NAME.test(name) && !/^[0-9.]+$/.test(name) ? { name, port } : undefined;
}

/** One address, or those of a network. */
function parseNetwork(text: string): BlockList | undefined {
  const [address = "", bits, ...more] = text.split("/");
  const parsed = isIP(address) === 0 || address.includes("%") ? undefined : parseAddress(address);
  if (parsed === undefined || more.length > 0 || !/^\d{0,3}$/.test(bits ?? "")) return undefined;
  const most = isIPv6(parsed) ? 128 : 32;
  const length = bits === undefined ? most : Number(bits);
  return bits === "" || length > most ? undefined : blockList([[parsed, length]]);
}
