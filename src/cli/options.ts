import {
  DEFAULT_APPS_TIMEOUT,
  DEFAULT_BACKUP_EVERY,
  DEFAULT_BACKUP_KEEP,
  DEFAULT_DISK_RESERVE,
  DEFAULT_IDLE_TIMEOUT,
  DEFAULT_MAX_UPLOADS,
  DEFAULT_SHUTDOWN_TIMEOUT,
  DEFAULT_UPLOAD_TTL,
  MAX_KEY_HEADER,
  MIN_SECRET,
} from "../drive/limits.ts";
import { AllowedUpstreams } from "../http/upstream_rules.ts";
import { DEFAULT_MAX_OPEN_UPLOADS } from "../store/open_uploads.ts";
import { type Environment, type Given, GivenValues, variableOf } from "./given_values.ts";
import { SERVE_OPTIONS, type ServeOptions } from "./serve_options.ts";
import { UsageError } from "./usage_error.ts";
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
} from "./value_forms.ts";

/** Bytes of an upload per second, unless configured: less than any line that people use gives. */
const DEFAULT_MIN_UPLOAD_RATE = 1024;

/** Reads the options of `serve`; the command line wins. @throws {UsageError} on anything that is not one of them. */
export function parseServeOptions(args: string[], env: Environment): ServeOptions {
  const given = new GivenValues(SERVE_OPTIONS, args, env, "see kvdrive help serve");
  return {
    hostname: given.text("hostname") ?? "127.0.0.1",
    port: given.value("port", 8000, PORT),
    appsPort: given.value("apps-port", undefined, APPS_PORT),
    appsHosts: given.value("apps-host", [], APPS_HOSTS),
    allowedUpstreams: given.value("allow-upstream", AllowedUpstreams.none, UPSTREAMS),
    appsTimeout: given.value("apps-timeout", DEFAULT_APPS_TIMEOUT, SHORT_TIME),
    publicUrl: given.value("public-url", undefined, PUBLIC_URL),
    data: given.text("data") ?? "./data",
    kv: kvOf(given),
    ...tlsFiles(given),
    corsOrigins: given.value("cors-origin", "*", ORIGINS),
    trustedProxies: given.value("trusted-proxy", undefined, PROXIES),
    uploadTtl: given.value("upload-ttl", DEFAULT_UPLOAD_TTL, LONG_TIME),
    failedReasons: given.value("failed-reasons", false, SWITCH),
    idleTimeout: given.value("idle-timeout", DEFAULT_IDLE_TIMEOUT, SHORT_TIME),
    maxUploads: given.value("max-uploads", DEFAULT_MAX_UPLOADS, COUNT),
    memoryBudget: given.value("memory-budget", undefined, MEMORY),
    minUploadRate: given.value("min-upload-rate", DEFAULT_MIN_UPLOAD_RATE, BYTES),
    maxOpenUploads: given.value("max-open-uploads", DEFAULT_MAX_OPEN_UPLOADS, COUNT),
    diskReserve: given.value("disk-reserve", DEFAULT_DISK_RESERVE, BYTES),
    shutdownTimeout: given.value("shutdown-timeout", DEFAULT_SHUTDOWN_TIMEOUT, SHUTDOWN_TIME),
    log: given.value("log", undefined, LOG),
    metricsToken: metricsTokenOf(given),
    backups: backupsOf(given),
    scrubEvery: given.value("scrub-every", undefined, SCRUB_TIME),
  };
}

function tlsFiles(given: GivenValues): Pick<ServeOptions, "tlsCert" | "tlsKey"> {
  const tlsCert = given.text("tls-cert");
  const tlsKey = given.text("tls-key");
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new UsageError("The options --tls-cert and --tls-key go together: give both or none");
  }
  return { tlsCert, tlsKey };
}

function backupsOf(given: GivenValues): ServeOptions["backups"] {
  const folder = given.text("backup-dir");
  const every = given.value("every", DEFAULT_BACKUP_EVERY, BACKUP_TIME);
  const keep = given.value("keep", DEFAULT_BACKUP_KEEP, COUNT);
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
function kvOf(given: GivenValues): string | undefined {
  const isFolderWanted = given.get("data")?.source === "--data";
  const kv = given.get("kv");
  return isFolderWanted && kv?.source === variableOf("kv") ? undefined : kvUrl(kv);
}

/**
 * The address of a store over KV Connect, where one is given.
 *
 * @throws {UsageError} for what is none. It is not repeated: it may have a secret in it.
 */
export function kvUrl(given: Given | undefined): string | undefined {
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
function metricsTokenOf(given: GivenValues): string | undefined {
  const found = given.get("metrics-token");
  // What a header can hold, and nothing that is cut off at its ends.
  if (found === undefined || /^[\x21-\x7e]+$/.test(found.text) && isLongEnough(found.text)) {
    return found?.text;
  }
  throw new UsageError(
    `Bad value of ${found.source}: it must be ${MIN_SECRET} to ${MAX_KEY_HEADER} characters of ASCII without blanks; make one with: openssl rand -hex 16`,
  );
}

function isLongEnough({ length }: string): boolean {
  return length >= MIN_SECRET && length <= MAX_KEY_HEADER;
}
