import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
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
