import {
  DEFAULT_APPS_TIMEOUT,
  DEFAULT_DISK_RESERVE,
  DEFAULT_IDLE_TIMEOUT,
  DEFAULT_MAX_UPLOADS,
  DEFAULT_SHUTDOWN_TIMEOUT,
  DEFAULT_UPLOAD_TTL,
} from "../drive/limits.ts";
import { parseDuration } from "../drive/duration.ts";
import { TrustedProxies } from "../http/client_address.ts";
import type { CorsOrigins } from "../http/cors.ts";
import { type OptionSpec, parseFlags } from "./flags.ts";
import { UsageError } from "./usage_error.ts";

/** How `kvdrive serve` runs. */
export interface ServeOptions {
  hostname: string;
  /** 0 takes a free one. */
  port: number;
  /** Of the gate, if there is one; 0 takes a free one. Where nobody chose it, the usual one if it is free. */
  appsPort: number | "off" | undefined;
  /** Milliseconds. */
  appsTimeout: number;
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
  /** Bytes. */
  diskReserve: number;
  /** Milliseconds. */
  shutdownTimeout: number;
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
    name: "apps-timeout",
    value: "TIME",
    help: "how long an application may take to begin its answer (60s)",
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
  { name: "disk-reserve", value: "BYTES", help: "space that uploads leave free (67108864)" },
  {
    name: "shutdown-timeout",
    value: "TIME",
    help: "how long running transfers get at shutdown (10s)",
  },
];

export type Environment = Record<string, string | undefined>;

const SEE_HELP = "see kvdrive help serve";

/** Reads the options of `serve`; the command line wins. @throws {UsageError} on anything that is not one of them. */
export function parseServeOptions(args: string[], env: Environment): ServeOptions {
  const given = givenValues(args, env);
  const text = (name: string, absent: string) => given.get(name)?.text ?? absent;
  return {
    hostname: text("hostname", "127.0.0.1"),
    port: value(given, "port", 8000, parsePort, "a whole number from 0 to 65535"),
    appsPort: value(
      given,
      "apps-port",
      undefined,
      parseAppsPort,
      "auto, or a whole number from 0 to 65535",
    ),
    appsTimeout: value(
      given,
      "apps-timeout",
      DEFAULT_APPS_TIMEOUT,
      parseDuration,
      "a time like 500ms or 60s",
    ),
    data: text("data", "./data"),
    kv: kvOf(given),
    ...tlsOf(given),
    corsOrigins: value(
      given,
      "cors-origin",
      "*" as CorsOrigins,
      parseOrigins,
      "* or origins like https://app.example.com",
    ),
    trustedProxies: value(
      given,
      "trusted-proxy",
      undefined as TrustedProxies | undefined,
      TrustedProxies.parse,
      "addresses or networks like 127.0.0.1, 10.0.0.0/8",
    ),
    uploadTtl: value(
      given,
      "upload-ttl",
      DEFAULT_UPLOAD_TTL,
      parseDuration,
      "a time like 90s, 30m or 24h",
    ),
    failedReasons: value(given, "failed-reasons", false, parseSwitch, "1, 0, true or false"),
    idleTimeout: value(
      given,
      "idle-timeout",
      DEFAULT_IDLE_TIMEOUT,
      parseDuration,
      "a time like 500ms or 60s",
    ),
    maxUploads: value(
      given,
      "max-uploads",
      DEFAULT_MAX_UPLOADS,
      parseCount,
      "a whole number from 1 on",
    ),
    diskReserve: value(
      given,
      "disk-reserve",
      DEFAULT_DISK_RESERVE,
      parseBytes,
      "a whole number of bytes",
    ),
    shutdownTimeout: value(
      given,
      "shutdown-timeout",
      DEFAULT_SHUTDOWN_TIMEOUT,
      parseDuration,
      "a time like 500ms or 10s",
    ),
  };
}

function tlsOf(given: ReadonlyMap<string, Given>): Pick<ServeOptions, "tlsCert" | "tlsKey"> {
  const tlsCert = given.get("tls-cert")?.text;
  const tlsKey = given.get("tls-key")?.text;
  if ((tlsCert === undefined) === (tlsKey === undefined)) return { tlsCert, tlsKey };
  throw new UsageError("The options --tls-cert and --tls-key go together: give both or none");
}

/** A folder on the command line wins over a variable that names a store behind a network. */
function kvOf(given: ReadonlyMap<string, Given>): string | undefined {
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

/** The name of the environment variable of an option. */
export function variableOf(name: string): string {
  return `KVDRIVE_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** The value of an option. */
export interface Given {
  text: string;
  /** Where it came from, as the person who gave it knows it. */
  source: string;
}

function givenValues(args: string[], env: Environment): Map<string, Given> {
  const { options, operands: [stray] } = parseFlags(SERVE_OPTIONS, args, SEE_HELP);
  if (stray !== undefined) throw new UsageError(`Unknown argument "${stray}": ${SEE_HELP}`);
  const given = new Map<string, Given>();
  for (const { name } of SERVE_OPTIONS) {
    const flag = options.get(name);
    const variable = env[variableOf(name)] ?? "";
    if (flag !== undefined) given.set(name, { text: flag, source: `--${name}` });
    else if (variable !== "") given.set(name, { text: variable, source: variableOf(name) });
  }
  return given;
}

function value<T>(
  given: Map<string, Given>,
  name: string,
  absent: T,
  parse: (text: string) => T | undefined,
  wanted: string,
): T {
  const found = given.get(name);
  if (found === undefined) return absent;
  const parsed = parse(found.text);
  if (parsed === undefined) {
    throw new UsageError(`Bad value "${found.text}" of ${found.source}: it must be ${wanted}`);
  }
  return parsed;
}

function parsePort(text: string): number | undefined {
  const port = Number(text);
  return /^\d+$/.test(text) && port <= 65_535 ? port : undefined;
}

function parseAppsPort(text: string): number | "off" | undefined {
  if (text === "auto") return 0;
  const port = parsePort(text);
  return port === 0 ? "off" : port;
}

function parseCount(text: string): number | undefined {
  const count = parseBytes(text);
  return count === 0 ? undefined : count;
}

function parseBytes(text: string): number | undefined {
  const bytes = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(bytes) ? bytes : undefined;
}

const SWITCH = new Map([["1", true], ["true", true], ["0", false], ["false", false]]);

function parseSwitch(text: string): boolean | undefined {
  return SWITCH.get(text);
}

function parseOrigins(text: string): CorsOrigins | undefined {
  if (text === "*") return "*";
  const origins = text.split(",").map((origin) => origin.trim());
  return origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)
    ? origins
    : undefined;
}
