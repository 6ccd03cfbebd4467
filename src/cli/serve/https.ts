import { Authority } from "../../acme/authority.ts";
import type { CertificateStatus } from "../../acme/certificate_entry.ts";
import { CertificateFolder } from "../../acme/certificate_folder.ts";
import { CertificateKeeper } from "../../acme/certificate_keeper.ts";
import type { ConnectionTable } from "../../http1/connection_table.ts";
import type { PortSharing } from "../../http1/listener.ts";
import type { HttpServer } from "../../http1/server.ts";
import { hostnameOf, isWithin } from "../../rules/hosts.ts";
import { failureReason } from "../../rules/system_error.ts";
import { SECOND } from "../../rules/units.ts";
import type { Observation } from "../../server/observation.ts";
import type { Server } from "../../server/server.ts";
import { VERSION } from "../../version.ts";
import {
  type AcmeOptions,
  ALL_INTERFACES,
  httpsOrigin,
  type ServeOptions,
} from "../options/serve_options.ts";
import { StartError, UsageError } from "../terminal/output.ts";
import { listen, type ListenParts } from "./listen.ts";
import { readPem } from "./tls_files.ts";
import { renderError, toHttpError } from "../../http/error_response.ts";
import { errors } from "../../http/http_error.ts";

/** The ports that addresses on https name. */
interface Ports {
  server: number;
  /** `undefined` if there is no gate. */
  gate: number | undefined;
}

export interface HttpsParts {
  server: Pick<Server, "store" | "hosts">;
  observation: Observation;
  connections: ConnectionTable;
  sharing: PortSharing | undefined;
}

/** How long a handshake in another process waits for the first certificate of a host name, in milliseconds. */
const FIRST_CERTIFICATE_TIME = 16 * SECOND;

/** Certificates from an authority, and the port for plain HTTP that they need. */
export class Https {
  readonly keeper: CertificateKeeper;
  readonly #server: HttpServer;
  #ports: Ports = { server: 0, gate: undefined };

  private constructor(
    private readonly deps: PreparedHttps,
    { server: { store, hosts }, observation, connections, sharing }: HttpsParts,
  ) {
    const { options, acme, authorities } = deps;
    const { peers } = observation;
    const challenges = new Map<string, string>();
    peers.onAsked("challenge", (token) => challenges.get(token) ?? null);
    const answerOf = async (token: string) =>
      challenges.get(token) ??
        (await peers.ask("challenge", token)).find((answer) => answer !== null) ?? undefined;
    this.#server = this.#listen(answerOf, { connections, observation, sharing });
    const { onNotice, onError } = observation;
    const folder = new CertificateFolder(options.data);
    this.keeper = new CertificateKeeper({
      names: namesOf(options, acme),
      isAppHost: async (name) =>
        hosts.isClaimable(name) && await store.apps.findByHost(name) !== undefined,
      registeredDomain: (name) => hosts.registeredDomain(name),
      authority: new Authority({
        directory: acme.directory,
        email: acme.email,
        authorities,
        userAgent: `kvdrive/${VERSION}`,
        folder,
        challenges,
      }),
      folder,
      ...peers.isLeader ? {} : {
        order: async (name: string) =>
          (await peers.ask("certificate", name, FIRST_CERTIFICATE_TIME)).includes(true),
      },
      onNotice,
      onError,
    });
    if (peers.isLeader) {
      peers.onAsked("certificate", async (name) => await this.keeper.select(name) !== undefined);
    }
  }

  /**
   * Opens the port for plain HTTP and reads the stored certificates; `undefined` without --domain.
   *
   * @throws {StartError} if the port or the folder of certificates cannot be used.
   */
  static async open(
    prepared: PreparedHttps | undefined,
    parts: HttpsParts,
  ): Promise<Https | undefined> {
    if (prepared === undefined) return undefined;
    const https = new Https(prepared, parts);
    try {
      await https.keeper.load();
    } catch (error) {
      const { data } = prepared.options;
      const message = `Cannot use the folder of certificates in ${data}: ${failureReason(error)}`;
      throw new StartError(message, { cause: error });
    }
    return https;
  }

  /** The port for plain HTTP. */
  get port(): number {
    return this.#server.address.port;
  }

  /** Begins to obtain certificates. @returns The addresses of the server and of the gate. */
  start(ports: Ports): { server: string; gate: string | undefined } {
    this.#ports = ports;
    this.keeper.start();
    const { appsHosts, s3Domain } = this.deps.options;
    const name = this.deps.acme.domains.find((one) => !isWithin(one, s3Domain)) ?? "";
    const gateName = appsHosts[0] ?? name;
    return {
      server: httpsOrigin(name, ports.server),
      gate: ports.gate === undefined ? undefined : httpsOrigin(gateName, ports.gate),
    };
  }

  status(): CertificateStatus[] {
    return this.keeper.status();
  }

  async stop(): Promise<void> {
    this.#server.stop();
    await this.keeper.stop();
  }

  #listen(
    answerOf: RedirectOptions["answerOf"],
    parts: Omit<ListenParts, "app">,
  ): HttpServer {
    const app = httpsRedirect({ answerOf, originOf: (name) => this.#originOf(name) });
    const { hostname, idleTimeout } = this.deps.options;
    const address = { hostname, port: this.deps.acme.httpPort, idleTimeout };
    try {
      return listen(address, undefined, { ...parts, app }, { option: "--http-port" });
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      throw new StartError(
        `${error.message}. With --domain, the authority checks host names over port 80, which has to lead to this port. If port 80 cannot be used, give --tls-cert and --tls-key, or use a reverse proxy`,
        { cause: error },
      );
    }
  }

  async #originOf(name: string): Promise<string | undefined> {
    if (!await this.keeper.knows(name)) return undefined;
    const { server, gate } = this.#ports;
    const { shareHost, s3Domain, publicUrl } = this.deps.options;
    // Between the clients and this port there may be a router with other ports.
    const seen = publicUrl?.startsWith("https:") ? new URL(publicUrl) : undefined;
    if (seen !== undefined && hostnameOf(seen.host) === name) return seen.origin;
    if (seen !== undefined && isWithin(name, s3Domain)) {
      seen.hostname = name;
      return seen.origin;
    }
    const isOwn = [...this.deps.acme.domains, shareHost, s3Domain].includes(name);
    const port = isOwn ? server : gate;
    return port === undefined ? undefined : httpsOrigin(name, port);
  }
}

/** The configuration of https, with its files read. */
export interface PreparedHttps {
  options: ServeOptions;
  acme: AcmeOptions;
  /** In PEM. */
  authorities: string | undefined;
}

/** Reads the files of the configuration; `undefined` without --domain. @throws {UsageError} if one cannot be used. */
export async function prepareHttps(options: ServeOptions): Promise<PreparedHttps | undefined> {
  const { acme } = options;
  if (acme === undefined) return undefined;
  const { authorityFile } = acme;
  const authorities = authorityFile === undefined
    ? undefined
    : await readPem("--acme-ca", authorityFile, "CERTIFICATE");
  requireUsable(authorityFile, authorities);
  return { options: { ...options, hostname: interfaceOf(options.hostname) }, acme, authorities };
}

/** @throws {UsageError} if a file has no certificates that clients can use. */
function requireUsable(path: string | undefined, authorities: string | undefined): void {
  if (authorities === undefined) return;
  try {
    Deno.createHttpClient({ caCerts: [authorities] }).close();
  } catch (cause) {
    throw new UsageError(`The file of --acme-ca, ${path}, has a damaged certificate`, { cause });
  }
}

/** Listens for plain HTTP besides https, if --port is given. @throws {StartError} if that fails. */
export function listenPlain(
  { acme, idleTimeout }: ServeOptions,
  parts: ListenParts,
): HttpServer | undefined {
  return acme?.plain && listen({ ...acme.plain, idleTimeout }, undefined, parts);
}

/** The names that the server answers for on its own ports. */
function namesOf(
  { shareHost, appsHosts, s3Domain }: ServeOptions,
  { domains }: AcmeOptions,
): string[] {
  const names = [...domains, shareHost, ...appsHosts, s3Domain];
  return [...new Set(names.filter((name) => name !== undefined))];
}

/** Returns the address of all interfaces on this machine, which may have no IPv6. */
function interfaceOf(hostname: string): string {
  if (hostname !== ALL_INTERFACES) return hostname;
  // Windows listens for IPv6 only on "::".
  if (Deno.build.os === "windows") return "0.0.0.0";
  try {
    Deno.listen({ hostname, port: 0 }).close();
    return hostname;
  } catch {
    return "0.0.0.0";
  }
}

/** Returns what the operator should know about certificates of an authority, as sentences without a period. */
export function certificateWarnings(certificates: readonly CertificateStatus[]): string[] {
  return certificates.flatMap(({ name, notAfter, problem }) => {
    if (problem === undefined) return [];
    const verb = notAfter === undefined ? "obtained" : "renewed";
    return [`The certificate of ${name} could not be ${verb}: ${problem}`];
  });
}

/** The path of the answers to challenges (RFC 8555, 8.3). */
const CHALLENGE = "/.well-known/acme-challenge/";

export interface RedirectOptions {
  /** Returns the answer to a challenge of an authority; `undefined` for an unknown token. */
  answerOf: (token: string) => Promise<string | undefined>;
  /** Returns the https address of a host name; `undefined` for one that is not of this server. */
  originOf: (name: string) => Promise<string | undefined>;
}

/**
 * Returns the handler of the port for plain HTTP: it answers challenges and redirects everything else to https. It only
 * redirects to host names of this server, so that no forged `Host` header leads a caller elsewhere.
 */
export function httpsRedirect(
  { answerOf, originOf }: RedirectOptions,
): (request: Request) => Promise<Response> {
  return async ({ url }) => {
    try {
      // The target exactly as it was sent: parsing would change names of files.
      const [, host = "", target = ""] = /^https?:\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
      if (target.startsWith(CHALLENGE)) {
        const text = await answerOf(target.slice(CHALLENGE.length));
        if (text === undefined) throw errors.challengeNotFound();
        return new Response(text, {
          headers: { "Content-Type": "text/plain", "Content-Length": String(text.length) },
        });
      }
      const origin = await originOf(hostnameOf(host));
      if (origin === undefined) throw errors.notRedirected();
      return new Response(null, { status: 308, headers: { Location: origin + target } });
    } catch (error) {
      return renderError(toHttpError(error));
    }
  };
}
