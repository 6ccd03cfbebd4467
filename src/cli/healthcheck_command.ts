import { parseDuration } from "../drive/duration.ts";
import { DEFAULT_HEALTHCHECK_TIMEOUT } from "../drive/limits.ts";
import { failureReason } from "../drive/reason.ts";
import type { Command } from "./command.ts";
import { type OptionSpec, parseFlags } from "./flags.ts";
import { askReadiness, type ServerPlace } from "./healthcheck.ts";
import type { Environment } from "./given_values.ts";
import { parseServeOptions } from "./options.ts";
import { print } from "./output.ts";
import { CommandError, UsageError } from "./usage_error.ts";

const FORM = "kvdrive healthcheck [--url URL] [--timeout TIME]";

const OPTIONS: readonly OptionSpec[] = [
  { name: "url", value: "URL", help: "where the server is (as KVDRIVE_HOSTNAME and the like say)" },
  { name: "timeout", value: "TIME", help: "how long its answer may take (5s)" },
];

/** Addresses that a server listens on where it listens on all, and where it is reached then. */
const LOOPBACK = new Map([["0.0.0.0", "127.0.0.1"], ["::", "::1"], ["[::]", "::1"]]);

/** `kvdrive healthcheck`: whether the server of this machine, or another one, can answer requests. */
export const healthcheckCommand: Command = {
  name: "healthcheck",
  form: FORM,
  summary: "ask the server whether it is ready, for containers",
  options: OPTIONS,
  async run(args, env) {
    const advice = `the form is ${FORM}`;
    const { options, operands } = parseFlags(OPTIONS, args, advice);
    if (operands.length > 0) throw new UsageError(`There are too many words: ${advice}`);
    const url = options.get("url");
    const place = url === undefined ? await ownPlace(env) : placeOf(url, advice);
    const problem = await askReadiness(place, timeoutOf(options.get("timeout")));
    if (problem !== undefined) throw new CommandError(`The server is not ready: ${problem}`);
    print("The server is ready.\n");
  },
};

function timeoutOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_HEALTHCHECK_TIMEOUT;
  const timeout = parseDuration(text);
  if (timeout !== undefined) return timeout;
  throw new UsageError(`Bad value "${text}" of --timeout: it must be a time like 500ms or 5s`);
}

function placeOf(text: string, advice: string): ServerPlace {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "") {
    throw new UsageError(`The URL of --url must be like http://127.0.0.1:8000: ${advice}`);
  }
  const isSecure = url.protocol === "https:";
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  return {
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    port,
    isSecure,
    ownCertificate: undefined,
  };
}

/** Where a server is that has the same settings. */
async function ownPlace(env: Environment): Promise<ServerPlace> {
  const { hostname, port, tlsCert } = parseServeOptions([], env);
  if (port === 0) throw new UsageError("KVDRIVE_PORT is 0, a port that nobody knows: give --url");
  const ownCertificate = tlsCert === undefined ? undefined : await readCertificate(tlsCert);
  const isSecure = tlsCert !== undefined;
  return { hostname: LOOPBACK.get(hostname) ?? hostname, port, isSecure, ownCertificate };
}

async function readCertificate(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    const reason = failureReason(error);
    throw new CommandError(`Cannot read the file of KVDRIVE_TLS_CERT: ${reason}`, { cause: error });
  }
}
