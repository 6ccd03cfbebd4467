import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { TestAuthority } from "../support/acme/authority.ts";
import { HttpsServer } from "../support/acme/https_server.ts";
import { ADMIN_TOKEN, administer, ADMINISTERED, Project, PROJECTS } from "../support/admin.ts";
import { assertRefused, Folder, runCommand } from "../support/command.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { UpstreamApp } from "../support/gate/upstream_app.ts";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { S3_DOMAIN, s3Of } from "../support/s3/s3_server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { TlsFiles } from "../support/tls.ts";

const SERVED = "files.example.com";
const BUCKET_HOST = `photos.${S3_DOMAIN}`;

/** Paths of the other routes of the server. */
const ROUTES = [
  "/",
  "/healthz",
  "/metrics",
  "/openapi.json",
  `/v1/${PROJECT_ID}`,
  "/admin/v1/status",
  "/dashboard/session",
  "/s/some-link",
];

/** Asks without a signature. @returns Whether S3 answered. */
async function isS3(client: RawClient, host: string, path: string): Promise<boolean> {
  const key = `X-Api-Key: ${PROJECT_KEY}\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\n`;
  await client.send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${key}\r\n`);
  const answer = await client.readAnswer();
  if (answer.header("Content-Type") !== "application/xml") return false;
  assertMatch(answer.body, /<Error><Code>\w+<\/Code>/);
  assert(answer.status === 400 || answer.status === 403, String(answer.status));
  return true;
}

async function statusOf(server: { origin: string }): Promise<unknown> {
  const answer = await administer(server, "GET", "/admin/v1/status");
  return (answer.expect(200).json as { s3: unknown }).s3;
}

Deno.test("Without a port and a domain S3 is off.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  assert(!server.text.includes("S3"), server.text);
  assertEquals(await statusOf(server), null);
  using client = await RawClient.connect(server.port);
  assertEquals(await isS3(client, S3_DOMAIN, "/bucket"), false);
});

Deno.test("The port of S3 is printed, and answers as S3 under every host name.", async () => {
  await using server = await TestServer.start({ ...ADMINISTERED, args: ["--s3-port", "0"] });
  const { port, origin } = new URL(s3Of(server));
  assertEquals(origin, `http://127.0.0.1:${port}`);
  assertEquals(await statusOf(server), origin);
  using client = await RawClient.connect(Number(port));
  for (const host of ["localhost", "127.0.0.1", "[::1]:9000", SERVED, BUCKET_HOST]) {
    for (const path of ROUTES) assert(await isS3(client, host, path), `${host}${path}`);
  }
  using other = await RawClient.connect(server.port);
  assertEquals(await isS3(other, "localhost", "/healthz"), false);
});

Deno.test("A port of S3 that is in use is reported.", async () => {
  await using folder = await Folder.make();
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;
  const args = ["serve", "--port", "0", "--s3-port", String(port), "--data", folder.at("data")];
  const message = new RegExp(`Cannot listen on 127.0.0.1:${port}: .*--s3-port`);
  assertRefused(await runCommand(args), 1, message);
});

Deno.test("Requests for the domain of S3 and names below it reach S3, and no others do.", async () => {
  const args = ["--s3-domain", S3_DOMAIN, "--public-url", `https://${SERVED}`];
  await using server = await TestServer.start({ ...ADMINISTERED, args });
  assertEquals(s3Of(server), `http://${S3_DOMAIN}:${server.port}`);
  assertEquals(await statusOf(server), `https://${S3_DOMAIN}`);
  using client = await RawClient.connect(server.port);
  const names = [S3_DOMAIN, `${S3_DOMAIN}:${server.port}`, "S3.Example.com.", BUCKET_HOST];
  for (const host of [...names, `a.b.${S3_DOMAIN}`, `${BUCKET_HOST}.:80`]) {
    for (const path of ROUTES) assert(await isS3(client, host, path), `${host}${path}`);
  }
  const others = ["localhost", SERVED, "example.com", `x${S3_DOMAIN}`, `${S3_DOMAIN}.example.net`];
  for (const host of [...others, "127.0.0.1", `.${S3_DOMAIN}`]) {
    for (const path of ROUTES) assert(!await isS3(client, host, path), `${host}${path}`);
  }
});

Deno.test("No application gets a name in the domain of S3, and one that has it is not served.", async () => {
  await using folder = await Folder.make();
  await using upstream = new UpstreamApp();
  const data = folder.at("data");
  const host = BUCKET_HOST;
  {
    await using server = await TestServer.start({ ...ADMINISTERED, data });
    const app = { name: "early", upstream: upstream.origin, host };
    (await administer(server, "POST", `${PROJECTS}/${PROJECT_ID}/apps`, { body: app })).expect(201);
  }
  const args = ["--apps-port", "auto", "--s3-domain", S3_DOMAIN];
  await using server = await TestServer.start({ ...ADMINISTERED, data, args });
  const project = new Project(server, PROJECT_ID, PROJECT_KEY);
  for (const name of [S3_DOMAIN, `other.${S3_DOMAIN}`]) {
    const body = { name: "late", upstream: upstream.origin, host: name };
    const refused = await project.call("POST", "/apps", { body });
    assertStringIncludes(refused.expect(400).text, "is a name of this server itself");
  }
  const gate = /^Applications are at \S+:(\d+)$/m.exec(server.text)?.[1];
  using client = await RawClient.connect(Number(gate));
  await client.send(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  assertEquals((await client.readAnswer()).status, 404);
  using own = await RawClient.connect(server.port);
  assert(await isS3(own, host, "/"));
});

Deno.test("With TLS the port and the domain of S3 are served over TLS, with HSTS.", async () => {
  await using tls = await TlsFiles.make();
  const args = ["--s3-port", "0", "--s3-domain", S3_DOMAIN, "--hsts", ...tls.args];
  await using server = await TestServer.start({ args });
  const s3 = new URL(s3Of(server));
  assertEquals(s3.origin, `https://127.0.0.1:${s3.port}`);
  for (
    const [port, host] of [[Number(s3.port), "localhost"], [server.port, BUCKET_HOST]] as const
  ) {
    const plain = await Deno.connect({ hostname: "127.0.0.1", port });
    const options = { hostname: "localhost", caCerts: [tls.pem.authority] };
    using client = RawClient.over(await Deno.startTls(plain, options));
    await client.send(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const answer = await client.readAnswer();
    assertEquals([answer.status, answer.header("Content-Type")], [403, "application/xml"]);
    assertEquals(answer.header("Strict-Transport-Security"), "max-age=31536000");
  }
});

Deno.test("The domain of S3 gets a certificate, and buckets below it get none.", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  const data = folder.at("data");
  await using server = await HttpsServer.start({
    authority,
    domains: [`listed.${S3_DOMAIN}`, SERVED],
    data,
    args: ["--s3-port", "0", "--s3-domain", S3_DOMAIN],
    env: { KVDRIVE_PROJECT_KEY: PROJECT_KEY },
  });
  const names = [SERVED, S3_DOMAIN, `listed.${S3_DOMAIN}`];
  for (const name of names) await server.untilCertificate(name);
  assertEquals(new URL(s3Of(server)).hostname, SERVED);
  assertMatch(server.text, new RegExp(`^kvdrive listening on https://${SERVED}:`, "m"));

  // An application of a server without this domain may have had such a name.
  const app = ["app", "create", PROJECT_ID, "early", "--upstream", "http://127.0.0.1:9"];
  await new StoreCommands(data).text(...app, "--host", BUCKET_HOST);
  assertEquals(await server.certificate(BUCKET_HOST), undefined);
  assertEquals(authority.orders.map(({ name }) => name).sort(), names.sort());

  const trusted = authority.issuer.pem;
  for (const name of names.slice(1)) {
    const port = Number(new URL(s3Of(server)).port);
    for (const options of [{ path: "/healthz" }, { path: "/healthz", port }]) {
      const answer = await server.request(name, trusted, options);
      assertEquals(answer.includes("<Error>"), name !== SERVED || "port" in options, answer);
    }
  }
  const redirect = await server.requestPlainly(S3_DOMAIN, "/a/b?x=1");
  assertStringIncludes(redirect, `ocation: https://${S3_DOMAIN}:${server.port}/a/b?x=1\r\n`);
  assertMatch(await server.requestPlainly(BUCKET_HOST, "/"), /^HTTP\/1\.1 404 /);
});

Deno.test("Behind a router, plain HTTP is redirected to the domain of S3 at the port that clients use.", async () => {
  await using folder = await Folder.make();
  await using authority = await TestAuthority.start();
  await using server = await HttpsServer.start({
    authority,
    domains: [SERVED],
    data: folder.at("data"),
    args: ["--s3-domain", S3_DOMAIN, "--public-url", `https://${SERVED}:8443`],
  });
  const redirect = await server.requestPlainly(S3_DOMAIN, "/a");
  assertStringIncludes(redirect, `ocation: https://${S3_DOMAIN}:8443/a\r\n`);
});
