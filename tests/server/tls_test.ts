import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { assertRefused, Folder, runCommand } from "../support/command.ts";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { TlsFiles } from "../support/tls.ts";

Deno.test("A server with a certificate and its key speaks https.", async () => {
  await using files = await TlsFiles.make();
  await using server = await TestServer.start({ args: files.args });
  assertMatch(server.origin, /^https:\/\//);
  using client = files.client();
  const bytes = patternBytes(3 * MIB, 1);
  for (const host of ["localhost", "127.0.0.1"]) {
    const root = `https://${host}:${server.port}/v1/${PROJECT_ID}/drive`;
    const headers = { "X-Api-Key": PROJECT_KEY };
    const stored = await fetch(`${root}/files?name=${host}`, {
      method: "POST",
      body: bytes,
      headers,
      client,
    });
    assertEquals(stored.status, 201, await stored.text());
    const read = await fetch(`${root}/files/download?name=${host}`, { headers, client });
    assertEquals(read.status, 200);
    assertSameBytes(new Uint8Array(await read.arrayBuffer()), bytes);
  }
});

Deno.test("A client that does not know the authority refuses the server.", async () => {
  await using files = await TlsFiles.make();
  await using server = await TestServer.start({ args: files.args });
  const url = `https://localhost:${server.port}/v1/any`;
  const refusal = await assertRejects(() => fetch(url), TypeError);
  assertMatch(String(refusal.cause), /certificate/);
});

Deno.test("A server under TLS does not answer plain http.", async () => {
  await using files = await TlsFiles.make();
  await using server = await TestServer.start({ args: files.args });
  await assertRejects(() => fetch(`http://localhost:${server.port}/v1/any`), TypeError);
});

Deno.test("Invalid settings for TLS are refused with one sentence.", async () => {
  await using files = await TlsFiles.make();
  await using folder = await Folder.make();
  const garbage = await folder.write("garbage.pem", "no certificate");
  const { certificate, key } = files;
  const cases: { args: string[]; env?: Record<string, string>; names: RegExp }[] = [
    { args: ["--tls-cert", certificate], names: /--tls-key/ },
    { args: ["--tls-key", key], names: /--tls-cert/ },
    { args: [], env: { KVDRIVE_TLS_CERT: certificate }, names: /--tls-key|KVDRIVE_TLS_KEY/ },
    { args: [], env: { KVDRIVE_TLS_KEY: key }, names: /--tls-cert|KVDRIVE_TLS_CERT/ },
    { args: ["--tls-cert", folder.at("none"), "--tls-key", key], names: /--tls-cert/ },
    { args: ["--tls-cert", certificate, "--tls-key", folder.at("none")], names: /--tls-key/ },
    { args: ["--tls-cert", folder.path, "--tls-key", key], names: /--tls-cert/ },
    { args: ["--tls-cert", garbage, "--tls-key", key], names: /--tls-cert|certificate/ },
    { args: ["--tls-cert", certificate, "--tls-key", garbage], names: /--tls-key|key/ },
  ];
  for (const { args, env, names } of cases) {
    const data = folder.at("data");
    assertRefused(
      await runCommand(["serve", "--port", "0", "--data", data, ...args], env),
      2,
      names,
    );
    assert(!await folder.has("data"), `A data folder was made for ${args.join(" ")}`);
  }
});
