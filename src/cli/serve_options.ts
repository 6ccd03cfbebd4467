import type { TrustedProxies } from "../http/client_address.ts";
import type { CorsOrigins } from "../http/cors.ts";
import type { LogForm } from "../http/request_log.ts";
import type { AllowedUpstreams } from "../http/upstream_rules.ts";
import type { OptionSpec } from "./flags.ts";

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
  log: LogForm | "off" | undefined;
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
    help: "memory for transfers and caches (a quarter, at most 512MiB)",
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
