import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertRefused, Folder, runCommand } from "../support/command.ts";
import { Drive, Upload } from "../support/drive.ts";
import { LaunchedServer } from "../support/launch.ts";
import { TestServer } from "../support/server.ts";
import { TlsFiles } from "../support/tls.ts";

const ALLOWED = "https://app.example";
const OTHER = "https://other.example";

Deno.test("KVDRIVE_HOSTNAME is the address of the server, and --hostname overrides it.", async () => {
  const cases = [
    { env: "127.0.0.1", args: [] },
    // No machine has this address, so a server that tried it would not start.
    { env: "192.0.2.1", args: ["--hostname", "127.0.0.1"] },
  ];
  for (const { env, args } of cases) {
    await using server = await TestServer.start({ env: { KVDRIVE_HOSTNAME: env }, args });
    assertMatch(server.origin, /^http:\/\/127\.0\.0\.1:\d+$/);
    await assertAnswers(server.origin);
  }
  await using folder = await Folder.make();
  const args = ["serve", "--port", "0", "--data", folder.at("data")];
  assertRefused(await runCommand(args, { KVDRIVE_HOSTNAME: "192.0.2.1" }), 1, /192\.0\.2\.1/);
});

Deno.test("KVDRIVE_PORT is the port of the server, and --port overrides it.", async () => {
  await using first = await TestServer.start();
  await using folder = await Folder.make();
  const env = { KVDRIVE_PORT: String(first.port), KVDRIVE_DATA: folder.at("data") };
  // The port is taken, which shows that the variable was read.
  assertRefused(await runCommand(["serve"], env), 1, new RegExp(`\\b${first.port}\\b`));
  await using second = await LaunchedServer.start(["serve", "--port", "0"], env);
  assert(second.origin !== first.origin);
  await assertAnswers(second.origin);
});

Deno.test("KVDRIVE_DATA is the data folder, and --data overrides it.", async () => {
  await using folder = await Folder.make();
  const env = { KVDRIVE_DATA: folder.at("deep/variable"), KVDRIVE_PORT: "0" };
  {
    await using server = await LaunchedServer.start(["serve", "--data", folder.at("flag")], env);
    await assertAnswers(server.origin);
    assert(await folder.has("flag/kvdrive.db"));
    assert(!await folder.has("deep"));
  }
  await using server = await LaunchedServer.start(["serve"], env);
  await assertAnswers(server.origin);
  assert(await folder.has("deep/variable/kvdrive.db"));
});

Deno.test("KVDRIVE_TLS_CERT and KVDRIVE_TLS_KEY are used, unless the flags say otherwise.", async () => {
  await using files = await TlsFiles.make();
  const good = { KVDRIVE_TLS_CERT: files.certificate, KVDRIVE_TLS_KEY: files.key };
  const bad = { KVDRIVE_TLS_CERT: "/missing/cert", KVDRIVE_TLS_KEY: "/missing/key" };
  using client = files.client();
  for (const { env, args } of [{ env: good, args: [] }, { env: bad, args: files.args }]) {
    await using server = await TestServer.start({ env, args });
    assertMatch(server.origin, /^https:/);
    await assertAnswers(`https://localhost:${server.port}`, client);
  }
});

Deno.test("KVDRIVE_CORS_ORIGIN restricts the origins, and --cors-origin overrides it.", async () => {
  const cases: { env: Record<string, string>; args: string[]; allowed: string[] }[] = [
    { env: {}, args: [], allowed: [ALLOWED, OTHER] },
    { env: { KVDRIVE_CORS_ORIGIN: ALLOWED }, args: [], allowed: [ALLOWED] },
    { env: { KVDRIVE_CORS_ORIGIN: OTHER }, args: ["--cors-origin", ALLOWED], allowed: [ALLOWED] },
  ];
  for (const { env, args, allowed } of cases) {
    await using server = await TestServer.start({ env, args });
    for (const origin of [ALLOWED, OTHER]) {
      const granted = await preflight(server, origin);
      assertEquals(granted, allowed.includes(origin), `${origin} of ${allowed}`);
    }
  }
});

Deno.test("KVDRIVE_UPLOAD_TTL is how long an upload stays open, and --upload-ttl overrides it.", async () => {
  const cases: { env: string; args: string[] }[] = [
    { env: "1s", args: [] },
    { env: "1h", args: ["--upload-ttl", "1s"] },
  ];
  for (const { env, args } of cases) {
    await using server = await TestServer.start({ env: { KVDRIVE_UPLOAD_TTL: env }, args });
    const drive = new Drive(server, "drive");
    const upload = await Upload.start(drive, "a");
    await until(async () => (await upload.lookUp()).status === 404);
    (await upload.send(1, new Uint8Array(10))).expect(404);
    (await upload.complete()).expect(404);
    assertEquals(await drive.names(), []);
  }
});

Deno.test("KVDRIVE_FAILED_REASONS and --failed-reasons return reasons by name.", async () => {
  const cases: { env: Record<string, string>; args: string[]; failed: unknown }[] = [
    { env: {}, args: [], failed: [] },
    { env: { KVDRIVE_FAILED_REASONS: "0" }, args: [], failed: [] },
    { env: { KVDRIVE_FAILED_REASONS: "1" }, args: [], failed: {} },
    { env: {}, args: ["--failed-reasons"], failed: {} },
    { env: { KVDRIVE_FAILED_REASONS: "0" }, args: ["--failed-reasons"], failed: {} },
  ];
  for (const { env, args, failed } of cases) {
    await using server = await TestServer.start({ env, args });
    const answer = await new Drive(server, "drive").delete(["a"]);
    assertEquals(answer, { deleted: ["a"], failed }, JSON.stringify({ env, args }));
  }
});

/** A server that asks for a key is one of ours, and it is alive. */
async function assertAnswers(origin: string, client?: Deno.HttpClient): Promise<void> {
  const answer = await fetch(`${origin}/v1/any`, client === undefined ? {} : { client });
  assertEquals(answer.status, 401, await answer.text());
}

/** Whether a browser's page of this origin may call the server. */
async function preflight(server: TestServer, origin: string): Promise<boolean> {
  const headers = {
    "Origin": origin,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "x-api-key",
  };
  const answer = await fetch(server.url("drive", "/files"), { method: "OPTIONS", headers });
  await answer.body?.cancel();
  const actual = await server.fetch("drive", "/files", { headers: { Origin: origin } });
  await actual.body?.cancel();
  const grants = [answer, actual].map((one) => {
    return ["*", origin].includes(one.headers.get("Access-Control-Allow-Origin") ?? "");
  });
  assertEquals(grants[0], grants[1], "The preflight and the request disagree");
  return grants[0] === true;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!await condition()) {
    assert(Date.now() < end, "It did not happen in time");
    await delay(100);
  }
}
