import { type TlsCertificate, TlsEnd } from "../http1/tls/tls_end.ts";
import { isOutOfDescriptors } from "../http1/connection_table.ts";
import { isoSeconds } from "../rules/dates.ts";
import type { Validity } from "./schedule.ts";

/** A certificate that an authority has issued for one host name. */
export interface StoredCertificate extends Validity {
  name: string;
  /** The address of the authority's directory. */
  directory: string;
  /** When the name got its first certificate, in milliseconds since 1970. */
  since: number;
  tls: TlsCertificate;
}

const BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;

/** The line in front of the PEM blocks that names the authority. */
const DIRECTORY = /^Authority: (\S+)$/m;

/** The line that says when the name got its first certificate. */
const SINCE = /^Since: (\S+)$/m;

/** Returns the file of a certificate: what it is, its key, and the chain. */
export function certificateText(
  { name, directory, since, tls, notAfter }: StoredCertificate,
): string {
  return [
    `Certificate of ${name}, valid until ${isoSeconds(notAfter)}. The private key is secret.`,
    `Authority: ${directory}`,
    `Since: ${isoSeconds(since)}`,
    tls.key.trim(),
    tls.cert.trim(),
    "",
  ].join("\n");
}

/**
 * Parses the file of a certificate.
 *
 * @returns `undefined` if a part is missing or damaged, or if the key is not that of the certificate.
 */
export async function parseCertificate(text: string): Promise<StoredCertificate | undefined> {
  const directory = DIRECTORY.exec(text)?.[1];
  const blocks = [...text.matchAll(BLOCK)];
  const key = blocks.find(([, label]) => label?.endsWith("PRIVATE KEY"))?.[0];
  const chain = blocks.flatMap(([block, label]) => label === "CERTIFICATE" ? [block] : []);
  if (directory === undefined || key === undefined || chain.length === 0) return undefined;
  const since = Date.parse(SINCE.exec(text)?.[1] ?? "");
  const tls = { cert: `${chain.join("\n")}\n`, key: `${key}\n` };
  return await describe(directory, tls, Number.isNaN(since) ? undefined : since);
}

/**
 * Returns what is in a certificate; `undefined` if it, its chain or its key cannot be used.
 *
 * @param since When its name got the first certificate, unless that is this one.
 */
export async function describe(
  directory: string,
  tls: TlsCertificate,
  since?: number,
): Promise<StoredCertificate | undefined> {
  // The class of Node.js has no names of hosts in older versions of Deno.
  const x509 = await import("@peculiar/x509");
  try {
    const leaf = new x509.X509Certificate(leafOf(tls));
    const names = leaf.getExtension(x509.SubjectAlternativeNameExtension)?.names.items ?? [];
    const name = names.find(({ type }) => type === "dns")?.value.toLowerCase();
    const [notBefore, notAfter] = [leaf.notBefore.getTime(), leaf.notAfter.getTime()];
    if (name === undefined || !(notBefore < notAfter) || !isUsable(tls)) return undefined;
    return { name, directory, since: since ?? notBefore, tls, notBefore, notAfter };
  } catch {
    // Damaged by a disk, or edited by hand.
    return undefined;
  }
}

/** Returns whether the runtime's TLS accepts a certificate, and its key as that of the certificate. */
function isUsable(tls: TlsCertificate): boolean {
  try {
    new TlsEnd(tls).close();
    return true;
  } catch (error) {
    return isOutOfDescriptors(error);
  }
}

/** Returns the first certificate of a chain, in PEM. */
export function leafOf({ cert }: TlsCertificate): string {
  const end = "-----END CERTIFICATE-----";
  return cert.slice(0, cert.indexOf(end) + end.length);
}
