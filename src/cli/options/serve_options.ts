import { AllowedUpstreams } from "../../http/network/upstream_rules.ts";
import { hostnameOf, hostProblem, isWithin, type ServerNames } from "../../rules/hosts.ts";
import { MAX_KEY_HEADER, MIN_SECRET_LENGTH } from "../../rules/secrets.ts";
import { MIB } from "../../rules/units.ts";
import { MIN_MEMORY_BUDGET } from "../../store/engine/memory_budget.ts";
import type { Retention } from "../../repository/retention.ts";
import { type Environment, UsageError } from "../terminal/output.ts";
import { kvOf, OptionValues, variableOf } from "./arguments.ts";
import { KEEP_OPTIONS, retentionOf, SERVE_OPTIONS } from "./configuration.ts";
import {
  ACME_DIRECTORY,
  APPS_HOSTS,
  APPS_PORT,
  BACKUP_INTERVAL,
  BANDWIDTH,
  COUNT,
  DOMAINS,
  DURATION,
  EMAIL,
  LOG,
  MEMORY,
  ON_OFF,
  ORIGINS,
  PORT,
  PORT_OR_OFF,
  PROCESSES,
  PROXIES,
  PUBLIC_URL,
  READS,
  S3_DOMAIN,
  SCRUB_INTERVAL,
  SHARE_HOST,
  SIZE,
  SWITCH,
  TRASH_DAYS,
  UPSTREAMS,
} from "./value_types.ts";

/** The port of the gate, unless configured. */
export const DEFAULT_APPS_PORT = 8001;

/** Bytes of the disk that stay free, unless configured: on a full disk, the store could not even delete. */
export const DEFAULT_DISK_RESERVE = 64 * 2 ** 20;

/** Milliseconds between two backups, unless configured. */
export const DEFAULT_BACKUP_EVERY = 24 * 60 * 60_000;

/** The configuration of `kvdrive serve`: times in milliseconds, sizes in bytes, and host names in lower case. */
export type ServeOptions = ReturnType<typeof parseOptions>;

/**
 * Reads the options of `serve`; the command line takes precedence.
 *
 * @param given The values on the command line, by the names of the options.
 * @throws {UsageError} if they are invalid.
 */
export function readServeOptions(
  given: ReadonlyMap<string, string>,
  env: Environment,
): ServeOptions {
  return parseOptions(new OptionValues(SERVE_OPTIONS, given, env));
}

function parseOptions(values: OptionValues) {
  const listening = listenOptions(values);
  return {
    ...listening,
    ...ownAddresses(values, listening),
    // 0 picks a free one, and `undefined` means `DEFAULT_APPS_PORT` if it is free.
    appsPort: values.optional("apps-port", APPS_PORT),
    appsHosts: values.optional("apps-host", APPS_HOSTS) ?? [],
    appsTimeout: values.parsed("apps-timeout", DURATION),
    appsIdleTimeout: values.parsed("apps-idle-timeout", DURATION),
    allowedUpstreams: values.optional("allow-upstream", UPSTREAMS) ?? AllowedUpstreams.none,
    allowedWebhooks: values.optional("allow-webhook", UPSTREAMS) ?? AllowedUpstreams.none,
    s3Port: values.optional("s3-port", PORT_OR_OFF) ?? "off",
    webdav: values.parsed("webdav", ON_OFF),
    webdavPlain: values.optional("webdav-plain", SWITCH) ?? false,
    webdavNoJunk: values.optional("webdav-no-junk", SWITCH) ?? false,
    data: values.text("data") ?? "",
    kv: kvOf(values),
    s3SecretFile: values.text("s3-secret-file"),
    corsOrigins: values.parsed("cors-origin", ORIGINS),
    trustedProxies: values.optional("trusted-proxy", PROXIES),
    trashDays: values.parsed("trash-days", TRASH_DAYS),
    uploadTtl: values.parsed("upload-ttl", DURATION),
    failedReasons: values.optional("failed-reasons", SWITCH) ?? false,
    idleTimeout: values.parsed("idle-timeout", DURATION),
    ...dividedLimits(values),
    minUploadRate: values.parsed("min-upload-rate", SIZE),
    maxOpenUploads: values.parsed("max-open-uploads", COUNT),
    diskReserve: values.parsed("disk-reserve", SIZE),
    shutdownTimeout: values.parsed("shutdown-timeout", DURATION),
    // `undefined` means text on a terminal, else JSON.
    log: values.optional("log", LOG),
    json: values.optional("json", SWITCH) ?? false,
    metricsToken: metricsTokenOf(values),
    backups: backupsOf(values),
    snapshots: snapshotsOf(values),
    // `undefined` means the default of the store.
    scrubEvery: values.optional("scrub-every", SCRUB_INTERVAL),
    reads: values.parsed("reads", READS),
  };
}

/** Parses the limits of the server that its processes divide. @throws {UsageError} if one is too small for that. */
function dividedLimits(
  values: OptionValues,
): { processes: number; maxUploads: number; memoryBudget: number | undefined } {
  const processes = values.parsed("processes", PROCESSES);
  const maxUploads = values.parsed("max-uploads", COUNT);
  // `undefined` means a share of the machine's memory.
  const memoryBudget = values.optional("memory-budget", MEMORY);
  const requireEnough = (name: string, total: number, needed: number, text: string) => {
    if (total >= needed) return;
    throw new UsageError(
      `The value "${
        values.text(name)
      }" of --${name} is too small for ${processes} processes: give at least ${text}, or fewer --processes`,
    );
  };
  requireEnough("max-uploads", maxUploads, processes, String(processes));
  const memory = processes * MIN_MEMORY_BUDGET;
  requireEnough("memory-budget", memoryBudget ?? memory, memory, `${memory / MIB}MiB`);
  return { processes, maxUploads, memoryBudget };
}

/** @throws {UsageError} if two of the addresses have a host name in common. */
function ownAddresses(
  values: OptionValues,
  { acme, hostname, port }: ListenOptions,
): Record<"publicUrl" | "shareHost" | "s3Domain", string | undefined> {
  const shareHost = values.optional("share-host", SHARE_HOST);
  const s3Domain = values.optional("s3-domain", S3_DOMAIN);
  const isOfS3 = (name: string) => isWithin(name, s3Domain);
  const name = acme?.domains.find((domain) => domain !== shareHost && !isOfS3(domain));
  const publicUrl = values.optional("public-url", PUBLIC_URL) ??
    (name === undefined || port === 0 ? undefined : httpsOrigin(name, port));
  const publicName = publicUrl && hostnameOf(new URL(publicUrl).host);
  const others = {
    "--public-url": [publicName],
    "--share-host": [shareHost],
    "--apps-host": values.optional("apps-host", APPS_HOSTS) ?? [],
    "--hostname": [hostnameOf(hostname)],
  };
  for (const [option, names] of Object.entries(others)) {
    if (!names.some((one) => one !== undefined && isOfS3(one))) continue;
    throw new UsageError(
      `The options ${option} and --s3-domain have the same host name, or one below it: S3 needs a domain of its own`,
    );
  }
  if (acme?.domains.every(isOfS3)) {
    throw new UsageError(
      "All host names of --domain belong to --s3-domain: the server needs another one for itself",
    );
  }
  if (publicName === undefined || publicName !== shareHost) {
    return { publicUrl, shareHost, s3Domain };
  }
  throw new UsageError(
    "The options --public-url and --share-host have the same host name: links need one of their own",
  );
}

function backupsOf(
  values: OptionValues,
): { folder: string; every: number; keep: number } | undefined {
  const folder = values.text("backup-dir");
  const every = values.parsed("every", BACKUP_INTERVAL);
  const keep = values.parsed("keep", COUNT);
  if (folder !== undefined) {
    if (kvOf(values) === undefined) return { folder, every, keep };
    throw new UsageError(
      "Cannot back up a shared store (--kv): back it up where it runs, and omit --backup-dir",
    );
  }
  const lone = values.get("every") ?? values.get("keep");
  if (lone === undefined) return undefined;
  throw new UsageError(`${lone.source} needs a backup folder: give one with --backup-dir`);
}

/** The options that name a repository, as texts. */
export interface RepositoryOptions {
  target: string;
  s3Endpoint: string | undefined;
  passphraseFile: string | undefined;
  isUnencryptedAllowed: boolean;
}

/** The snapshots that a server takes. */
interface SnapshotSchedule {
  repository: RepositoryOptions;
  every: number;
  retention: Retention;
  bandwidth: number | undefined;
}

function snapshotsOf(values: OptionValues): SnapshotSchedule | undefined {
  const every = values.parsed("backup-every", BACKUP_INTERVAL);
  const retention = retentionOf((name) => values.optional(`backup-${name}`, COUNT));
  const bandwidth = values.optional("backup-bandwidth", BANDWIDTH);
  const isUnencryptedAllowed = values.optional("backup-unencrypted", SWITCH) ?? false;
  const target = values.text("backup-to");
  if (target === undefined) {
    const names = ["every", ...KEEP_OPTIONS.map(({ name }) => name), "s3-endpoint", "bandwidth"];
    const lone = names.map((name) => values.get(`backup-${name}`)).find((one) => one !== undefined);
    if (lone === undefined) return undefined;
    throw new UsageError(`${lone.source} needs a repository: give one with --backup-to`);
  }
  if (kvOf(values) !== undefined) {
    throw new UsageError(
      "Cannot back up a shared store (--kv): back it up where it runs, and omit --backup-to",
    );
  }
  const repository = {
    target,
    s3Endpoint: values.text("backup-s3-endpoint"),
    passphraseFile: values.text("backup-passphrase-file"),
    isUnencryptedAllowed,
  };
  return { repository, every, retention, bandwidth };
}

/** @throws {UsageError} if the token is too short or not a header value. The value is not repeated. */
function metricsTokenOf(values: OptionValues): string | undefined {
  const found = values.get("metrics-token");
  // Blanks at the ends of a header value would be lost.
  if (found === undefined || /^[\x21-\x7e]+$/.test(found.text) && isLongEnough(found.text)) {
    return found?.text;
  }
  throw new UsageError(
    `Bad value of ${found.source}: it must be ${MIN_SECRET_LENGTH} to ${MAX_KEY_HEADER} ASCII characters without spaces. Create one with: openssl rand -hex 16`,
  );
}

function isLongEnough({ length }: string): boolean {
  return length >= MIN_SECRET_LENGTH && length <= MAX_KEY_HEADER;
}

/** Domains of programs on Deno Deploy. */
const DEPLOY_ZONES = ["deno.net", "deno.dev"];

/** Returns the server's own host names, which no application may have. */
export function serverNames(
  { publicUrl, shareHost, appsHosts, hostname, acme, s3Domain }:
    & Pick<ServeOptions, "publicUrl" | "shareHost" | "appsHosts" | "hostname" | "s3Domain">
    & { acme?: { domains: readonly string[] } | undefined },
  { isOnDeploy = false } = {},
): ServerNames {
  const own = publicUrl === undefined ? [] : [hostnameOf(new URL(publicUrl).host)];
  if (shareHost !== undefined) own.push(shareHost);
  own.push(...acme?.domains ?? []);
  const listening = hostnameOf(hostname);
  // Usually an address, which is no name.
  if (hostProblem(listening) === undefined) own.push(listening);
  return {
    own,
    gate: appsHosts,
    zones: [...isOnDeploy ? DEPLOY_ZONES : [], ...s3Domain === undefined ? [] : [s3Domain]],
  };
}

/** Returns the server's host names as far as the environment tells, for commands next to a server. */
export function serverNamesIn(env: Environment): ServerNames {
  const text = (name: string) => env[variableOf(name)] ?? "";
  return serverNames({
    publicUrl: PUBLIC_URL.parse(text("public-url")),
    shareHost: SHARE_HOST.parse(text("share-host")),
    s3Domain: S3_DOMAIN.parse(text("s3-domain")),
    appsHosts: APPS_HOSTS.parse(text("apps-host")) ?? [],
    hostname: text("hostname"),
    acme: { domains: DOMAINS.parse(text("domain")) ?? [] },
  });
}

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
