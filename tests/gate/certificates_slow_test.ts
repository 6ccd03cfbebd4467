import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import * as x509 from "@peculiar/x509";
import { delay } from "@std/async/delay";
import { TestAuthority } from "../support/acme/authority.ts";
import { HttpsServer } from "../support/acme/https_server.ts";
import { Folder } from "../support/command.ts";
import { UpstreamApp } from "../support/gate/upstream_app.ts";
import { PROJECT_ID, PROJECT_KEY } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";

const NAME = "files.example.com";
const GATE = "apps.example.com";
const APP = "app.example.org";

Deno.test("The gate gets certificates for its own names, and for the hosts of applications when clients ask", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  await using upstream = new UpstreamApp();
  const data = folder.at("data");
  await using server = await HttpsServer.start({
    authority,
    domains: [NAME],
    data,
    args: [
      "--apps-port",
      "auto",
      "--apps-host",
      GATE,
      "--hsts",
      "--share-host",
      "share.example.com",
    ],
    env: { KVDRIVE_PROJECT_KEY: PROJECT_KEY },
  });
  const port = server.gatePort;
  for (const name of [NAME, GATE, "share.example.com"]) await server.untilCertificate(name);

  // Nothing is ordered for a name that no application has.
  assertEquals(await server.certificate(APP, port), undefined);
  assertMatch(await server.requestPlainly(APP, "/"), /^HTTP\/1\.1 404 /);
  assertEquals(authority.orders.length, 3);

  const app = ["app", "create", PROJECT_ID, "viewer", "--upstream", upstream.origin, "--host", APP];
  await new StoreCommands(data).text(...app);
  const trusted = authority.issuer.pem;
  // The first handshake waits for the certificate.
  await server.until(
    async () => await server.certificate(APP, port) !== undefined,
    "a certificate",
  );
  assertEquals(authority.orders.map(({ name }) => name).slice(3), [APP]);
  const answer = await server.request(APP, trusted, { port, path: "/page" });
  assertMatch(answer, /^HTTP\/1\.1 200 [^]*\/page/);
  assertMatch(answer, /\r\nstrict-transport-security: max-age=31536000\r\n/i);
  const missing = await server.request(GATE, trusted, { port });
  assertMatch(missing, /^HTTP\/1\.1 404 [^]*strict-transport-security/i);
  const redirect = await server.requestPlainly(APP, "/page?x=1");
  assert(redirect.includes(`ocation: https://${APP}:${port}/page?x=1\r\n`), redirect);
});

Deno.test("A refused host of an application is not ordered again by each client", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  authority.behaviour.refusals.set(APP, { status: 403, type: "rejectedIdentifier" });
  const data = folder.at("data");
  await using server = await HttpsServer.start({
    authority,
    domains: [NAME],
    data,
    args: ["--apps-port", "auto"],
    env: { KVDRIVE_PROJECT_KEY: PROJECT_KEY },
  });
  await server.untilCertificate(NAME);
  const upstream = ["--upstream", "http://127.0.0.1:9", "--host", APP];
  await new StoreCommands(data).text("app", "create", PROJECT_ID, "viewer", ...upstream);
  const orders = () => authority.orders.filter(({ name }) => name === APP).length;
  await server.until(async () => {
    await server.certificate(APP, server.gatePort);
    return orders() > 0;
  }, "an order");
  for (let count = 0; count < 20; count++) {
    assertEquals(await server.certificate(APP, server.gatePort), undefined);
  }
  await delay(500);
  assertEquals(orders(), 1);
  assertNotMatch(server.text, /\bat (file|async):/);
});

const DAY = 86_400_000;

/** Returns the file of a certificate as the server stores it, and as it stored it before it noted the first one. */
async function storedCertificate(
  authority: TestAuthority,
  name: string,
  { issued, since }: { issued: number; since?: number },
): Promise<string> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    keys,
    signingAlgorithm: algorithm,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: "dns", value: name }])],
  });
  const chain = await authority.issuer.issue(new Uint8Array(request.rawData), {
    notBefore: new Date(issued),
    notAfter: new Date(issued + 90 * DAY),
    serial: Math.floor(Math.random() * 1e6),
  });
  const key = await crypto.subtle.exportKey("pkcs8", keys.privateKey);
  const first = since === undefined ? "" : `Since: ${new Date(since).toISOString()}\n`;
  const pem = x509.PemConverter.encode(key, "PRIVATE KEY");
  return `Authority: ${authority.directory}\n${first}${pem}\n${chain}`;
}

Deno.test("Names below one registered domain get at most 25 first certificates within 7 days, also after a restart", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  const data = folder.at("data");
  await Deno.mkdir(`${data}/tls`, { recursive: true, mode: 0o700 });
  const now = Date.now();
  const store = async (name: string, times: { issued: number; since?: number }) =>
    await Deno.writeTextFile(
      `${data}/tls/${name}.pem`,
      await storedCertificate(authority, name, times),
    );
  for (let number = 1; number <= 25; number++) {
    const since = number % 2 === 0 ? { since: now - DAY } : {};
    await store(`a${number}.example.co.uk`, { issued: now - DAY, ...since });
  }
  for (let number = 1; number <= 24; number++) {
    await store(`b${number}.example.org`, { issued: now - DAY });
  }
  // Neither a renewal nor an older name counts.
  await store("renewed.example.org", { issued: now - DAY, since: now - 20 * DAY });
  await store("older.example.org", { issued: now - 8 * DAY });
  const start = () =>
    HttpsServer.start({
      authority,
      domains: [NAME],
      data,
      args: ["--apps-port", "auto"],
      env: { KVDRIVE_PROJECT_KEY: PROJECT_KEY },
    });
  const [full, free] = ["new.example.co.uk", "new.example.org"];
  const ordered = () => authority.orders.map(({ name }) => name);
  {
    await using server = await start();
    await server.untilCertificate(NAME);
    for (const [app, host] of [["full", full], ["free", free]] as const) {
      const upstream = ["--upstream", "http://127.0.0.1:9", "--host", host];
      await new StoreCommands(data).text("app", "create", PROJECT_ID, app, ...upstream);
    }
    await server.until(async () => {
      await server.certificate(full, server.gatePort);
      return /Cannot obtain a certificate for new\.example\.co\.uk/.test(server.text);
    }, "a refusal");
    assertMatch(
      server.text,
      /25 names of example\.co\.uk got their first certificate within 7 days/,
    );
    const [, wait = ""] = /the limit is 25\. Next attempt in (\d+) s/.exec(server.text) ?? [];
    assert(Math.abs(Number(wait) - 6 * DAY / 1000) < 600, server.text);
    await server.until(
      async () => await server.certificate(free, server.gatePort) !== undefined,
      "a certificate",
    );
    assertEquals(ordered(), [NAME, free]);
    // The 25th of its domain within a week.
    await server.until(async () => {
      const text = await Deno.readTextFile(`${data}/tls/${free}.pem`).catch(() => "");
      return /^Since: 20/m.test(text);
    }, "the time of the first certificate is stored");
  }
  await using server = await start();
  await server.untilCertificate(NAME);
  for (let count = 0; count < 5; count++) {
    assertEquals(await server.certificate(full, server.gatePort), undefined);
    await delay(300);
  }
  assertEquals(ordered(), [NAME, free]);
});

Deno.test("A renewal keeps the time of a name's first certificate", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  authority.behaviour.lifetime = 6000;
  const data = folder.at("data");
  await using server = await HttpsServer.start({ authority, domains: [NAME], data });
  const since = async () =>
    /^Since: (.*)$/m.exec(await Deno.readTextFile(`${data}/tls/${NAME}.pem`))?.[1];
  const { serial } = await server.untilCertificate(NAME);
  await server.until(() => /renewal at/.test(server.text), "the certificate is stored");
  const first = await since();
  assertMatch(first ?? "", /^20/);
  await server.untilCertificate(NAME, serial);
  await server.until(() => /renewal at[^]*renewal at/.test(server.text), "the renewal is stored");
  assertEquals(await since(), first);
});
