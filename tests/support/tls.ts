import { type Certificates, makeCertificates } from "./certificates.ts";
import { Folder } from "./command.ts";

/** Certificates made for one test, as files that the program and its clients can be pointed to. */
export class TlsFiles implements AsyncDisposable {
  private constructor(readonly folder: Folder, readonly pem: Certificates) {}

  static async make(): Promise<TlsFiles> {
    const folder = await Folder.make();
    const pem = await makeCertificates();
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
