import { type BlockList, isIP } from "node:net";
import {
  blockList,
  embeddedAddresses,
  familyOf,
  type Network,
  parseAddress,
  parseNetwork,
} from "./client_address.ts";

/**
 * Addresses that serve the machine or its hosting provider, credentials included: link-local ones (RFC 3927, RFC 4291),
 * and the other metadata services of AWS, Alibaba Cloud, Azure and Oracle.
 */
const LINK_LOCAL = blockList([
  ["169.254.0.0", 16],
  ["fe80::", 10],
  ["fd00:ec2::254", 128],
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
  ["192.0.0.192", 32],
]);

/** The names of metadata services. Other names that resolve to one are detected when a connection is made. */
const METADATA = new Set([
  "metadata",
  "metadata.goog",
  "metadata.google.internal",
  "metadata.azure.internal",
  "instance-data",
  "instance-data.ec2.internal",
]);

const LOOPBACK = blockList([["127.0.0.0", 8], ["::1", 128], ["0.0.0.0", 32], ["::", 128]]);

/**
 * Networks that no public host has: private (RFC 1918, RFC 4193), shared (RFC 6598), of this machine, for tests, multicast
 * and reserved (RFC 6890).
 */
const NOT_PUBLIC = blockList([
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
  ["::", 127],
  ["100::", 64],
  ["fc00::", 7],
  ["fec0::", 10],
  ["ff00::", 8],
]);

/** What differs between the upstreams of applications, which the administrator sets, and webhooks, which owners set. */
export interface RuleKind {
  /** The option that allows further addresses. */
  option: "--allow-upstream" | "--allow-webhook";
  /** Whether only public addresses are allowed without it. */
  isPublicOnly: boolean;
}

const FOR_UPSTREAMS: RuleKind = { option: "--allow-upstream", isPublicOnly: false };

export const FOR_WEBHOOKS: RuleKind = { option: "--allow-webhook", isPublicOnly: true };

export interface Target {
  /** As `URL` has it. */
  hostname: string;
  port: number;
}

/**
 * The addresses that the gate, or webhooks, may connect to. Link-local addresses, the metadata services of clouds and the
 * ports of kvdrive itself are refused, unless they are allowed explicitly; for webhooks also all that are not public.
 */
export class UpstreamRules {
  /** @param ownPorts The ports on which this process listens. They may be added later, as the listeners start. */
  constructor(
    private readonly allowed: AllowedUpstreams,
    private readonly ownPorts: ReadonlySet<number>,
    private readonly kind: RuleKind = FOR_UPSTREAMS,
  ) {}

  /**
   * Why there is no connection to an address such as `http://127.0.0.1:3000`, as the end of a sentence; `undefined` if its
   * text shows no reason. A host name may still resolve to a forbidden address: see `allowsAddress` and `allows`.
   */
  problemOf(upstream: string): string | undefined {
    const target = targetOf(upstream);
    const host = normalHost(target.hostname);
    if (this.allowed.has([host], target.port)) return undefined;
    if (leadsTo(LINK_LOCAL, host) || METADATA.has(host)) {
      return `leads to a link-local address or the metadata of a cloud: ${this.#advice}`;
    }
    const isLocal = leadsTo(LOOPBACK, host) || host === "localhost" || host.endsWith(".localhost");
    if (this.kind.isPublicOnly && (isLocal || leadsTo(NOT_PUBLIC, host))) {
      return `leads to this machine or a private network: ${this.#advice}`;
    }
    if (!isLocal || !this.ownPorts.has(target.port)) return undefined;
    return `leads to this server itself: ${this.#advice}`;
  }

  get #advice(): string {
    return `only ${this.kind.option} allows that`;
  }

  /** Whether there may be a connection to one of the addresses that a host name has. */
  allowsAddress(target: Target, address: string): boolean {
    const remote = parseAddress(address) ?? address;
    if (this.allowed.has([normalHost(target.hostname), remote], target.port)) return true;
    return !leadsTo(LINK_LOCAL, remote) &&
      !(this.kind.isPublicOnly && (leadsTo(NOT_PUBLIC, remote) || leadsTo(LOOPBACK, remote)));
  }

  /** Whether an open connection may be used. Checks its addresses, because a name may resolve differently each time. */
  allows(
    target: Target,
    { remoteAddr, localAddr }: { remoteAddr: Deno.Addr; localAddr: Deno.Addr },
  ): boolean {
    const remote = addressOf(remoteAddr);
    if (this.allowed.has([normalHost(target.hostname), remote], target.port)) return true;
    if (!this.allowsAddress(target, remote)) return false;
    // A connection to another address of this machine has that address at both ends.
    const isLocal = leadsTo(LOOPBACK, remote) || remote === addressOf(localAddr);
    return !isLocal || !this.ownPorts.has(target.port);
  }
}

/** A host or a network, with one port or any. */
interface AllowedUpstream {
  name?: string;
  network?: BlockList;
  /** Absent for any port. */
  port: number | undefined;
}

/** Upstreams that the operator allows although they would be refused: `--allow-upstream`. */
export class AllowedUpstreams {
  private constructor(private readonly entries: readonly AllowedUpstream[]) {}

  static readonly none: AllowedUpstreams = new AllowedUpstreams([]);

  /** Parses hosts and networks separated by commas (`[::1]:8000, 169.254.0.0/16`); `undefined` if one is invalid. */
  static parse(text: string): AllowedUpstreams | undefined {
    const entries = text.split(",").map((one) => parseAllowed(one.trim()));
    return entries.includes(undefined)
      ? undefined
      : new AllowedUpstreams(entries.filter((entry) => entry !== undefined));
  }

  /** Whether a port is allowed on one of these names or addresses of the same host. */
  has(hosts: readonly string[], port: number): boolean {
    return this.entries.some((allowed) =>
      (allowed.port === undefined || allowed.port === port) &&
      hosts.some((host) => allowed.name === host || isIn(allowed.network, host))
    );
  }
}

export function targetOf(upstream: string): Target {
  const { protocol, hostname, port } = new URL(upstream);
  const defaultPort = protocol === "https:" ? 443 : 80;
  return { hostname, port: port === "" ? defaultPort : Number(port) };
}

/** A name in lower case without a trailing dot, or an address in its normal form. */
function normalHost(hostname: string): string {
  return parseAddress(hostname) ?? hostname.toLowerCase().replace(/\.$/, "");
}

function addressOf(address: Deno.Addr): string {
  const text = "hostname" in address ? address.hostname : "";
  return parseAddress(text) ?? text;
}

function isIn(networks: BlockList | undefined, host: string): boolean {
  return networks !== undefined && isIP(host) !== 0 && networks.check(host, familyOf(host));
}

/** Whether an address, or an IPv4 address that a gateway may take from it, is in one of the networks. */
function leadsTo(networks: BlockList, host: string): boolean {
  return isIn(networks, host) || embeddedAddresses(host).some((one) => isIn(networks, one));
}

const NAME = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9])?$/;

/** `10.0.0.0/8`, `::1`, and with a port `10.0.0.0/8:8000`, `[::1]:8000`, `[fe80::]/10:8000`, `app.internal:8000`. */
function parseAllowed(text: string): AllowedUpstream | undefined {
  const network = parseNetwork(text);
  if (network !== undefined) return { network: blockList([network]), port: undefined };
  const [, host = text, portText] = /^(.*[^:]):(\d{1,5})$/.exec(text) ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  const within = networkOfHost(host);
  if (within !== undefined) return { network: blockList([within]), port };
  const name = host.toLowerCase();
  return NAME.test(name) && !/^[0-9.]+$/.test(name) ? { name, port } : undefined;
}

/** The network of a host that is written with a port: IPv6 in brackets, IPv4 without. */
function networkOfHost(host: string): Network | undefined {
  const [, address, bits = ""] = /^\[([0-9a-f:.]+)\](\/\d{1,3})?$/i.exec(host) ?? [];
  if (address !== undefined) return parseNetwork(address + bits);
  return host.includes(":") ? undefined : parseNetwork(host);
}
