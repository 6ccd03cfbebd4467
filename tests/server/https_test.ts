import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { withAuthority } from "../support/acme/https_server.ts";
import { assertRefused, Folder, IS_OLDEST, runCommand } from "../support/command.ts";

const NAME = "files.example.com";
const OTHER = "other.example.com";

Deno.test("A server obtains a certificate for each of its names, one at a time", async () => {
  await withAuthority(async (authority, start) => {
    const args = ["--acme-email", "me@example.com"];
    await using server = await start({ domains: [NAME, OTHER], args });
    for (const name of [NAME, OTHER]) {
      assertMatch((await server.untilCertificate(name)).names, new RegExp(`DNS:${name}`));
      assertMatch(await server.request(name, authority.issuer.pem, { path: "/readyz" }), / 200 /);
    }
    assertEquals(authority.mostOpen, 1);
    assertEquals(authority.accounts.map(({ contact }) => contact), [["mailto:me@example.com"]]);
    assertEquals(authority.issued.map(({ name }) => name), [NAME, OTHER]);
  });
});

Deno.test("A client gets the first certificate without a name, and an alert with an unknown one", async () => {
  await withAuthority(async (authority, start) => {
    await using server = await start();
    const { serial } = await server.untilCertificate(NAME);
    assertEquals((await server.certificate(undefined))?.serial, serial);
    assertEquals((await server.certificate(NAME.toUpperCase()))?.serial, serial);
    assertEquals(await server.certificate("unknown.example.com"), undefined);
    assertEquals(authority.orders.length, 1);
  });
});

Deno.test("The port for plain HTTP redirects the server's names, and has nothing else", async () => {
  await withAuthority(async (_authority, start) => {
    await using server = await start({ domains: [NAME, OTHER], args: ["--hsts"] });
    const target = "/v1/a/../b%2f?x=1&y=//z";
    for (const host of [NAME, `${OTHER}:80`, NAME.toUpperCase()]) {
      const answer = await server.requestPlainly(host, target);
      assertMatch(answer, /^HTTP\/1\.1 308 /);
      const name = host.toLowerCase().replace(/:.*/, "");
      const wanted = `https://${name}:${server.port}${target}`;
      assert(answer.includes(`ocation: ${wanted}\r\n`), answer);
      assertNotMatch(answer, /strict-transport-security/i);
    }
    for (
      const host of ["evil.example.com", "127.0.0.1", "[::1]", "localhost", `${NAME}.evil.com`]
    ) {
      const answer = await server.requestPlainly(host, "/");
      assertMatch(answer, /^HTTP\/1\.1 404 /, host);
      assertNotMatch(answer, /location:/i);
    }
    for (
      const path of ["/.well-known/acme-challenge/", "/.well-known/acme-challenge/../../readyz"]
    ) {
      assertMatch(await server.requestPlainly(NAME, path), /^HTTP\/1\.1 404 /);
    }
    assertMatch(
      await server.requestPlainly(NAME, "http://evil.example.com/"),
      /^HTTP\/1\.1 40[04] /,
    );
  });
});

Deno.test("Redirects name the public address behind a router with other ports", async () => {
  await withAuthority(async (_authority, start) => {
    const args = ["--public-url", `https://${NAME}`];
    await using server = await start({ domains: [NAME, OTHER], args });
    const own = await server.requestPlainly(NAME, "/a?b");
    assert(own.includes(`ocation: https://${NAME}/a?b\r\n`), own);
    const other = await server.requestPlainly(OTHER, "/");
    assert(other.includes(`ocation: https://${OTHER}:${server.port}/\r\n`), other);
  });
});

Deno.test("Hostile clients on the port for plain HTTP do not keep others from it", async () => {
  await withAuthority(async (_authority, start) => {
    await using server = await start();
    const slow = await Promise.all(Array.from({ length: 100 }, async () => {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port: server.httpPort });
      await connection.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: "));
      return connection;
    }));
    const long = await server.requestPlainly(NAME, "/", `X-Long: ${"x".repeat(100_000)}\r\n`);
    assertMatch(long, /^HTTP\/1\.1 431 /);
    assertMatch(await server.requestPlainly(NAME, "/"), /^HTTP\/1\.1 308 /);
    await server.untilCertificate(NAME);
    for (const connection of slow) connection.close();
  });
});

Deno.test("Clients that stall in the handshake do not keep others from it", async () => {
  await withAuthority(async (_authority, start) => {
    await using server = await start();
    await server.untilCertificate(NAME);
    const hello = Uint8Array.of(22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3);
    const stalled = await Promise.all(Array.from({ length: 100 }, async (_, index) => {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
      await connection.write(hello.subarray(0, index % hello.length));
      return connection;
    }));
    for (let count = 0; count < 5; count++) assert(await server.certificate(NAME));
    for (const connection of stalled) connection.close();
  });
});

Deno.test("A restart uses the stored account and certificates", async () => {
  await withAuthority(async (authority, start) => {
    let serial: string;
    {
      await using server = await start();
      ({ serial } = await server.untilCertificate(NAME));
      await server.until(() => /renewal at/.test(server.text), "the result is logged");
    }
    await authority.leave();
    await using server = await start();
    assertEquals((await server.untilCertificate(NAME)).serial, serial);
    await delay(1000);
    assertEquals([authority.orders.length, authority.accounts.length], [1, 1]);
    assertNotMatch(server.text, /error/);
  });
});

Deno.test("Keys and certificates are private files, and are not in the log", async () => {
  await withAuthority(async (_authority, start, data) => {
    await using server = await start();
    await server.untilCertificate(NAME);
    await server.until(() => /renewal at/.test(server.text), "the result is logged");
    const names = [...Deno.readDirSync(`${data}/tls`)].map(({ name }) => name).sort();
    assertEquals(names, ["account.json", `${NAME}.pem`, "lock"]);
    for (const name of names) {
      const { mode } = await Deno.stat(`${data}/tls/${name}`);
      if (Deno.build.os !== "windows") assertEquals((mode ?? 0) & 0o777, 0o600, name);
    }
    assertNotMatch(server.text, /PRIVATE KEY|BEGIN/);
  });
});

for (
  const [what, damage] of [
    ["half-written", (text: string) => text.slice(0, text.length / 2)],
    ["empty", () => ""],
    [
      "changed",
      (text: string) =>
        text.replace(/(.)(\n-----END PRIVATE)/, (_, a, b) => `${a === "A" ? "B" : "A"}${b}`),
    ],
  ] as const
) {
  Deno.test(`A ${what} certificate is replaced by another one`, async () => {
    await withAuthority(async (authority, start, data) => {
      const file = `${data}/tls/${NAME}.pem`;
      {
        await using server = await start();
        await server.untilCertificate(NAME);
        await server.until(() => /renewal at/.test(server.text), "the certificate is stored");
      }
      await Deno.writeTextFile(file, damage(await Deno.readTextFile(file)));
      await Deno.writeTextFile(`${data}/tls/account.json`, "{");
      await using server = await start();
      await server.untilCertificate(NAME);
      assertEquals(authority.issued.length, 2);
    });
  });
}

Deno.test("A name that the authority rejects does not keep others from a certificate", async () => {
  await withAuthority(async (authority, start) => {
    const detail = "The domain is not allowed\nforged line";
    authority.behaviour.refusals.set(NAME, { status: 403, type: "rejectedIdentifier", detail });
    await using server = await start({ domains: [NAME, OTHER] });
    await server.untilCertificate(OTHER);
    assertEquals(await server.certificate(NAME), undefined);
    const [line = ""] = server.text.split("\n").filter((text) => text.includes("error"));
    assertMatch(
      line,
      /Cannot obtain a certificate for files\.example\.com: .*not allowed forged line \(rejectedIdentifier\)\. Next attempt in [45] s, at 20/,
    );
  });
});

Deno.test("--hsts is a header of https only", async () => {
  await withAuthority(async (authority, start) => {
    const args = ["--hsts", "--port", "0"];
    await using server = await start({ args });
    await server.untilCertificate(NAME);
    const secure = await server.request(NAME, authority.issuer.pem, { path: "/livez" });
    assertMatch(secure, /\r\nstrict-transport-security: max-age=31536000\r\n/i);
  });
});

Deno.test("The metrics show the end of a certificate and failed attempts", async () => {
  await withAuthority(async (authority, start) => {
    authority.behaviour.refusals.set(OTHER, { status: 403, type: "rejectedIdentifier" });
    const token = "a-token-for-the-metrics-0123456789";
    const env = { KVDRIVE_METRICS_TOKEN: token };
    await using server = await start({ domains: [NAME, OTHER], env });
    const { validTo } = await server.untilCertificate(NAME);
    await server.until(() => /rejectedIdentifier/.test(server.text), "the refusal");
    const head = `Authorization: Bearer ${token}\r\n`;
    const text = await server.request(NAME, authority.issuer.pem, { path: "/metrics", head });
    assert(
      text.includes(
        `kvdrive_certificate_expiry_timestamp_seconds{name="${NAME}"} ${validTo / 1000}`,
      ),
      text,
    );
    assert(text.includes(`kvdrive_certificate_failed_attempts{name="${OTHER}"} `), text);
  });
});

Deno.test({
  name: "kvdrive healthcheck accepts the certificate of the first domain",
  ignore: IS_OLDEST,
  fn: () =>
    withAuthority(async (_authority, start, data) => {
      await using server = await start();
      const env = {
        KVDRIVE_DOMAIN: NAME,
        KVDRIVE_DATA: data,
        KVDRIVE_HTTPS_PORT: String(server.port),
      };
      await server.untilCertificate(NAME);
      await server.until(() => /renewal at/.test(server.text), "the certificate is stored");
      const { code, stdout, stderr } = await runCommand(["healthcheck"], env);
      assertEquals([code, stdout, stderr], [0, "The server is ready.\n", ""]);
      const other = await runCommand(["healthcheck"], { ...env, KVDRIVE_DOMAIN: OTHER });
      assertMatch(other.stderr, /there is no certificate for other\.example\.com yet/);
    }),
});

Deno.test("A taken --http-port is refused with --domain, with a sentence that says what to do", async () => {
  await using folder = await Folder.make();
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;
  const ports = ["--apps-port", "0", "--https-port", "0", "--http-port", String(port)];
  const place = ["--data", folder.at("data"), "--hostname", "127.0.0.1", "--domain", NAME];
  const result = await runCommand(["serve", ...place, ...ports]);
  assertRefused(
    result,
    1,
    new RegExp(`:${port}: another program uses the port.*--http-port.*port 80.*--tls-cert`),
  );
});

Deno.test("Options of https that do not fit together are refused with one sentence", async () => {
  await using folder = await Folder.make();
  const domain = ["--domain", NAME];
  const damaged = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  const garbage = await folder.write("garbage.pem", damaged);
  const cases: [args: string[], names: RegExp][] = [
    [["--acme-email", "me@example.com"], /--acme-email needs a host name: add --domain/],
    [["--http-port", "0"], /--domain/],
    [["--hsts"], /--hsts needs https/],
    [["--domain", "*.example.com"], /--domain/],
    [["--domain", "127.0.0.1"], /--domain/],
    [[...domain, "--tls-cert", "a", "--tls-key", "b"], /--domain and --tls-cert/],
    [[...domain, "--acme-email", "me"], /--acme-email/],
    [[...domain, "--acme-directory", "http://localhost/"], /--acme-directory/],
    [[...domain, "--acme-ca", folder.at("none")], /--acme-ca/],
    [[...domain, "--acme-ca", garbage], /--acme-ca/],
    [[...domain, "--https-port", "off"], /--https-port/],
    [[...domain, "--http-port", "off"], /--http-port/],
  ];
  for (const [args, names] of cases) {
    assertRefused(await runCommand(["serve", "--data", folder.at("data"), ...args]), 2, names);
    assert(!await folder.has("data"), args.join(" "));
  }
});
