import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { get as getPlainly, type IncomingMessage } from "node:http";
import { get as getSecurely } from "node:https";
import type { TLSSocket } from "node:tls";
import { failureReason } from "../../rules/system_error.ts";
import { parseDuration, SECOND } from "../../rules/units.ts";
import { type Command, type OptionSpec, parseFlags } from "../options/arguments.ts";
import { parseServeOptions } from "../options/serve_options.ts";
import { CommandError, UsageError } from "../terminal/errors.ts";
import { type Environment, print } from "../terminal/output.ts";

/** How long `kvdrive healthcheck` waits, unless told: less than the 30 s that Docker gives it. */
const DEFAULT_HEALTHCHECK_TIMEOUT = 5 * SECOND;

/** Where a server is. */
interface ServerAddress {
  /** Without brackets. */
  hostname: string;
  port: number;
  isSecure: boolean;
  /** The certificate, in PEM, that it has to show in place of one for its host name from somebody the system trusts. */
  ownCertificate: string | undefined;
}

/**
 * Asks a server whether it can answer requests.
 *
 * @param timeout Milliseconds.
 * @returns What is wrong, as the end of a sentence; `undefined` where nothing is.
 */
async function checkReadiness(
  { hostname, port, isSecure, ownCertificate }: ServerAddress,
  timeout: number,
): Promise<string | undefined> {
  const signal = AbortSignal.timeout(timeout);
  // The server of this machine is asked by an address that its certificate does not name, so that is compared itself.
  const rejectUnauthorized = ownCertificate === undefined;
  const options = { hostname, port, path: "/readyz", signal, rejectUnauthorized, agent: false };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (isSecure ? getSecurely : getPlainly)(options, resolve);
  request.on("error", reject);
  try {
    const answer = await promise;
    if (ownCertificate !== undefined && !isShown(ownCertificate, answer.socket as TLSSocket)) {
      return "it shows another certificate than the file of KVDRIVE_TLS_CERT has";
    }
    return answer.statusCode === 200 ? undefined : `it answers with ${answer.statusCode}`;
  } catch (error) {
    if (signal.aborted) return `it did not answer within ${timeout} ms`;
    return reachProblem(error, `${hostname}:${port}`);
  } finally {
    request.destroy();
  }
}

function reachProblem(error: unknown, place: string): string {
  const { code, message } = error as { code?: string; message?: string };
  if (code === "ECONNREFUSED") return `nothing listens at ${place}; is kvdrive serve running?`;
  if (code === "ENOTFOUND") return `there is no host of the name in ${place}`;
  return message ?? String(error);
}

function isShown(pem: string, socket: TLSSocket): boolean {
  const shown = socket.getPeerCertificate().raw;
  return shown !== undefined && Buffer.compare(shown, new X509Certificate(pem).raw) === 0;
}

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
    const place = url === undefined ? await configuredServer(env) : parseServerUrl(url, advice);
    const problem = await checkReadiness(place, timeoutOf(options.get("timeout")));
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

function parseServerUrl(text: string, advice: string): ServerAddress {
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
async function configuredServer(env: Environment): Promise<ServerAddress> {
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
    throw new CommandError(`Cannot read ${path}, the file of KVDRIVE_TLS_CERT: ${reason}`, {
      cause: error,
    });
  }
}
