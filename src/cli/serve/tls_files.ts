import { X509Certificate } from "node:crypto";
import { isoSeconds } from "../../rules/dates.ts";
import { failureReason } from "../../rules/system_error.ts";
import type { ServeOptions } from "../options/serve_options.ts";
import { UsageError } from "../terminal/errors.ts";

/** What the server needs to speak https, in PEM. */
export interface TlsFiles {
  cert: string;
  key: string;
}

/** Reads the files of `--tls-cert` and `--tls-key`, if they are given. @throws {UsageError} where they are not what they have to be. */
export async function readTls(
  { tlsCert, tlsKey }: ServeOptions,
): Promise<TlsFiles | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const cert = await readPem("--tls-cert", tlsCert, "CERTIFICATE");
  const key = await readPem("--tls-key", tlsKey, "PRIVATE KEY");
  return { cert, key };
}

/**
 * What clients will not like of a certificate by now, as a sentence; `undefined` if nothing. The server starts with it, as
 * the clock may be wrong.
 *
 * @param now Milliseconds since 1970.
 */
export function certificateWarning(pem: string, now: number = Date.now()): string | undefined {
  const [from, to] = validityOf(pem) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const clock = `the clock of this machine says ${isoSeconds(now)}`;
  if (now > to) return `The certificate of --tls-cert expired at ${isoSeconds(to)}, ${clock}`;
  return now < from
    ? `The certificate of --tls-cert is valid from ${isoSeconds(from)} on, ${clock}`
    : undefined;
}

/** From when to when a certificate is valid, in milliseconds; `undefined` where it cannot be read. */
function validityOf(pem: string): [from: number, to: number] | undefined {
  try {
    const { validFrom, validTo } = new X509Certificate(pem);
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
    return Number.isNaN(from) || Number.isNaN(to) ? undefined : [from, to];
  } catch {
    // What is wrong with it is told when the server listens.
    return undefined;
  }
}

async function readPem(option: string, path: string, label: string): Promise<string> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    const reason = failureReason(error);
    throw new UsageError(`Cannot read ${path}, the file of ${option}: ${reason}`, { cause: error });
  }
  if (!text.includes(`${label}-----`)) {
    throw new UsageError(`The file of ${option}, ${path}, holds no ${label.toLowerCase()} in PEM`);
  }
  return text;
}
