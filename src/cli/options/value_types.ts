import type { CorsOrigins } from "../../http/browser_headers.ts";
import { TrustedProxies } from "../../http/network/client_address.ts";
import { AllowedUpstreams } from "../../http/network/upstream_rules.ts";
import type { LogFormat } from "../../http/request_log.ts";
import { hostnameOf, hostProblem } from "../../rules/hosts.ts";
import {
  MAX_EXPIRES_IN,
  MAX_TRASH_DAYS,
  parseByteSize,
  parseDuration,
  SECOND,
} from "../../rules/units.ts";
import { READ_MODES, type ReadMode } from "../../store/reads/read_mode.ts";
import { MIN_MEMORY_BUDGET } from "../../store/engine/memory_budget.ts";

export interface ValueType<T> {
  /** Returns the value of a text; `undefined` if it is invalid. */
  parse: (text: string) => T | undefined;
  /** What a valid value is, as the end of a sentence. */
  expected: string;
}

export const PORT: ValueType<number> = {
  parse: parsePort,
  expected: "a whole number from 0 to 65535",
};

export const APPS_PORT: ValueType<number | "off"> = {
  parse(text) {
    if (text === "auto") return 0;
    const port = parsePort(text);
    return port === 0 ? "off" : port;
  },
  expected: "auto, or a whole number from 0 to 65535",
};

/** Milliseconds. */
export const DURATION: ValueType<number> = {
  parse: (text) => parseDuration(text),
  expected: "a time like 500ms, 30s, 5m, 24h or 7d",
};

/** Milliseconds; 0 is allowed. */
export const DURATION_OR_ZERO: ValueType<number> = {
  parse: (text) => text === "0" ? 0 : parseDuration(text),
  expected: "a time like 30s or 5m, or 0",
};

/** Seconds, of a link or a key. A number without a unit is refused, as some would mean days. */
export const LIFE: ValueType<number> = {
  parse(text) {
    const time = /[a-z]$/.test(text) ? parseDuration(text, MAX_EXPIRES_IN * SECOND) : undefined;
    return time && Math.ceil(time / SECOND);
  },
  expected: "a time with a unit, like 12h, 7d or 365d",
};

/** Milliseconds. Backups are named by the second, so they are at least one second apart. */
export const BACKUP_INTERVAL: ValueType<number> = {
  parse(text) {
    const time = parseDuration(text);
    return time !== undefined && time >= SECOND ? time : undefined;
  },
  expected: "a time of at least 1s, like 30m, 24h or 7d",
};

/** The longest time between two checks of all files, in milliseconds: a year. */
const MAX_SCRUB_INTERVAL = 366 * 86_400_000;

/** Milliseconds. */
export const SCRUB_INTERVAL: ValueType<number | "off"> = {
  parse: (text) => text === "0" || text === "off" ? "off" : parseDuration(text, MAX_SCRUB_INTERVAL),
  expected: "off, or a time of at most 366d, like 24h, 7d or 30d",
};

export const READS: ValueType<ReadMode> = {
  parse: (text) => READ_MODES.find((mode) => mode === text),
  expected: "mapped, direct or kv",
};

export const COUNT: ValueType<number> = {
  parse(text) {
    const count = Number(text);
    return /^\d+$/.test(text) && Number.isSafeInteger(count) && count > 0 ? count : undefined;
  },
  expected: "a whole number from 1",
};

/** Days; 0 turns the trash off. */
export const TRASH_DAYS: ValueType<number> = {
  parse: (text) => /^\d{1,3}$/.test(text) && +text <= MAX_TRASH_DAYS ? +text : undefined,
  expected: `a whole number from 0 to ${MAX_TRASH_DAYS}`,
};

/** The most processes of one server. */
const MAX_PROCESSES = 64;

/** The number of processes of a server; that of the cores for `auto`. */
export const PROCESSES: ValueType<number> = {
  parse(text) {
    if (text === "auto") return Math.min(navigator.hardwareConcurrency, MAX_PROCESSES);
    const count = COUNT.parse(text);
    return count === undefined || count > MAX_PROCESSES ? undefined : count;
  },
  expected: `auto, or a whole number from 1 to ${MAX_PROCESSES}`,
};

/** Bytes; 0 is allowed. */
export const SIZE: ValueType<number> = {
  parse: (text) => parseByteSize(text, 0),
  expected: "a size like 65536, 500kB, 64MiB or 1GB",
};

/** The lowest bandwidth, in bytes a second: servers end slower transfers. */
const MIN_BANDWIDTH = 1024;

/** Bytes a second. */
export const BANDWIDTH: ValueType<number> = {
  parse: (text) => parseByteSize(text, MIN_BANDWIDTH),
  expected: "a size a second of at least 1KiB, like 500kB or 10MB",
};

/** Bytes. */
export const MEMORY: ValueType<number> = {
  parse: (text) => parseByteSize(text, MIN_MEMORY_BUDGET),
  expected: `a size of at least ${MIN_MEMORY_BUDGET / 2 ** 20}MiB, like 256MiB or 1GB`,
};

const SWITCHES = new Map([["1", true], ["true", true], ["0", false], ["false", false]]);

export const SWITCH: ValueType<boolean> = {
  parse: (text) => SWITCHES.get(text),
  expected: "1, 0, true or false",
};

export const ON_OFF: ValueType<boolean> = {
  parse: (text) => text === "on" || text === "off" ? text === "on" : undefined,
  expected: "on or off",
};

export const ORIGINS: ValueType<CorsOrigins> = {
  parse(text) {
    if (text === "*") return "*";
    const origins = text.split(",").map((origin) => origin.trim());
    const areValid = origins.every((one) => URL.canParse(one) && new URL(one).origin === one);
    return areValid ? origins : undefined;
  },
  expected: "* or origins like https://app.example.com",
};

export const PROXIES: ValueType<TrustedProxies> = {
  parse: (text) => TrustedProxies.parse(text),
  expected: "addresses or networks like 127.0.0.1, 10.0.0.0/8",
};

export const PUBLIC_URL: ValueType<string> = {
  parse(text) {
    const isOrigin = /^https?:\/\/[^\s\\/?#@]+\/?$/i.test(text) && URL.canParse(text);
    return isOrigin ? new URL(text).origin : undefined;
  },
  expected: "an address like https://files.example.com, without a path",
};

export const APPS_HOSTS: ValueType<readonly string[]> = {
  parse: parseHosts,
  expected: "host names like apps.example.com, without a port",
};

export const SHARE_HOST: ValueType<string> = {
  parse: parseHost,
  expected: "a host name like share.example.com, without a port",
};

export const S3_DOMAIN: ValueType<string> = {
  parse: parseHost,
  expected: "a host name like s3.example.com, without a port or *",
};

export const UPSTREAMS: ValueType<AllowedUpstreams> = {
  parse: (text) => AllowedUpstreams.parse(text),
  expected: "hosts or networks like 169.254.0.0/16, 127.0.0.1:8000, metadata.google.internal",
};

export const PORT_OR_OFF: ValueType<number | "off"> = {
  parse: (text) => text === "off" ? "off" : parsePort(text),
  expected: "off, or a whole number from 0 to 65535",
};

export const DOMAINS: ValueType<readonly string[]> = {
  parse: (text) => {
    const hosts = parseHosts(text);
    return hosts && [...new Set(hosts)];
  },
  expected: "host names like files.example.com, without a port or *",
};

export const EMAIL: ValueType<string> = {
  parse: (text) => /^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(text) ? text : undefined,
  expected: "an address like me@example.com",
};

export const ACME_DIRECTORY: ValueType<string> = {
  parse: (text) => /^https:\/\/[^\s@]+$/i.test(text) && URL.canParse(text) ? text : undefined,
  expected: "an address like https://acme-v02.api.letsencrypt.org/directory",
};

const LOG_FORMATS = ["text", "json", "off"] as const;

export const LOG: ValueType<LogFormat | "off"> = {
  parse: (text) => LOG_FORMATS.find((format) => format === text),
  expected: "text, json or off",
};

function parsePort(text: string): number | undefined {
  const port = Number(text);
  return /^\d+$/.test(text) && port <= 65_535 ? port : undefined;
}

function parseHosts(text: string): readonly string[] | undefined {
  const hosts = text.split(",").map(parseHost);
  return hosts.includes(undefined) ? undefined : hosts.filter((host) => host !== undefined);
}

function parseHost(text: string): string | undefined {
  const host = text.trim().toLowerCase();
  return hostProblem(host) === undefined && hostnameOf(host) === host ? host : undefined;
}
