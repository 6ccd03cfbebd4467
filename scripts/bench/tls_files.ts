import { join } from "@std/path/join";
import { makeCertificates } from "../../tests/support/tls.ts";
import type { Scope } from "./scope.ts";

/** A certificate for 127.0.0.1 with its key, as text and as files. */
export interface TlsFiles {
  pem: Awaited<ReturnType<typeof makeCertificates>>;
  /** Paths. */
  certificate: string;
  key: string;
}

/** Makes an authority and a certificate of it, for a day. */
export async function makeTlsFiles(scope: Scope): Promise<TlsFiles> {
  const folder = await scope.makeFolder();
  const pem = await makeCertificates();
  const files = { certificate: join(folder, "certificate.pem"), key: join(folder, "key.pem") };
  await Deno.writeTextFile(files.certificate, pem.certificate);
  await Deno.writeTextFile(files.key, pem.key);
  return { pem, ...files };
}
