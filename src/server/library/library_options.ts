import { resolve } from "@std/path/resolve";
import { s3SecretKeyOf } from "../../cli/options/s3_secret.ts";
import { readServeOptions, type ServeOptions } from "../../cli/options/serve_options.ts";
import { UsageError } from "../../cli/terminal/output.ts";
import type { S3SecretKey } from "../../store/accounts/s3_secrets.ts";
import { type ConfiguredCredentials, readCredentials } from "../credentials.ts";
import { functionLog, NO_LOG, type ServerLog, standardLog } from "../log.ts";
import type { OpenServerOptions } from "./library.ts";
import type { StorePlace } from "../server.ts";

/** How long `close` waits for running requests, in milliseconds: programs and their tests should end soon. */
const DEFAULT_SHUTDOWN_TIME = 3000;

/** How a value becomes the text that the parser of `kvdrive serve` reads. */
const KINDS = {
  text: (value: unknown) => typeof value === "string" ? value : undefined,
  list: (value: unknown) => Array.isArray(value) ? value.join(",") : KINDS.text(value),
  /** Milliseconds as a number. */
  time: (value: unknown) => typeof value === "number" ? `${value}ms` : KINDS.text(value),
  number: (value: unknown) => typeof value === "number" ? String(value) : KINDS.text(value),
  switch: (value: unknown) => typeof value === "boolean" ? String(value) : undefined,
  onOff: (value: unknown) => typeof value === "boolean" ? (value ? "on" : "off") : undefined,
};

/** The options that `kvdrive serve` has as well. */
const SHARED: Readonly<Partial<Record<keyof OpenServerOptions, keyof typeof KINDS>>> = {
  publicUrl: "text",
  shareHost: "text",
  s3Domain: "text",
  webdav: "onOff",
  webdavPlain: "switch",
  webdavNoJunk: "switch",
  metricsToken: "text",
  corsOrigin: "list",
  trustedProxy: "list",
  trashDays: "number",
  allowWebhook: "list",
  uploadTtl: "time",
  idleTimeout: "time",
  shutdownTimeout: "time",
  scrubEvery: "time",
  memoryBudget: "number",
  diskReserve: "number",
  minUploadRate: "number",
  maxUploads: "number",
  maxOpenUploads: "number",
  failedReasons: "switch",
  reads: "text",
};

const OWN = ["data", "kv", "adminToken", "projectKey", "basePath", "log", "dashboard", "s3Secret"];

/** The options of a server within a program, checked. */
export interface LibraryOptions {
  place: StorePlace;
  settings: ServeOptions;
  credentials: ConfiguredCredentials;
  s3SecretKey: S3SecretKey;
  basePath: string;
  log: ServerLog;
  hasDashboard: boolean;
}

/** Checks the options of `openServer`. @throws {TypeError} */
export function parseLibraryOptions(options: OpenServerOptions): LibraryOptions {
  if (typeof options !== "object" || options === null) {
    throw new TypeError('openServer needs an object of options, such as { data: "./data" }');
  }
  for (const [name, value] of Object.entries(options)) {
    if (!OWN.includes(name) && !Object.hasOwn(SHARED, name)) {
      throw new TypeError(`openServer has no option ${JSON.stringify(name)}`);
    }
    if (value === "") throw new TypeError(`The option ${name} is empty: omit it, or give a value`);
  }
  const { adminToken, projectKey, s3Secret, dashboard = true } = options;
  requireType("adminToken", "string", adminToken);
  requireType("projectKey", "string", projectKey);
  requireType("s3Secret", "string", s3Secret);
  requireType("dashboard", "boolean", dashboard);
  const basePath = basePathOf(options.basePath);
  if (basePath !== "" && options.s3Domain !== undefined) {
    throw new TypeError(
      "The options basePath and s3Domain exclude each other: clients of S3 sign whole paths",
    );
  }
  const place = placeOf(options);
  const data = "folder" in place ? place.folder : undefined;
  return withNames(() => ({
    place,
    settings: readServeOptions(sharedOptions(options), {}),
    credentials: readCredentials({
      KVDRIVE_ADMIN_TOKEN: adminToken,
      KVDRIVE_PROJECT_KEY: projectKey,
    }),
    s3SecretKey: s3SecretKeyOf(
      { s3SecretFile: undefined, data, kv: undefined },
      { KVDRIVE_S3_SECRET: s3Secret },
    ),
    basePath,
    log: logOf(options.log),
    hasDashboard: dashboard,
  }));
}

function sharedOptions(options: OpenServerOptions): Map<string, string> {
  const texts = new Map([["shutdown-timeout", `${DEFAULT_SHUTDOWN_TIME}ms`]]);
  for (const name in SHARED) {
    const value: unknown = options[name as keyof OpenServerOptions];
    if (value === undefined) continue;
    const text = KINDS[SHARED[name as keyof OpenServerOptions] ?? "text"](value);
    if (text === undefined) {
      throw new TypeError(`The option ${name} cannot be a value like ${Deno.inspect(value)}`);
    }
    texts.set(name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), text);
  }
  return texts;
}

/** Names options in messages as they are here. @throws {TypeError} in place of a `UsageError`. */
function withNames<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const message = error.message.replaceAll(
      /--([a-z][a-z\d-]*)|KVDRIVE_([A-Z\d_]+)/g,
      (_, option?: string, variable?: string) =>
        (option ?? variable ?? "").toLowerCase().replaceAll(
          /[-_](\w)/g,
          (_, letter: string) => letter.toUpperCase(),
        ),
    );
    throw new TypeError(message, { cause: error });
  }
}

/** @throws {TypeError} */
function placeOf({ data, kv }: OpenServerOptions): StorePlace {
  if (data !== undefined && kv !== undefined) {
    throw new TypeError("The options data and kv exclude each other: give one of them");
  }
  if (data !== undefined) {
    requireType("data", "string", data);
    return { folder: resolve(data) };
  }
  if (kv === undefined) {
    throw new TypeError(
      'openServer needs a store: give a folder, { data: "./data" }, or a shared store, { kv }',
    );
  }
  if (typeof kv === "object" && "atomic" in kv && "get" in kv) return { kv };
  const url = String(kv);
  // The rules are those of `serve`, which also keeps the value out of the message.
  return { url: withNames(() => readServeOptions(new Map([["kv", url]]), {}).kv) };
}

/** @throws {TypeError} */
function requireType(name: string, type: "string" | "boolean", value: unknown): void {
  if (value === undefined || typeof value === type) return;
  throw new TypeError(`The option ${name} must be a ${type}`);
}

/** A path whose text is the same in URLs, in headers and in HTML. */
const BASE_PATH = /^(\/[A-Za-z0-9._~-]+)+$/;

/** @throws {TypeError} */
function basePathOf(text: string | undefined): string {
  requireType("basePath", "string", text);
  const path = (text ?? "").replace(/\/$/, "");
  if (path === "") return "";
  if (BASE_PATH.test(path) && !/\/\.\.?(\/|$)/.test(path)) return path;
  throw new TypeError(
    `Bad value ${JSON.stringify(text)} of basePath: it must be a path like /files, ` +
      "of letters, digits and . _ ~ -",
  );
}

/** @throws {TypeError} */
function logOf(log: OpenServerOptions["log"]): ServerLog {
  if (log === undefined || log === "off") return NO_LOG;
  if (typeof log === "function") return functionLog(log);
  if (log === "text" || log === "json") return standardLog(log);
  throw new TypeError('The option log must be "text", "json", "off" or a function');
}
