import * as x509 from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const HOUR = 3_600_000;

/** An authority's certificate and key: it issues certificates for requests. */
export class Issuer {
  private constructor(
    private readonly certificate: x509.X509Certificate,
    private readonly keys: CryptoKeyPair,
  ) {}

  static async make(): Promise<Issuer> {
    const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: "01",
      name: "CN=Issuer of the tests",
      notBefore: new Date(Date.now() - 365 * 24 * HOUR),
      notAfter: new Date(Date.now() + 10 * 365 * 24 * HOUR),
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return new Issuer(certificate, keys);
  }

  /** What clients have to trust, in PEM. */
  get pem(): string {
    return this.certificate.toString("pem");
  }

  /**
   * Returns the chain for a request, in PEM.
   *
   * @param csr The request (PKCS #10), in DER.
   */
  async issue(
    csr: Uint8Array<ArrayBuffer>,
    { notBefore, notAfter, serial }: { notBefore: Date; notAfter: Date; serial: number },
  ): Promise<string> {
    const request = new x509.Pkcs10CertificateRequest(csr);
    const found = request.getExtension("2.5.29.17") as x509.SubjectAlternativeNameExtension | null;
    const names = found?.names.items ?? [];
    const leaf = await x509.X509CertificateGenerator.create({
      serialNumber: `4d${serial.toString(16).padStart(8, "0")}`,
      subject: "",
      issuer: this.certificate.subject,
      notBefore,
      notAfter,
      publicKey: await request.publicKey.export(),
      signingKey: this.keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(
          names.map(({ value }) => ({ type: "dns" as const, value })),
        ),
        await x509.AuthorityKeyIdentifierExtension.create(this.keys.publicKey),
      ],
    });
    return `${leaf.toString("pem")}\n${this.pem}\n`;
  }
}
