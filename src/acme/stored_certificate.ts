import { createPrivateKey, X509Certificate } from "node:crypto";
import type { TlsCertificate } from "../http1/tls_certificates.ts";
import { isoSeconds } from "../rules/dates.ts";
import type { Validity } from "./schedule.ts";

/** A certificate that an authority has issued for one host name. */
export interface StoredCertificate extends Validity {
  name: string;
  /** The address of the authority's directory. */
  directory: string;
  tls: TlsCertificate;
}

const BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;

/** The line in front of the PEM blocks that names the authority. */
const DIRECTORY = /^Authority: (\S+)$/m;

/** Returns the file of a certificate: what it is, its key, and the chain. */
export function certificateText(
  { name, directory, tls, notAfter }: StoredCertificate,
): string {
  return [
    `Certificate of ${name}, valid until ${isoSeconds(notAfter)}. The private key is secret.`,
    `Authority: ${directory}`,
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
export function parseCertificate(text: string): StoredCertificate | undefined {
  const directory = DIRECTORY.exec(text)?.[1];
  const blocks = [...text.matchAll(BLOCK)];
  const key = blocks.find(([, label]) => label?.endsWith("PRIVATE KEY"))?.[0];
  const chain = blocks.flatMap(([block, label]) => label === "CERTIFICATE" ? [block] : []);
  if (directory === undefined || key === undefined || chain.length === 0) return undefined;
  return describe(directory, { cert: `${chain.join("\n")}\n`, key: `${key}\n` });
}

/** Returns what is in a certificate; `undefined` if it, its chain or its key cannot be used. */
export function describe(directory: string, tls: TlsCertificate): StoredCertificate | undefined {
  try {
    const [leaf] = [...tls.cert.matchAll(BLOCK)].map(([block]) => new X509Certificate(block));
    if (leaf === undefined || !leaf.checkPrivateKey(createPrivateKey(tls.key))) return undefined;
    const name = /(?:^|, )DNS:([^,]+)/.exec(leaf.subjectAltName ?? "")?.[1]?.toLowerCase();
    const [notBefore, notAfter] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
    if (name === undefined || !(notBefore < notAfter)) return undefined;
    return { name, directory, tls, notBefore, notAfter };
  } catch {
    // Damaged by a disk, or edited by hand.
    return undefined;
  }
}
