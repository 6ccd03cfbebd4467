import { hostProblem } from "../drive/applications.ts";
import { parseByteSize } from "../drive/byte_size.ts";
import { parseDuration } from "../drive/duration.ts";
import { hostName } from "../drive/hosts.ts";
import { TrustedProxies } from "../http/client_address.ts";
import type { CorsOrigins } from "../http/cors.ts";
import type { LogForm } from "../http/request_log.ts";
import { AllowedUpstreams } from "../http/upstream_rules.ts";
import { MIN_MEMORY_BUDGET } from "../store/memory_budget.ts";

/** What the value of an option has to be. */
export interface Form<T> {
  /** The value of a text; `undefined` where it has another form. */
  parse: (text: string) => T | undefined;
  /** The form, as the end of a sentence. */
  wanted: string;
}

export const PORT: Form<number> = { parse: parsePort, wanted: "a whole number from 0 to 65535" };

export const APPS_PORT: Form<number | "off"> = {
  parse: parseAppsPort,
  wanted: "auto, or a whole number from 0 to 65535",
};

export const SHORT_TIME: Form<number> = {
  parse: parseDuration,
  wanted: "a time like 500ms or 60s",
};

export const SHUTDOWN_TIME: Form<number> = {
  parse: parseDuration,
  wanted: "a time like 500ms or 10s",
};

export const LONG_TIME: Form<number> = {
  parse: parseDuration,
  wanted: "a time like 90s, 30m or 24h",
};

export const BACKUP_TIME: Form<number> = {
  parse: parseBackupTime,
  wanted: "a time from 1s on, like 30m, 24h or 7d",
};

/** The longest time between two checks of all files, in milliseconds: a year. */
const MAX_SCRUB_TIME = 366 * 86_400_000;

export const SCRUB_TIME: Form<number | "off"> = {
  parse: (text) => text === "0" || text === "off" ? "off" : parseDuration(text, MAX_SCRUB_TIME),
  wanted: "off, or a time up to 366d like 24h, 7d or 30d",
};

export const COUNT: Form<number> = { parse: parseCount, wanted: "a whole number from 1 on" };

export const BYTES: Form<number> = { parse: parseBytes, wanted: "a whole number of bytes" };

export const MEMORY: Form<number> = {
  parse: parseMemory,
  wanted: `a size from ${MIN_MEMORY_BUDGET / 2 ** 20}MiB on, like 256MiB or 1GB`,
};

export const SWITCH: Form<boolean> = { parse: parseSwitch, wanted: "1, 0, true or false" };

export const ORIGINS: Form<CorsOrigins> = {
  parse: parseOrigins,
  wanted: "* or origins like https://app.example.com",
};

export const PROXIES: Form<TrustedProxies> = {
  parse: (text) => TrustedProxies.parse(text),
  wanted: "addresses or networks like 127.0.0.1, 10.0.0.0/8",
};

export const PUBLIC_URL: Form<string> = {
  parse: parsePublicUrl,
  wanted: "an address like https://files.example.com, without a path",
};

export const APPS_HOSTS: Form<readonly string[]> = {
  parse: parseHosts,
  wanted: "host names like apps.example.com, without a port",
};

export const UPSTREAMS: Form<AllowedUpstreams> = {
  parse: (text) => AllowedUpstreams.parse(text),
  wanted: "hosts or networks like 169.254.0.0/16, 127.0.0.1:8000, metadata.google.internal",
};

const LOG_FORMS = ["text", "json", "off"] as const;

export const LOG: Form<LogForm | "off"> = {
  parse: (text) => LOG_FORMS.find((form) => form === text),
  wanted: "text, json or off",
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
  const isHost = (host: string) => hostProblem(host) === undefined && hostName(host) === host;
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
