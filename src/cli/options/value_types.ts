import type { CorsOrigins } from "../../http/cors.ts";
import { TrustedProxies } from "../../http/network/client_address.ts";
import { AllowedUpstreams } from "../../http/network/upstream_rules.ts";
import type { LogFormat } from "../../http/request_log.ts";
import { hostnameOf, hostProblem } from "../../rules/hosts.ts";
import { parseByteSize, parseDuration } from "../../rules/units.ts";
import { MIN_MEMORY_BUDGET } from "../../store/engine/memory_budget.ts";

/** What the value of an option has to be. */
export interface ValueType<T> {
  /** The value of a text; `undefined` where it has another form. */
  parse: (text: string) => T | undefined;
  /** The form, as the end of a sentence. */
  expected: string;
}

export const PORT: ValueType<number> = {
  parse: parsePort,
  expected: "a whole number from 0 to 65535",
};

export const APPS_PORT: ValueType<number | "off"> = {
  parse: parseAppsPort,
  expected: "auto, or a whole number from 0 to 65535",
};

export const SHORT_TIME: ValueType<number> = {
  parse: parseDuration,
  expected: "a time like 500ms or 60s",
};

export const SHUTDOWN_TIME: ValueType<number> = {
  parse: parseDuration,
  expected: "a time like 500ms or 10s",
};

export const LONG_TIME: ValueType<number> = {
  parse: parseDuration,
  expected: "a time like 90s, 30m or 24h",
};

export const BACKUP_TIME: ValueType<number> = {
  parse: parseBackupTime,
  expected: "a time from 1s on, like 30m, 24h or 7d",
};

/** The longest time between two checks of all files, in milliseconds: a year. */
const MAX_SCRUB_TIME = 366 * 86_400_000;

export const SCRUB_TIME: ValueType<number | "off"> = {
  parse: (text) => text === "0" || text === "off" ? "off" : parseDuration(text, MAX_SCRUB_TIME),
  expected: "off, or a time up to 366d like 24h, 7d or 30d",
};

export const COUNT: ValueType<number> = { parse: parseCount, expected: "a whole number from 1 on" };

export const BYTES: ValueType<number> = { parse: parseBytes, expected: "a whole number of bytes" };

export const MEMORY: ValueType<number> = {
  parse: parseMemory,
  expected: `a size from ${MIN_MEMORY_BUDGET / 2 ** 20}MiB on, like 256MiB or 1GB`,
};

export const SWITCH: ValueType<boolean> = { parse: parseSwitch, expected: "1, 0, true or false" };

export const ORIGINS: ValueType<CorsOrigins> = {
  parse: parseOrigins,
  expected: "* or origins like https://app.example.com",
};

export const PROXIES: ValueType<TrustedProxies> = {
  parse: (text) => TrustedProxies.parse(text),
  expected: "addresses or networks like 127.0.0.1, 10.0.0.0/8",
};

export const PUBLIC_URL: ValueType<string> = {
  parse: parsePublicUrl,
  expected: "an address like https://files.example.com, without a path",
};

export const APPS_HOSTS: ValueType<readonly string[]> = {
  parse: parseHosts,
  expected: "host names like apps.example.com, without a port",
};

export const UPSTREAMS: ValueType<AllowedUpstreams> = {
  parse: (text) => AllowedUpstreams.parse(text),
  expected: "hosts or networks like 169.254.0.0/16, 127.0.0.1:8000, metadata.google.internal",
};

const LOG_FORMS = ["text", "json", "off"] as const;

export const LOG: ValueType<LogFormat | "off"> = {
  parse: (text) => LOG_FORMS.find((form) => form === text),
  expected: "text, json or off",
};

function parsePort(text: string): number | undefined {
  const port = Number(text);
  return /^\d+$/.test(text) && port <= 65_535 ? port : undefined;
}

/** The origin in an address that has nothing else. */
function parsePublicUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^\s\\/?#@]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin;
}

function parseHosts(text: string): readonly string[] | undefined {
  const hosts = text.split(",").map((one) => one.trim().toLowerCase());
  const isHost = (host: string) => hostProblem(host) === undefined && hostnameOf(host) === host;
  return hosts.every(isHost) ? hosts : undefined;
}

function parseAppsPort(text: string): number | "off" | undefined {
  if (text === "auto") return 0;
  const port = parsePort(text);
  return port === 0 ? "off" : port;
}

/** Backups are named by the second. */
function parseBackupTime(text: string): number | undefined {
  const time = parseDuration(text);
  return time !== undefined && time >= 1000 ? time : undefined;
}

function parseCount(text: string): number | undefined {
  const count = parseBytes(text);
  return count === 0 ? undefined : count;
}

function parseBytes(text: string): number | undefined {
  const bytes = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(bytes) ? bytes : undefined;
}

function parseMemory(text: string): number | undefined {
  const bytes = parseByteSize(text);
  return bytes !== undefined && bytes >= MIN_MEMORY_BUDGET ? bytes : undefined;
}

const SWITCHES = new Map([["1", true], ["true", true], ["0", false], ["false", false]]);

function parseSwitch(text: string): boolean | undefined {
  return SWITCHES.get(text);
}

function parseOrigins(text: string): CorsOrigins | undefined {
  if (text === "*") return "*";
  const origins = text.split(",").map((origin) => origin.trim());
  return origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)
    ? origins
    : undefined;
}
