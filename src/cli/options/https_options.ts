import { UsageError } from "../terminal/output.ts";
import type { OptionValues } from "./arguments.ts";
import { ACME_DIRECTORY, DOMAINS, EMAIL, PORT, SWITCH } from "./value_types.ts";

/** All interfaces, for IPv6 and IPv4. */
export const ALL_INTERFACES = "::";

/** The port for plain HTTP, unless configured: authorities check there (RFC 8555, 8.3). */
const DEFAULT_HTTP_PORT = 80;

/** The directory of Let's Encrypt. */
const DEFAULT_DIRECTORY = "https://acme-v02.api.letsencrypt.org/directory";

/** The standard port of https, which addresses leave out. */
export const DEFAULT_HTTPS_PORT = 443;

/** Where a server with certificates of its own gets them, and its ports beside that of https. */
export type AcmeOptions = ReturnType<typeof acmeOptions>;

/** The part of the configuration that decides where and how the server listens. */
export interface ListenOptions {
  /** The address of the server, and of the gate. */
  hostname: string;
  /** The port of the server; of https, if it has certificates. 0 picks a free one. */
  port: number;
  tlsCert: string | undefined;
  tlsKey: string | undefined;
  /** Certificates from an authority, in place of the files above. */
  acme: AcmeOptions | undefined;
  /** Whether browsers have to use https only. */
  hsts: boolean;
}

/** Options that need --domain. */
const ACME_ONLY = ["acme-email", "acme-directory", "acme-ca", "https-port", "http-port"];

/** Parses the options of listening and of https. @throws {UsageError} if they do not fit together. */
export function listenOptions(values: OptionValues): ListenOptions {
  const { tlsCert, tlsKey } = tlsFiles(values);
  const hsts = values.optional("hsts", SWITCH) ?? false;
  const port = values.parsed("port", PORT);
  const domains = values.optional("domain", DOMAINS);
  if (domains === undefined) {
    const lone = ACME_ONLY.map((name) => values.get(name)).find((value) => value !== undefined);
    if (lone !== undefined) throw new UsageError(`${lone.source} needs a host name: add --domain`);
    if (hsts && tlsCert === undefined) {
      throw new UsageError("--hsts needs https: add --domain, or --tls-cert and --tls-key");
    }
    const hostname = values.text("hostname") ?? "";
    return { hostname, port, tlsCert, tlsKey, acme: undefined, hsts };
  }
  if (tlsCert !== undefined) {
    throw new UsageError(
      "The options --domain and --tls-cert exclude each other: with --domain the server gets its certificates itself",
    );
  }
  return {
    hostname: values.get("hostname")?.text ?? ALL_INTERFACES,
    port: values.optional("https-port", PORT) ?? DEFAULT_HTTPS_PORT,
    tlsCert,
    tlsKey,
    acme: acmeOptions(values, domains),
    hsts,
  };
}

function acmeOptions(values: OptionValues, domains: readonly string[]) {
  const plain = { hostname: values.text("hostname") ?? "", port: values.parsed("port", PORT) };
  return {
    domains,
    email: values.optional("acme-email", EMAIL),
    directory: values.optional("acme-directory", ACME_DIRECTORY) ?? DEFAULT_DIRECTORY,
    // A file of authorities to trust besides those of the system.
    authorityFile: values.text("acme-ca"),
    httpPort: values.optional("http-port", PORT) ?? DEFAULT_HTTP_PORT,
    // For plain HTTP without a redirect, if it is wanted.
    plain: values.get("port") === undefined ? undefined : plain,
  };
}

function tlsFiles(values: OptionValues): Pick<ListenOptions, "tlsCert" | "tlsKey"> {
  const tlsCert = values.text("tls-cert");
  const tlsKey = values.text("tls-key");
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new UsageError("The options --tls-cert and --tls-key go together: give both or none");
  }
  return { tlsCert, tlsKey };
}

/** Returns the address of a host name on an https port. */
export function httpsOrigin(name: string, port: number): string {
  return `https://${name}${port === DEFAULT_HTTPS_PORT ? "" : `:${port}`}`;
}
