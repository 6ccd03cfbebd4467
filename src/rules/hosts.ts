/**
 * Host names: which of them an application may have, which are the server's own, and the addresses of applications.
 *
 * @module
 */
import { isIPv4, isIPv6 } from "node:net";

/** An upstream address, in characters: longer ones are mistakes. */
export const MAX_UPSTREAM = 2048;

/** A host name, and one label of it, in characters (RFC 1035, 2.3.4). */
export const MAX_HOST = 253;
export const MAX_HOST_LABEL = 63;

/** An origin in the form that people write. `URL` alone would correct it, or drop a user, a path or a query. */
const ORIGIN = /^https?:\/\/[^\s\\/?#@]+\/?$/i;

const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** A last label that makes browsers parse the host as an IPv4 address (URL standard, "ends in a number checker"). */
const NUMBER_LABEL = /^([0-9]+|0x[0-9a-f]*)$/;

const LOCALHOST = "localhost";

/**
 * Checks the address of an application.
 *
 * @returns What is wrong with it, as the end of a sentence; `undefined` for a valid address.
 */
export function upstreamProblem(text: string): string | undefined {
  if (text.length > MAX_UPSTREAM) return `is too long: at most ${MAX_UPSTREAM} characters`;
  if (ORIGIN.test(text) && URL.canParse(text)) return undefined;
  return "must be like http://127.0.0.1:3000: http or https, a host and a port, and nothing else";
}

/** An address with a path, in characters that need no encoding. */
const ADDRESS = /^https?:\/\/[^\s\\/?#@]+(?:[\/?][\x21-\x7e]*)?$/i;

/**
 * Checks the address of the receiver of a webhook.
 *
 * @returns What is wrong with it, as the end of a sentence; `undefined` for a valid address.
 */
export function webhookUrlProblem(text: string): string | undefined {
  if (text.length > MAX_UPSTREAM) return `is too long: at most ${MAX_UPSTREAM} characters`;
  if (ADDRESS.test(text) && !/[#\\]/.test(text) && URL.canParse(text)) return undefined;
  return "must be like https://example.com/path: http or https, without a user and a fragment, in ASCII";
}

/**
 * Checks the host name of an application, in lower case.
 *
 * @returns What is wrong with it, as the end of a sentence; `undefined` for a valid name.
 */
export function hostProblem(text: string): string | undefined {
  const labels = text.split(".");
  const isName = text.length <= MAX_HOST && !NUMBER_LABEL.test(labels.at(-1) ?? "") &&
    labels.every((label) => label.length <= MAX_HOST_LABEL && LABEL.test(label));
  if (!isName) return "must be a host name like app.example.com, without a port, and no IP address";
  return isCanonicalIdn(text) ? undefined : 'has a label "xn--…" that no browser writes so';
}

/**
 * Returns whether the internationalized labels of a name have the form that browsers send (URL standard, "domain to
 * ASCII").
 */
function isCanonicalIdn(name: string): boolean {
  if (!name.includes("xn--")) return true;
  const url = `http://${name}`;
  return URL.canParse(url) && new URL(url).hostname === name;
}

/**
 * A host name or address with an optional port (RFC 3986, 3.2.2), neither of them empty, and no list. Anything else could
 * be read as a part of the path.
 */
const AUTHORITY = /^(?:[A-Za-z0-9._~!$&'()*+;=-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/**
 * Returns whether a text is a valid value of `Host`, of which addresses can be made: `URL` knows which numbers are an
 * address and which ports exist.
 */
export function isHost(text: string): boolean {
  return AUTHORITY.test(text) && URL.canParse(`http://${text}`);
}

/**
 * Returns the host name in a valid `Host` header: in lower case, without the port and the dot of the root.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * assertEquals(hostnameOf("App.Example.com.:8001"), "app.example.com");
 * assertEquals(hostnameOf("[::1]:8001"), "[::1]");
 * ```
 */
export function hostnameOf(host: string): string {
  const colon = host.lastIndexOf(":");
  const name = colon > host.lastIndexOf("]") ? host.slice(0, colon) : host;
  return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
}

/** Returns whether a name is a subdomain of another; a name is none of itself. */
export function isSubdomain(name: string, domain: string): boolean {
  return name.length > domain.length + 1 && name.endsWith(`.${domain}`);
}

/** Returns whether a name is a domain or one of its subdomains; never without a domain. */
export function isWithin(name: string, domain: string | undefined): boolean {
  return domain !== undefined && (name === domain || isSubdomain(name, domain));
}

/** The names of the server itself, in lower case and without a port. */
export interface ServerNames {
  /** All of them. No application can have one. */
  own: readonly string[];
  /** Those under which the gate selects applications by path. */
  gate: readonly string[];
  /** Domains of the hosting platform and of S3: every name in them is the server's own. */
  zones?: readonly string[];
}

/** The list of public suffixes: names such as `com` or `github.io`, directly below which anyone can register names. */
interface PublicSuffixes {
  includes(name: string): boolean;
  /** Returns the name that someone registered, such as `example.co.uk`, for one below it. */
  registeredDomain(name: string): string;
}

/** Which host names an application may have, and which are the server's own. */
export class HostRules {
  readonly #own: ReadonlySet<string>;
  readonly #gate: ReadonlySet<string>;
  readonly #zones: readonly string[];

  private constructor(
    { own, gate, zones = [] }: ServerNames,
    private readonly suffixes: PublicSuffixes,
  ) {
    this.#own = new Set([...own, ...gate]);
    this.#gate = new Set([LOCALHOST, ...gate]);
    this.#zones = zones;
  }

  /** Loads the list of public suffixes, here rather than at import: most commands need no host names. */
  static async load(names: ServerNames): Promise<HostRules> {
    const { parse } = await import("tldts");
    const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false };
    return new HostRules(names, {
      includes: (name) => {
        const { publicSuffix, isIcann, isPrivate } = parse(name, options);
        return publicSuffix === name && (isIcann === true || isPrivate === true);
      },
      registeredDomain: (name) => parse(name, options).domain ?? name,
    });
  }

  /** Returns the name that someone registered, such as `example.co.uk`, for a host name. */
  registeredDomain(name: string): string {
    return this.suffixes.registeredDomain(name);
  }

  /**
   * Checks a name, in lower case, as the host of an application or as the suffix of such hosts. "IP addresses,
   * `localhost`, public suffixes and names of the server can never be claimed" (docs/contract.md).
   *
   * @returns What is wrong with it, as the end of a sentence; `undefined` for a name that can be claimed.
   */
  problemOf(name: string): string | undefined {
    const problem = hostProblem(name);
    if (problem !== undefined) return problem;
    if (name === LOCALHOST) return "is localhost, which leads every machine to itself";
    if (this.isOwn(name)) return "is a name of this server itself";
    if (!this.suffixes.includes(name)) return undefined;
    return "is a public suffix, below which anyone can register names: use a name below it";
  }

  /** Returns whether `problemOf` finds nothing wrong with a name. */
  isClaimable(name: string): boolean {
    return this.problemOf(name) === undefined;
  }

  /** Returns whether a name is one of the server's own. */
  isOwn(name: string): boolean {
    return this.#own.has(name) ||
      this.#zones.some((zone) => isWithin(name, zone));
  }

  /**
   * Returns whether the gate selects applications by path under a name: "IP literals, `localhost`, `--apps-host`" (wire
   * contract).
   */
  isGate(name: string): boolean {
    return this.#gate.has(name) || isIPv4(name) ||
      name.startsWith("[") && name.endsWith("]") && isIPv6(name.slice(1, -1));
  }
}
