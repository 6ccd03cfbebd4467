import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { get as getPlainly } from "node:http";
import { get as getSecurely } from "node:https";
import type { TLSSocket } from "node:tls";

/** Where a server is. */
export interface ServerPlace {
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
export async function askReadiness(
  { hostname, port, isSecure, ownCertificate }: ServerPlace,
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
