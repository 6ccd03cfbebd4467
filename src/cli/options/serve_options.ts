import type { CorsOrigins } from "../../http/cors.ts";
import type { TrustedProxies } from "../../http/network/client_address.ts";
import { AllowedUpstreams } from "../../http/network/upstream_rules.ts";
import type { LogFormat } from "../../http/request_log.ts";
import { hostnameOf, hostProblem, type ServerNames } from "../../rules/hosts.ts";
import { MAX_KEY_HEADER, MIN_SECRET_LENGTH } from "../../rules/secrets.ts";
import { MIB, MINUTE, SECOND } from "../../rules/units.ts";
import { DEFAULT_IDLE_TIMEOUT, DEFAULT_UPLOAD_TTL } from "../../store/store.ts";
import { DEFAULT_MAX_OPEN_UPLOADS } from "../../store/uploads/open_upload_limit.ts";
import { UsageError } from "../terminal/errors.ts";
import type { Environment } from "../terminal/output.ts";
import { type OptionSpec, type OptionValue, OptionValues, variableOf } from "./arguments.ts";
import {
  APPS_HOSTS,
  APPS_PORT,
  BACKUP_TIME,
  BYTES,
  COUNT,
  LOG,
  LONG_TIME,
  MEMORY,
  ORIGINS,
  PORT,
  PROXIES,
  PUBLIC_URL,
  SCRUB_TIME,
  SHORT_TIME,
  SHUTDOWN_TIME,
  SWITCH,
  UPSTREAMS,
} from "./value_types.ts";

/** Requests with a body that run at once, unless configured. Each holds up to four commits of chunks in memory. */
const DEFAULT_MAX_UPLOADS = 64;

/** Bytes of the disk that uploads leave free, unless configured: without any, the store cannot even delete. */
export const DEFAULT_DISK_RESERVE = 64 * MIB;

const DEFAULT_APPS_TIMEOUT = MINUTE;

/** Where the gate to applications listens, unless configured. */
export const DEFAULT_APPS_PORT = 8001;

const DEFAULT_SHUTDOWN_TIMEOUT = 10 * SECOND;

/** Unless configured: the time between two backups of a server, how many are kept, and when a failed one is repeated. */
export const DEFAULT_BACKUP_EVERY = 24 * 60 * MINUTE;

const DEFAULT_BACKUP_KEEP = 7;

/** How `kvdrive serve` runs. */
export interface ServeOptions {
  hostname: string;
  /** 0 takes a free one. */
  port: number;
  /** Of the gate, if there is one; 0 takes a free one. Where nobody chose it, the usual one if it is free. */
  appsPort: number | "off" | undefined;
  /** Names under which the gate answers by path, in lower case. */
  appsHosts: readonly string[];
  /** Milliseconds. */
  appsTimeout: number;
  /** Upstreams that would be refused otherwise. */
  allowedUpstreams: AllowedUpstreams;
  /** The origin by which callers know the server, such as `https://files.example.com`. */
  publicUrl: string | undefined;
  data: string;
  /** Where a store behind a network is, in place of the folder. */
  kv: string | undefined;
  tlsCert: string | undefined;
  tlsKey: string | undefined;
  corsOrigins: CorsOrigins;
  /** Proxies that are believed what they say of a caller's address. */
  trustedProxies: TrustedProxies | undefined;
  /** Milliseconds. */
  uploadTtl: number;
  failedReasons: boolean;
  /** Milliseconds. */
  idleTimeout: number;
  maxUploads: number;
  /** Bytes; `undefined` where it depends on the machine. */
  memoryBudget: number | undefined;
  /** Of one project. */
  maxOpenUploads: number;
  /** Bytes per second; 0 allows any. */
  minUploadRate: number;
  /** Bytes. */
  diskReserve: number;
  /** Milliseconds. */
  shutdownTimeout: number;
  /** How requests are logged; `undefined` where that depends on who reads it. */
  log: LogFormat | "off" | undefined;
  /** Opens the metrics and nothing else. */
  metricsToken: string | undefined;
  /** Where the server makes backups, how often (milliseconds), and how many stay. */
  backups: { folder: string; every: number; keep: number } | undefined;
  /** How often the server checks all files, in milliseconds; where it was not chosen, that depends on the store. */
  scrubEvery: number | "off" | undefined;
}

/** Each is an option, `--upload-ttl`, and a variable of the environment, `KVDRIVE_UPLOAD_TTL`. */
export const SERVE_OPTIONS: readonly OptionSpec[] = [
  { name: "hostname", value: "HOST", help: "address to listen on (127.0.0.1)" },
  { name: "port", value: "PORT", help: "port to listen on, 0 for a free one (8000)" },
  {
    name: "apps-port",
    value: "PORT",
    help: "port of the gate to applications, 0 for none, auto for a free one (8001)",
  },
  {
    name: "apps-host",
    value: "HOST",
    help: "further names under which the gate answers by path, comma-separated",
  },
  {
    name: "allow-upstream",
    value: "HOST",
    help: "link-local or own addresses where applications may be, comma-separated",
  },
  {
    name: "apps-timeout",
    value: "TIME",
    help: "how long an application may take to begin its answer (60s)",
  },
  {
    name: "public-url",
    value: "URL",
    help: "address that callers use, such as https://files.example.com",
  },
  { name: "data", value: "DIR", help: "folder of the store, made if it does not exist (./data)" },
  {
    name: "kv",
    value: "URL",
    help: "shared store in place of DIR; token in DENO_KV_ACCESS_TOKEN",
  },
  { name: "tls-cert", value: "FILE", help: "certificate chain in PEM, to speak https" },
  { name: "tls-key", value: "FILE", help: "its private key in PEM" },
  {
    name: "cors-origin",
    value: "ORIGIN",
    help: "origins whose pages may call, comma-separated (*)",
  },
  {
    name: "trusted-proxy",
    value: "NETWORK",
    help: "proxies whose X-Forwarded-For counts, comma-separated (none)",
  },
  { name: "upload-ttl", value: "TIME", help: "how long an upload in parts may take (24h)" },
  {
    name: "failed-reasons",
    help: 'answer "failed" of a delete as {name: reason}, for the Go client',
  },
  {
    name: "idle-timeout",
    value: "TIME",
    help: "how long a sender may be silent, a tenth of what a reader may (60s)",
  },
  { name: "max-uploads", value: "N", help: "uploads at once; more of them wait (64)" },
  {
    name: "memory-budget",
    value: "BYTES",
    help: "memory for transfers and caches (a share of the machine's)",
  },
  {
    name: "max-open-uploads",
    value: "N",
    help: "uploads in parts that a project may have open (1000)",
  },
  {
    name: "min-upload-rate",
    value: "BYTES",
    help: "a second, on average; slower uploads are ended, 0 for none (1024)",
  },
  { name: "disk-reserve", value: "BYTES", help: "space that uploads leave free (67108864)" },
  {
    name: "shutdown-timeout",
    value: "TIME",
    help: "how long running transfers get at shutdown (10s)",
  },
  {
    name: "log",
    value: "FORM",
    help: "a line a request: text, json or off (text on a terminal, else json)",
  },
  {
    name: "metrics-token",
    value: "TOKEN",
    isSecret: true,
    help: "opens /metrics; better as variable, as others can read command lines",
  },
  { name: "backup-dir", value: "DIR", help: "folder in which the server makes backups (none)" },
  { name: "every", value: "TIME", help: "time between two backups (24h)" },
  { name: "keep", value: "N", help: "how many backups stay; older ones are removed (7)" },
  {
    name: "scrub-every",
    value: "TIME",
    help: "time between two checks of all files, or off (30d; with --kv off)",
  },
];

/** Bytes of an upload per second, unless configured: less than any line that people use gives. */
const DEFAULT_MIN_UPLOAD_RATE = 1024;

/** Reads the options of `serve`; the command line wins. @throws {UsageError} on anything that is not one of them. */
export function parseServeOptions(args: string[], env: Environment): ServeOptions {
  const given = new OptionValues(SERVE_OPTIONS, args, env, "see kvdrive help serve");
  return {
    hostname: given.text("hostname") ?? "127.0.0.1",
    port: given.parsed("port", 8000, PORT),
    appsPort: given.parsed("apps-port", undefined, APPS_PORT),
    appsHosts: given.parsed("apps-host", [], APPS_HOSTS),
    allowedUpstreams: given.parsed("allow-upstream", AllowedUpstreams.none, UPSTREAMS),
    appsTimeout: given.parsed("apps-timeout", DEFAULT_APPS_TIMEOUT, SHORT_TIME),
    publicUrl: given.parsed("public-url", undefined, PUBLIC_URL),
    data: given.text("data") ?? "./data",
    kv: kvOf(given),
    ...tlsFiles(given),
    corsOrigins: given.parsed("cors-origin", "*", ORIGINS),
    trustedProxies: given.parsed("trusted-proxy", undefined, PROXIES),
    uploadTtl: given.parsed("upload-ttl", DEFAULT_UPLOAD_TTL, LONG_TIME),
    failedReasons: given.parsed("failed-reasons", false, SWITCH),
    idleTimeout: given.parsed("idle-timeout", DEFAULT_IDLE_TIMEOUT, SHORT_TIME),
    maxUploads: given.parsed("max-uploads", DEFAULT_MAX_UPLOADS, COUNT),
    memoryBudget: given.parsed("memory-budget", undefined, MEMORY),
    minUploadRate: given.parsed("min-upload-rate", DEFAULT_MIN_UPLOAD_RATE, BYTES),
    maxOpenUploads: given.parsed("max-open-uploads", DEFAULT_MAX_OPEN_UPLOADS, COUNT),
    diskReserve: given.parsed("disk-reserve", DEFAULT_DISK_RESERVE, BYTES),
    shutdownTimeout: given.parsed("shutdown-timeout", DEFAULT_SHUTDOWN_TIMEOUT, SHUTDOWN_TIME),
    log: given.parsed("log", undefined, LOG),
    metricsToken: metricsTokenOf(given),
    backups: backupsOf(given),
    scrubEvery: given.parsed("scrub-every", undefined, SCRUB_TIME),
  };
}

function tlsFiles(given: OptionValues): Pick<ServeOptions, "tlsCert" | "tlsKey"> {
  const tlsCert = given.text("tls-cert");
  const tlsKey = given.text("tls-key");
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new UsageError("The options --tls-cert and --tls-key go together: give both or none");
  }
  return { tlsCert, tlsKey };
}

function backupsOf(given: OptionValues): ServeOptions["backups"] {
  const folder = given.text("backup-dir");
  const every = given.parsed("every", DEFAULT_BACKUP_EVERY, BACKUP_TIME);
  const keep = given.parsed("keep", DEFAULT_BACKUP_KEEP, COUNT);
  if (folder !== undefined) {
    if (kvOf(given) === undefined) return { folder, every, keep };
    throw new UsageError(
      "A store behind --kv is not in a folder of this server: make its backups where it is kept, and leave --backup-dir out",
    );
  }
  const lone = given.get("every") ?? given.get("keep");
  if (lone === undefined) return undefined;
  throw new UsageError(`${lone.source} is for backups: name their folder with --backup-dir`);
}

/** A folder on the command line wins over a variable that names a store behind a network. */
function kvOf(given: OptionValues): string | undefined {
  const isFolderWanted = given.get("data")?.source === "--data";
  const kv = given.get("kv");
  return isFolderWanted && kv?.source === variableOf("kv") ? undefined : kvUrl(kv);
}

/**
 * The address of a store over KV Connect, where one is given.
 *
 * @throws {UsageError} for what is none. It is not repeated: it may have a secret in it.
 */
export function kvUrl(given: OptionValue | undefined): string | undefined {
  if (given === undefined) return undefined;
  const { text, source } = given;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && ["http:", "https:"].includes(url.protocol) &&
    url.username === "" && url.password === "";
  if (isPlain) return text;
  throw new UsageError(
    `Bad value of ${source}: it must be an address like https://kv.example.com, without a user or password`,
  );
}

/** @throws {UsageError} where it could be guessed. It is not repeated. */
function metricsTokenOf(given: OptionValues): string | undefined {
  const found = given.get("metrics-token");
  // What a header can hold, and nothing that is cut off at its ends.
  if (found === undefined || /^[\x21-\x7e]+$/.test(found.text) && isLongEnough(found.text)) {
    return found?.text;
  }
  throw new UsageError(
    `Bad value of ${found.source}: it must be ${MIN_SECRET_LENGTH} to ${MAX_KEY_HEADER} characters of ASCII without blanks; make one with: openssl rand -hex 16`,
  );
}

function isLongEnough({ length }: string): boolean {
  return length >= MIN_SECRET_LENGTH && length <= MAX_KEY_HEADER;
}

/** Domains in which Deno Deploy gives programs their names. */
const DEPLOY_ZONES = ["deno.net", "deno.dev"];

/** The one list of the server's own names: no application can have one of them. */
export function serverNames(
  { publicUrl, appsHosts, hostname }: Pick<ServeOptions, "publicUrl" | "appsHosts" | "hostname">,
  { isOnDeploy = false } = {},
): ServerNames {
  const publicNames = publicUrl === undefined ? [] : [hostnameOf(new URL(publicUrl).host)];
  const listening = hostnameOf(hostname);
  return {
    // The server usually listens on an address, which says nothing of its name.
    own: hostProblem(listening) === undefined ? [...publicNames, listening] : publicNames,
    gate: appsHosts,
    zones: isOnDeploy ? DEPLOY_ZONES : [],
  };
}

/** The same as far as the environment tells, for commands beside the server. */
export function serverNamesIn(env: Environment): ServerNames {
  const text = (name: string) => env[variableOf(name)] ?? "";
  return serverNames({
    publicUrl: PUBLIC_URL.parse(text("public-url")),
    appsHosts: APPS_HOSTS.parse(text("apps-host")) ?? [],
    hostname: text("hostname"),
  });
}
