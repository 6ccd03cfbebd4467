import { isIPv4, isIPv6 } from "node:net";
import { hostProblem } from "./applications.ts";

/** The names by which the server itself is called. All in lower case, without a port. */
export interface ServerNames {
  /** The server's own names. No application can have one of them. */
  own: readonly string[];
  /** Those of them under which the gate answers by path. */
  gate: readonly string[];
  /** Domains of the hosting platform: every name in them is the server's own. */
  zones?: readonly string[];
}

/** Whether anyone can register names directly below a name, as below `com` or `github.io`. */
type IsPublicSuffix = (name: string) => boolean;

const LOCALHOST = "localhost";

/** Names that are remembered as judged. An entry takes about 200 bytes. */
const MAX_JUDGED_NAMES = 1000;

/** Which host names an application may have, and which ones are the server's own. */
export class HostRules {
  readonly #own: ReadonlySet<string>;
  readonly #gate: ReadonlySet<string>;
  readonly #zones: readonly string[];
  readonly #isPublicSuffix: IsPublicSuffix;
  /** Names that were judged, because every request asks again. */
  readonly #judged = new Map<string, boolean>();

  private constructor({ own, gate, zones = [] }: ServerNames, isPublicSuffix: IsPublicSuffix) {
    this.#own = new Set([...own, ...gate]);
    this.#gate = new Set([LOCALHOST, ...gate]);
    this.#zones = zones;
    this.#isPublicSuffix = isPublicSuffix;
  }

  /** The list of public suffixes is loaded here, because commands that need no host names should not wait for it. */
  static async load(names: ServerNames): Promise<HostRules> {
    const { parse } = await import("tldts");
    const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false };
    return new HostRules(names, (name) => {
      const { publicSuffix, isIcann, isPrivate } = parse(name, options);
      return publicSuffix === name && (isIcann === true || isPrivate === true);
    });
  }

  /**
   * Why a name can be neither the host of an application nor the suffix of such hosts, as the end of a sentence;
   * `undefined` if it can be. Give it in lower case.
   */
  problemOf(name: string): string | undefined {
    const problem = hostProblem(name);
    if (problem !== undefined) return problem;
    if (name === LOCALHOST) return "is localhost, which leads every machine to itself";
    if (this.isOwn(name)) return "is a name of this server itself";
    if (!this.#isPublicSuffix(name)) return undefined;
    return "is a public suffix, below which anyone can register names: use a name below it";
  }

  /** Whether an application can have a name. */
  isClaimable(name: string): boolean {
    const known = this.#judged.get(name);
    if (known !== undefined) return known;
    const isClaimable = this.problemOf(name) === undefined;
    if (this.#judged.size >= MAX_JUDGED_NAMES) this.#judged.clear();
    this.#judged.set(name, isClaimable);
    return isClaimable;
  }

  /** Whether a name is one of the server's own. */
  isOwn(name: string): boolean {
    return this.#own.has(name) || this.#zones.some((zone) => name === zone || isBelow(name, zone));
  }

  /** Whether the gate answers by path under a name: an IP address, `localhost` or a name of the gate. */
  isGate(name: string): boolean {
    return this.#gate.has(name) || isIPv4(name) ||
      name.startsWith("[") && name.endsWith("]") && isIPv6(name.slice(1, -1));
  }
}

/** Whether a name is a true subdomain of another. */
export function isBelow(name: string, domain: string): boolean {
  return name.length > domain.length + 1 && name.endsWith(`.${domain}`);
}

/** The name in a Host header, as applications have it: in lower case, without the port and the dot at the end. */
export function hostName(host: string): string {
  const colon = host.lastIndexOf(":");
  const name = colon > host.lastIndexOf("]") ? host.slice(0, colon) : host;
  return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
}
