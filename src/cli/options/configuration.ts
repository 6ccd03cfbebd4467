import type { OptionSpec } from "./arguments.ts";
import { type Retention, RETENTION_RULES } from "../../repository/retention.ts";

const PERIOD = { hourly: "hours", daily: "days", weekly: "weeks", monthly: "months" } as const;

/** The options of `backup prune`; `serve` has the same with the prefix `backup-`. */
export const KEEP_OPTIONS: readonly OptionSpec[] = RETENTION_RULES.map((rule) => ({
  name: `keep-${rule}`,
  value: "N",
  help: rule === "last"
    ? "keep the last N snapshots"
    : `keep the newest snapshot of each of N ${PERIOD[rule]}`,
  unset: "none",
}));

/**
 * The options of `kvdrive serve`. Each is also an environment variable: `--upload-ttl` and `KVDRIVE_UPLOAD_TTL`. The help,
 * the shell completions and docs/configuration.md are generated from this table.
 */
export const SERVE_OPTIONS: readonly OptionSpec[] = [
  { name: "hostname", value: "HOST", help: "address to listen on", default: "127.0.0.1" },
  { name: "port", value: "PORT", help: "port to listen on; 0 picks a free one", default: "8000" },
  {
    name: "apps-port",
    value: "PORT",
    help: "port of the gate; 0 turns it off, auto picks a free one",
    unset: "8001, if it is free",
  },
  {
    name: "apps-host",
    value: "HOST",
    help: "further host names of the gate, comma-separated",
    unset: "none",
  },
  {
    name: "allow-upstream",
    value: "HOST",
    isList: true,
    help: "link-local or own addresses that applications may have, comma-separated",
    unset: "none",
  },
  {
    name: "allow-webhook",
    value: "HOST",
    isList: true,
    help: "own or private addresses that webhooks may call, comma-separated",
    unset: "none",
  },
  {
    name: "apps-timeout",
    value: "TIME",
    help: "time for an application to start its answer",
    default: "60s",
  },
  {
    name: "apps-idle-timeout",
    value: "TIME",
    help: "time without a byte after which a WebSocket, or a started answer, ends",
    default: "10m",
  },
  {
    name: "s3-port",
    value: "PORT",
    help: "port of S3, or off; 0 picks a free one",
    unset: "off",
  },
  {
    name: "s3-domain",
    value: "HOST",
    help: "host name of S3 on the server's port; buckets are names below it",
    unset: "none",
  },
  {
    name: "public-url",
    value: "URL",
    help: "address that clients use, such as https://files.example.com",
    unset: "none",
  },
  {
    name: "share-host",
    value: "HOST",
    help: "host name of its own for links; nothing else is served there",
    unset: "none",
  },
  {
    name: "data",
    value: "DIR",
    help: "folder of the store, created if needed",
    default: "./data",
  },
  {
    name: "kv",
    value: "URL",
    help: "shared store in place of DIR; token in DENO_KV_ACCESS_TOKEN",
    unset: "none",
  },
  {
    name: "s3-secret-file",
    value: "FILE",
    help: "secret that encrypts S3 keys: 32 bytes in base64",
    unset: "s3.key in DIR",
  },
  {
    name: "webdav",
    value: "STATE",
    help: "WebDAV at /dav, for network folders",
    default: "on",
  },
  {
    name: "webdav-plain",
    help: "accept keys over WebDAV without https from other machines",
    unset: "off",
  },
  {
    name: "webdav-no-junk",
    help: "refuse ._* and .DS_Store files of macOS over WebDAV",
    unset: "off",
  },
  { name: "tls-cert", value: "FILE", help: "certificate chain for HTTPS, in PEM", unset: "HTTP" },
  { name: "tls-key", value: "FILE", help: "private key of the certificate, in PEM", unset: "none" },
  {
    name: "domain",
    value: "HOST",
    isList: true,
    help: "host name to get a certificate for; https with renewal",
    unset: "none",
  },
  {
    name: "acme-email",
    value: "ADDRESS",
    help: "where the certificate authority reports problems",
    unset: "none",
  },
  {
    name: "acme-directory",
    value: "URL",
    help: "the certificate authority, by the address of its directory",
    unset: "Let's Encrypt",
  },
  {
    name: "acme-ca",
    value: "FILE",
    help: "certificate of a private authority's own server, in PEM",
    unset: "those of the system",
  },
  {
    name: "https-port",
    value: "PORT",
    help: "port of https with --domain; 0 picks a free one",
    unset: "443",
  },
  {
    name: "http-port",
    value: "PORT",
    help: "port for challenges and redirects with --domain; 0 picks a free one",
    unset: "80",
  },
  { name: "hsts", help: "tell browsers to use https only, for a year", unset: "off" },
  {
    name: "cors-origin",
    value: "ORIGIN",
    help: "origins whose pages may call the API, comma-separated",
    default: "*",
  },
  {
    name: "trusted-proxy",
    value: "NETWORK",
    help: "proxies whose X-Forwarded-For is trusted, comma-separated",
    unset: "none",
  },
  {
    name: "trash-days",
    value: "N",
    help: "days that the trash of new projects keeps files; 0 for no trash",
    default: "0",
  },
  { name: "upload-ttl", value: "TIME", help: "lifetime of a multipart upload", default: "24h" },
  {
    name: "failed-reasons",
    help: 'return "failed" of a delete as {name: reason}, for the Go client',
    unset: "off",
  },
  {
    name: "idle-timeout",
    value: "TIME",
    help: "time without a byte after which an upload ends; a download, ten times",
    default: "60s",
  },
  {
    name: "processes",
    value: "N",
    help: "processes that share the ports, 1 to 64; auto: one a core (Linux)",
    default: "1",
  },
  { name: "max-uploads", value: "N", help: "concurrent uploads; more of them wait", default: "64" },
  {
    name: "memory-budget",
    value: "SIZE",
    help: "memory for transfers and caches",
    unset: "a share of the machine's",
  },
  {
    name: "max-open-uploads",
    value: "N",
    help: "open multipart uploads per project",
    default: "1000",
  },
  {
    name: "min-upload-rate",
    value: "SIZE",
    help: "least average rate of an upload per second; 0 for none",
    default: "1KiB",
  },
  {
    name: "disk-reserve",
    value: "SIZE",
    help: "disk space that uploads leave free",
    default: "64MiB",
  },
  {
    name: "shutdown-timeout",
    value: "TIME",
    help: "time for running transfers at shutdown",
    default: "10s",
  },
  {
    name: "log",
    value: "FORMAT",
    help: "request log: text, json or off",
    unset: "text on a terminal, else json",
  },
  {
    name: "json",
    help: "print addresses and new secrets as one line of JSON, and the log as JSON",
    unset: "off",
  },
  {
    name: "metrics-token",
    value: "TOKEN",
    isSecret: true,
    help: "token for /metrics; better given as a variable",
    unset: "none",
  },
  { name: "backup-dir", value: "DIR", help: "folder for scheduled backups", unset: "none" },
  { name: "every", value: "TIME", help: "time between two backups", default: "24h" },
  { name: "keep", value: "N", help: "backups to keep; older ones are removed", default: "7" },
  {
    name: "backup-to",
    value: "TARGET",
    help: "repository for scheduled snapshots: a folder, or s3://BUCKET/PREFIX",
    unset: "none",
  },
  {
    name: "backup-every",
    value: "TIME",
    help: "time between two snapshots",
    default: "24h",
  },
  ...KEEP_OPTIONS.map((option) => ({ ...option, name: `backup-${option.name}` })),
  { name: "backup-s3-endpoint", value: "URL", help: "address of S3 for snapshots", unset: "AWS" },
  {
    name: "backup-passphrase-file",
    value: "FILE",
    help: "file with the passphrase of the repository",
    unset: "none",
  },
  { name: "backup-unencrypted", help: "allow snapshots in S3 without a passphrase", unset: "off" },
  {
    name: "backup-bandwidth",
    value: "SIZE",
    help: "bytes a second of snapshots, at most",
    unset: "no limit",
  },
  {
    name: "scrub-every",
    value: "TIME",
    help: "time between two checks of all files, or off",
    unset: "30d; with --kv off",
  },
  {
    name: "reads",
    value: "WAY",
    help: "how to read the store's file: mapped, direct or kv, the slowest",
    default: "mapped",
  },
];

/** An environment variable without an option of the same meaning. */
export interface VariableSpec {
  name: string;
  help: string;
}

/** Secrets that the server takes from the environment only: other users can read command lines. */
export const SERVER_SECRETS: readonly VariableSpec[] = [
  {
    name: "KVDRIVE_PROJECT_KEY",
    help: "<project id>_<secret>: create this project and key if needed",
  },
  { name: "KVDRIVE_ADMIN_TOKEN", help: "set the administrator's token" },
  { name: "KVDRIVE_BACKUP_PASSPHRASE", help: "passphrase of the repository, in place of its file" },
  { name: "KVDRIVE_S3_SECRET", help: "secret that encrypts S3 keys, in place of its file" },
];

/** Further variables that the program, or the runtime below it, reads. */
export const OTHER_VARIABLES: readonly VariableSpec[] = [
  { name: "KVDRIVE_KEY", help: "project key or administrator's token, for all commands" },
  { name: "KVDRIVE_URL", help: "address of the server, for all commands" },
  { name: "AWS_ACCESS_KEY_ID", help: "access key of a repository in S3" },
  { name: "AWS_SECRET_ACCESS_KEY", help: "its secret" },
  { name: "AWS_SESSION_TOKEN", help: "its session token, if it has one" },
  { name: "AWS_REGION", help: "region of a repository in S3 (us-east-1)" },
  { name: "DENO_KV_ACCESS_TOKEN", help: "access token of the store of --kv" },
  { name: "DENO_CERT", help: "further authorities to trust, in PEM, for every command" },
  {
    name: "DENO_TLS_CA_STORE",
    help: "authorities to trust: mozilla, system or both, comma-separated",
  },
  { name: "NO_COLOR", help: "any value turns off bold headings" },
  { name: "TERM", help: "dumb turns off progress bars and bold headings" },
  { name: "XDG_CONFIG_HOME", help: "folder of the profiles of kvdrive login (~/.config)" },
  { name: "XDG_STATE_HOME", help: "folder of the state of interrupted uploads (~/.local/state)" },
  { name: "KVDRIVE_RUNTIME_DIR", help: "folder that a packed kvdrive unpacks its runtime to" },
];

/** Returns the rules that are given. @param countOf Returns the value of an option. */
export function retentionOf(countOf: (name: string) => number | undefined): Retention {
  return Object.fromEntries(RETENTION_RULES.map((rule) => [rule, countOf(`keep-${rule}`)]));
}
