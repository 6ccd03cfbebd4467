import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { get as getPlainly, type IncomingMessage } from "node:http";
import { get as getSecurely } from "node:https";
import type { TLSSocket } from "node:tls";
import { CertificateFolder } from "../../../acme/certificate_folder.ts";
import { failureReason } from "../../../rules/system_error.ts";
import { parseValue } from "../../options/arguments.ts";
import type { Arguments } from "../../options/command.ts";
import { ALL_INTERFACES, readServeOptions } from "../../options/serve_options.ts";
import { DURATION } from "../../options/value_types.ts";
import { CommandError, type Environment, print, UsageError } from "../../terminal/output.ts";
import { printableJson } from "../../terminal/text.ts";
import { DEFAULT_HEALTH_TIMEOUT } from "../defaults.ts";

/** Addresses of servers that listen on all interfaces, and the address to reach them at. */
const LOOPBACK = new Map([["0.0.0.0", "127.0.0.1"], ["::", "::1"], ["[::]", "::1"]]);

/** Asks the server of this machine, or another one, whether it is ready. */
export async function checkHealth(args: Arguments, env: Environment): Promise<void> {
  const url = args.get("url");
  const advice = `usage: ${args.usage}`;
  const place = url === undefined ? await configuredServer(env) : parseServerUrl(url, advice);
  const timeout = { text: args.get("timeout") ?? DEFAULT_HEALTH_TIMEOUT, source: "--timeout" };
  const time = parseValue(timeout, DURATION);
  const problem = typeof place === "string" ? place : await checkReadiness(place, time);
  const isReady = problem === undefined;
  if (args.has("json")) print(`${printableJson({ ready: isReady, problem: problem ?? null })}\n`);
  else if (isReady) print("The server is ready.\n");
  if (!isReady) throw new CommandError(`The server is not ready: ${problem}`);
}

function parseServerUrl(text: string, advice: string): ServerAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "") {
    throw new UsageError(`Bad value of --url: it must be like http://127.0.0.1:8000; ${advice}`);
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

/** Returns the address of a server with the same environment, or why it cannot be ready. */
async function configuredServer(env: Environment): Promise<ServerAddress | string> {
  const { hostname, port, tlsCert, acme, data } = readServeOptions(new Map(), env);
  if (port === 0) throw new UsageError("The port is unknown, as KVDRIVE_PORT is 0: give --url");
  const [domain = ""] = acme?.domains ?? [];
  const ownCertificate = acme !== undefined
    ? await storedCertificate(data, domain)
    : tlsCert && await readCertificate(tlsCert);
  if (acme !== undefined && ownCertificate === undefined) {
    return `there is no certificate for ${domain} yet`;
  }
  const isSecure = acme !== undefined || tlsCert !== undefined;
  // A server with certificates of its own listens for IPv4 on "::", and on machines without IPv6.
  const isAnywhere = acme !== undefined && hostname === ALL_INTERFACES;
  const reached = isAnywhere ? "127.0.0.1" : LOOPBACK.get(hostname) ?? hostname;
  return { hostname: reached, port, isSecure, ownCertificate };
}

/** Returns the certificate that a server has obtained for clients that name no host. */
async function storedCertificate(data: string, name: string): Promise<string | undefined> {
  return (await new CertificateFolder(data).find(name).catch(() => undefined))?.tls.cert;
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

interface ServerAddress {
  /** Without brackets. */
  hostname: string;
  port: number;
  isSecure: boolean;
  /** The certificate it must present, in PEM; `undefined` for one that is valid for its host name. */
  ownCertificate: string | undefined;
}

/**
 * Asks a server whether it is ready.
 *
 * @param timeout Milliseconds.
 * @returns The problem, as the end of a sentence; `undefined` if it is ready.
 */
async function checkReadiness(
  { hostname, port, isSecure, ownCertificate }: ServerAddress,
  timeout: number,
): Promise<string | undefined> {
  const signal = AbortSignal.timeout(timeout);
  // The loopback address is not in the certificate, so the certificate itself is compared.
  const rejectUnauthorized = ownCertificate === undefined;
  const options = { hostname, port, path: "/readyz", signal, rejectUnauthorized, agent: false };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (isSecure ? getSecurely : getPlainly)(options, resolve);
  request.on("error", reject);
  try {
    const answer = await promise;
    if (ownCertificate !== undefined && !isPresented(ownCertificate, answer.socket as TLSSocket)) {
      return "its certificate is not that of KVDRIVE_TLS_CERT or KVDRIVE_DOMAIN";
    }
    return answer.statusCode === 200 ? undefined : `it answered ${answer.statusCode}`;
  } catch (error) {
    if (signal.aborted) return `it did not answer within ${timeout} ms`;
    return reachProblem(error, `${hostname}:${port}`);
  } finally {
    request.destroy();
  }
}

function reachProblem(error: unknown, place: string): string {
  const { code, message } = error as { code?: string; message?: string };
  if (code === "ECONNREFUSED") return `connection to ${place} refused. Is kvdrive serve running?`;
  if (code === "ENOTFOUND") return `there is no host of that name in ${place}`;
  return message ?? String(error);
}

function isPresented(pem: string, socket: TLSSocket): boolean {
  const shown = socket.getPeerCertificate().raw;
  return shown !== undefined && Buffer.compare(shown, new X509Certificate(pem).raw) === 0;
}
