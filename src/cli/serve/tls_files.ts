import { X509Certificate } from "node:crypto";
import type { CertificateStatus } from "../../acme/certificate_entry.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { failureReason } from "../../rules/system_error.ts";
import { DAY } from "../../rules/units.ts";
import type { ServeOptions } from "../options/serve_options.ts";
import { printError, UsageError } from "../terminal/output.ts";

/** How long before its end a certificate should be renewed, in milliseconds. */
const EXPIRES_SOON = 14 * DAY;

/** The certificate chain and the private key for HTTPS, in PEM. */
export interface TlsFiles {
  cert: string;
  key: string;
}

/** Reads the files of `--tls-cert` and `--tls-key`, if configured. @throws {UsageError} if they are not valid. */
export async function readTls(
  { tlsCert, tlsKey }: ServeOptions,
): Promise<TlsFiles | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const cert = await readPem("--tls-cert", tlsCert, "CERTIFICATE");
  const key = await readPem("--tls-key", tlsKey, "PRIVATE KEY");
  return { cert, key };
}

/** Warns about a certificate that is not valid now. */
export function warnOfCertificate(tls: TlsFiles | undefined): void {
  const warning = tls && certificateWarning(tls.cert);
  if (warning !== undefined) printError(`${warning}.\n`);
}

/**
 * Returns a warning about a certificate that is not valid now; `undefined` if it is. It does not keep the server from
 * starting: the clock may be wrong.
 *
 * @param now Milliseconds since 1970.
 */
export function certificateWarning(pem: string, now: number = Date.now()): string | undefined {
  const problem = invalidity(pem, now);
  return problem === undefined ? undefined : `Warning: the certificate of --tls-cert ${problem}`;
}

/**
 * Returns what the operator should know about a certificate, as a sentence without a period: that it is not valid, or not
 * for much longer.
 *
 * @param now Milliseconds since 1970.
 */
export function certificateProblem(pem: string, now: number = Date.now()): string | undefined {
  const problem = invalidity(pem, now);
  if (problem !== undefined) return `The certificate of --tls-cert ${problem}`;
  const [, to] = validityOf(pem) ?? [];
  if (to === undefined || to - now > EXPIRES_SOON) return undefined;
  return `The certificate of --tls-cert expires at ${
    isoSeconds(to)
  }: renew it, such as with \`certbot renew\`, and restart the server`;
}

/** Returns why a certificate is not valid at a time, as the end of a sentence; `undefined` if it is. */
function invalidity(pem: string, now: number): string | undefined {
  const [from, to] = validityOf(pem) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const clock = `the clock of this machine says ${isoSeconds(now)}`;
  if (now > to) return `expired at ${isoSeconds(to)}; ${clock}`;
  return now < from ? `is not valid before ${isoSeconds(from)}; ${clock}` : undefined;
}

/** Returns the state of a certificate of --tls-cert. */
export function certificateStatus({ cert }: TlsFiles): CertificateStatus[] {
  const notAfter = validityOf(cert)?.[1];
  return [{ name: "", notAfter, renewal: undefined, failures: 0, problem: undefined }];
}

/** Returns the validity period of a certificate in milliseconds; `undefined` if it cannot be read. */
function validityOf(pem: string): [from: number, to: number] | undefined {
  try {
    const { validFrom, validTo } = new X509Certificate(pem);
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
    return Number.isNaN(from) || Number.isNaN(to) ? undefined : [from, to];
  } catch {
    // Listening will report the error.
    return undefined;
  }
}

export async function readPem(option: string, path: string, label: string): Promise<string> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    const reason = failureReason(error);
    throw new UsageError(`Cannot read ${path}, the file of ${option}: ${reason}`, { cause: error });
  }
  if (!text.includes(`${label}-----`)) {
    throw new UsageError(`The file of ${option}, ${path}, has no ${label.toLowerCase()} in PEM`);
  }
  return text;
}
