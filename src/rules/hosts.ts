import { isIPv4, isIPv6 } from "node:net";

/** An origin as people write it; what `URL` would correct or cut off is not taken. */
const ORIGIN = /^https?:\/\/[^\s\\/?#@]+\/?$/i;

const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** A last label that browsers read as the number of an IPv4 address (URL standard, "ends in a number"). */
const NUMBER = /^([0-9]+|0x[0-9a-f]*)$/;

/** What is wrong with the address of an application, as the end of a sentence. */
export function upstreamProblem(text: string): string | undefined {
  if (text.length > MAX_UPSTREAM) return `is too long: at most ${MAX_UPSTREAM} characters`;
  if (ORIGIN.test(text) && URL.canParse(text)) return undefined;
  return "must be like http://127.0.0.1:3000: http or https, a host and a port, and nothing else";
}

/** What is wrong with the host name of an application, as the end of a sentence. Give it in lower case. */
export function hostProblem(text: string): string | undefined {
  const labels = text.split(".");
  const isName = text.length <= MAX_HOST && !NUMBER.test(labels.at(-1) ?? "") &&
    labels.every((label) => label.length <= MAX_HOST_LABEL && LABEL.test(label));
  if (!isName) return "must be a host name like app.example.com, without a port, and no IP address";
  return isCanonicalIdn(text) ? undefined : 'has a label "xn--…" that no browser writes so';
}

/** Whether all internationalized labels of a name have the form that browsers send ("domain to ASCII"). */
function isCanonicalIdn(name: string): boolean {
  if (!name.includes("xn--")) return true;
  const url = `http://${name}`;
  return URL.canParse(url) && new URL(url).hostname === name;
}

/** Where an application runs, in characters: what is longer is no address that people write. */
export const MAX_UPSTREAM = 2048;

/** A host name, and one label of it, in characters (RFC 1035, 2.3.4). */
export const MAX_HOST = 253;

export const MAX_HOST_LABEL = 63;

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
    return this.#own.has(name) ||
      this.#zones.some((zone) => name === zone || isSubdomain(name, zone));
  }

  /** Whether the gate answers by path under a name: an IP address, `localhost` or a name of the gate. */
  isGate(name: string): boolean {
    return this.#gate.has(name) || isIPv4(name) ||
      name.startsWith("[") && name.endsWith("]") && isIPv6(name.slice(1, -1));
  }
}

/** Whether a name is a true subdomain of another. */
export function isSubdomain(name: string, domain: string): boolean {
  return name.length > domain.length + 1 && name.endsWith(`.${domain}`);
}

/** The name in a Host header, as applications have it: in lower case, without the port and the dot at the end. */
export function hostnameOf(host: string): string {
  const colon = host.lastIndexOf(":");
  const name = colon > host.lastIndexOf("]") ? host.slice(0, colon) : host;
  return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
}
