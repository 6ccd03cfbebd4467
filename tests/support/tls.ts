import * as x509 from "@peculiar/x509";
import { Folder } from "./command.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const HOUR = 3_600_000;

/** Everything in PEM. */
interface Certificates {
  /** The authority's own certificate: what a client has to trust. */
  authority: string;
  /** The server's certificate, for `localhost` and 127.0.0.1. */
  certificate: string;
  key: string;
  /** The authority's own key. */
  authorityKey: string;
}

/**
 * An authority of the moment and a certificate that it issued. They are two, because a certificate
 * that is its own authority is refused as a server's.
 *
 * @param validity From when to when both are valid; for a day unless given.
 * @param hosts More names of hosts for which the certificate is valid.
 */
export async function makeCertificates(
  validity: readonly [from: Date, to: Date] = aDay(),
  hosts: readonly string[] = [],
): Promise<Certificates> {
  const [notBefore, notAfter] = validity;
  const authorityKeys = await generateKeys();
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: "01",
    name: "CN=Authority of the tests",
    notBefore,
    notAfter,
    keys: authorityKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: "02",
    subject: "CN=localhost",
    issuer: authority.subject,
    notBefore,
    notAfter,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: "dns", value: "localhost" },
        { type: "ip", value: "127.0.0.1" },
        ...hosts.map((value) => ({ type: "dns" as const, value })),
      ]),
    ],
  });
  return {
    authority: authority.toString("pem"),
    certificate: certificate.toString("pem"),
    key: await exportKey(keys.privateKey),
    authorityKey: await exportKey(authorityKeys.privateKey),
  };
}

function aDay(): [from: Date, to: Date] {
  return [new Date(Date.now() - HOUR), new Date(Date.now() + 24 * HOUR)];
}

async function generateKeys(): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

async function exportKey(key: CryptoKey): Promise<string> {
  const bytes = await crypto.subtle.exportKey("pkcs8", key);
  return x509.PemConverter.encode(bytes, "PRIVATE KEY");
}

/** Certificates made for one test, as files that the program and its clients can be pointed to. */
export class TlsFiles implements AsyncDisposable {
  private constructor(readonly folder: Folder, readonly pem: Certificates) {}

  /** @param hosts Names of hosts for which the certificate is valid besides `localhost` and 127.0.0.1. */
  static async make(hosts: readonly string[] = []): Promise<TlsFiles> {
    const folder = await Folder.make();
    const pem = await makeCertificates(undefined, hosts);
    const files = new TlsFiles(folder, pem);
    await folder.write("authority.pem", pem.authority);
    await folder.write("certificate.pem", pem.certificate);
    await folder.write("key.pem", pem.key);
    return files;
  }

  get authority(): string {
    return this.folder.at("authority.pem");
  }

  get certificate(): string {
    return this.folder.at("certificate.pem");
  }

  get key(): string {
    return this.folder.at("key.pem");
  }

  /** The arguments that make the server speak TLS. */
  get args(): string[] {
    return ["--tls-cert", this.certificate, "--tls-key", this.key];
  }

  /** A client that trusts the authority. */
  client(): Deno.HttpClient {
    return Deno.createHttpClient({ caCerts: [this.pem.authority] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.folder[Symbol.asyncDispose]();
  }
}
