import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { Pebble, type PebbleOptions } from "../support/acme/pebble.ts";
import { HttpsServer, type HttpsServerOptions } from "../support/acme/https_server.ts";
import { Folder } from "../support/command.ts";
import { unusedPort } from "../support/processes/ports.ts";

const NAME = "files.example.com";
const OTHER = "other.example.com";

type Start = (options?: Partial<HttpsServerOptions>) => Promise<HttpsServer>;

/** Runs a test with Pebble, which checks challenges on the ports of the servers that are started. */
async function withPebble(
  options: Partial<PebbleOptions>,
  test: (pebble: Pebble, start: Start) => Promise<void>,
): Promise<void> {
  await using folder = await Folder.make();
  const [httpPort, tlsPort] = [unusedPort(), unusedPort()];
  await using pebble = await Pebble.start({ httpPort, tlsPort, lifetime: 3600, ...options });
  const start: Start = ({ args = [], ...others } = {}) => {
    const ports = ["--https-port", String(tlsPort), "--http-port", String(httpPort)];
    const data = folder.at("data");
    return HttpsServer.start({
      authority: pebble,
      domains: [NAME],
      data,
      ...others,
      args: [...ports, ...args],
    });
  };
  await test(pebble, start);
}

Deno.test("Certificates are issued by HTTP-01, and clients that trust the authority accept them", async () => {
  await withPebble({}, async (pebble, start) => {
    const args = ["--acme-email", "me@example.com"];
    await using server = await start({ domains: [NAME, OTHER], args });
    const root = await pebble.root();
    for (const name of [NAME, OTHER]) {
      await server.untilCertificate(name);
      assertMatch(await server.request(name, root, { path: "/readyz" }), /^HTTP\/1\.1 200 /);
    }
    assertNotMatch(server.text, /error/);
  });
});

Deno.test("A certificate of 90 s is renewed after 60 s", async () => {
  await withPebble({ lifetime: 90 }, async (pebble, start) => {
    await using server = await start();
    const { serial, validTo } = await server.untilCertificate(NAME);
    const renewed = await server.untilCertificate(NAME, serial, 85_000);
    assert(Date.now() < validTo - 15_000, "The renewal was late");
    assert(renewed.validTo > validTo);
    assertMatch(await server.request(NAME, await pebble.root()), /^HTTP\/1\.1 200 /);
    assertNotMatch(server.text, /error/);
  });
});

Deno.test("A restart reuses stored certificates, also while the authority is away", async () => {
  await withPebble({}, async (pebble, start) => {
    let serial: string;
    {
      await using server = await start();
      ({ serial } = await server.untilCertificate(NAME));
      await server.until(() => /renewal at/.test(server.text), "the certificate is stored");
    }
    await pebble.stop();
    await using server = await start();
    assertEquals((await server.untilCertificate(NAME)).serial, serial);
  });
});

Deno.test("After an outage in which the authority forgot everything, certificates are issued again", async () => {
  await withPebble({ lifetime: 20 }, async (pebble, start) => {
    await using server = await start();
    const { serial } = await server.untilCertificate(NAME);
    await pebble.stop();
    await server.until(() => /cannot reach localhost/.test(server.text), "a failure");
    assertEquals((await server.certificate(NAME))?.serial, serial);
    await pebble.run();
    await server.untilCertificate(NAME, serial, 60_000);
  });
});

Deno.test("A name that the authority refuses is logged, and others get certificates", async () => {
  await withPebble({ blocked: [OTHER] }, async (_pebble, start) => {
    await using server = await start({ domains: [OTHER, NAME] });
    await server.untilCertificate(NAME);
    assertMatch(
      server.text,
      /Cannot obtain a certificate for other\.example\.com: .*\(rejectedIdentifier\)\. Next attempt in/,
    );
  });
});
