import { assertEquals, assertMatch } from "@std/assert";
import * as x509 from "@peculiar/x509";
import { DAY, SECOND } from "../../rules/units.ts";
import { certificateProblem, certificateWarning } from "./tls_files.ts";

const FROM = Date.UTC(2026, 0, 1);
const TO = FROM + 90 * DAY;

async function certificate(): Promise<string> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=localhost",
    notBefore: new Date(FROM),
    notAfter: new Date(TO),
    keys: await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]),
    signingAlgorithm: algorithm,
  });
  return made.toString("pem");
}

Deno.test("a certificate is a problem from 14 days before its end", async () => {
  const pem = await certificate();
  assertEquals(certificateProblem(pem, FROM + DAY), undefined);
  assertEquals(certificateProblem(pem, TO - 14 * DAY - SECOND), undefined);
  assertMatch(
    certificateProblem(pem, TO - 14 * DAY) ?? "",
    /expires at 2026-04-01T00:00:00Z: renew it/,
  );
  assertMatch(certificateProblem(pem, TO + SECOND) ?? "", /^The certificate .* expired at/);
  assertMatch(
    certificateProblem(pem, FROM - SECOND) ?? "",
    /^The certificate .* is not valid before/,
  );
  assertEquals(certificateProblem("no certificate", FROM), undefined);
  assertEquals(certificateWarning(pem, TO - DAY), undefined, "the start is no time to renew it");
});
