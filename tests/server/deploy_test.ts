import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { fromFileUrl } from "@std/path/from-file-url";
import { MIB, patternBytes } from "../support/bytes.ts";
import { environment, EXECUTABLE, MAIN } from "../support/command.ts";
import { Deployed, Platform, RIGHTS } from "../support/deploy/deploy.ts";
import { GatedBody } from "../support/paced_body.ts";
import { PROJECT_KEY } from "../support/server.ts";

const DASHBOARD = fromFileUrl(new URL("../../src/dashboard", import.meta.url));
const DRIVE = "/v1/test-project/photos";
const KEY = { "X-Api-Key": PROJECT_KEY };
const SETTINGS = { KVDRIVE_PROJECT_KEY: PROJECT_KEY, KVDRIVE_ADMIN_TOKEN: "a".repeat(32) };

/** The platform has the sources, and no executable. */
function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: EXECUTABLE !== undefined, fn });
}

async function status(origin: string, path = `${DRIVE}/files`): Promise<number> {
  const response = await fetch(origin + path, { headers: KEY });
  await response.body?.cancel();
  return response.status;
}

test("Without a database all is answered with 503, until one is attached.", async () => {
  await using platform = new Platform({ isAttached: false });
  await using deployed = await Deployed.start({ ...SETTINGS, ...platform.env });
  assertEquals(platform.asked, 0);
  const began = performance.now();
  for (let call = 0; call < 10; call++) {
    const response = await fetch(`${deployed.origin}${DRIVE}/files`, { headers: KEY });
    assertEquals([response.status, response.headers.get("retry-after")], [503, "1"]);
    const { errors: [sentence] } = await response.json() as { errors: [string] };
    assertMatch(sentence, /No database is attached.*Deno Deploy/);
    assert(response.headers.has("x-request-id"));
  }
  // Once a second at most.
  assert(platform.asked <= 1 + (performance.now() - began) / 1000, String(platform.asked));
  platform.isAttached = true;
  const end = Date.now() + 15_000;
  while (await status(deployed.origin) === 503) {
    assert(Date.now() < end, "The database is not noticed");
    await delay(100);
  }
  assertEquals(await status(deployed.origin), 200);
});

test("The API works on the attached database without access to files.", async () => {
  await using platform = new Platform({ isAttached: true });
  await using deployed = await Deployed.start({ ...SETTINGS, ...platform.env });
  const url = `${deployed.origin}${DRIVE}`;
  const content = patternBytes(6_000_000);
  const one = await fetch(`${url}/files?name=a`, { method: "POST", headers: KEY, body: "small" });
  assertEquals([one.status, (await one.json()).name], [201, "a"]);
  const begun = await fetch(`${url}/uploads?name=b`, { method: "POST", headers: KEY });
  const { upload_id } = await begun.json() as { upload_id: string };
  for (const part of [1, 2]) {
    const at = `${url}/uploads/${upload_id}/parts?name=b&part=${part}`;
    const sent = await fetch(at, { method: "POST", headers: KEY, body: content });
    assertEquals(sent.status, 200, await sent.text());
  }
  const completed = await fetch(`${url}/uploads/${upload_id}?name=b`, {
    method: "PATCH",
    headers: KEY,
  });
  assertEquals(completed.status, 200, await completed.text());
  const read = await fetch(`${url}/files/download?name=b`, {
    headers: { ...KEY, Range: "bytes=5999999-6000001" },
  });
  const expected = [content[5_999_999], content[0], content[1]];
  assertEquals([...new Uint8Array(await read.arrayBuffer())], expected);
  const list = await fetch(`${url}/files`, { headers: KEY });
  assertEquals(await list.json(), { names: ["a", "b"] });
  const projects = await fetch(`${deployed.origin}/admin/v1/projects`, {
    headers: { Authorization: `Bearer ${SETTINGS.KVDRIVE_ADMIN_TOKEN}` },
  });
  assertEquals(projects.status, 200, await projects.text());
  assertEquals(await status(deployed.origin, "/"), 404);
  assertEquals(await deployed.stop(), 0);
  const said = deployed.text.split("\n").filter((line) => !line.startsWith('{"time":'));
  assertEquals(said, ["kvdrive listening for Deno Deploy", ""]);
});

test("The dashboard is served if the program may read its own files.", async () => {
  await using platform = new Platform({ isAttached: true });
  const rights = [...RIGHTS, `--allow-read=${DASHBOARD}`];
  await using deployed = await Deployed.start({ ...SETTINGS, ...platform.env }, rights);
  const response = await fetch(`${deployed.origin}/`);
  assertMatch(await response.text(), /<title>/);
  assertEquals(response.status, 200);
});

test("A database that is gone with the program is never taken.", async () => {
  // So older runtimes do it by themselves where nothing is attached; newer ones refuse where the platform demands it.
  for (const env of [{}, { DENO_KV_REQUIRES_DISTRIBUTED_DATABASE: "error" }]) {
    await using deployed = await Deployed.start({ ...SETTINGS, ...env }, ["-A"]);
    assertEquals(await status(deployed.origin), 503);
    assertEquals(await status(deployed.origin, "/"), 503);
  }
});

test("At the platform's signal a transfer that runs may end, and all is over within its time.", async () => {
  await using platform = new Platform({ isAttached: true });
  await using deployed = await Deployed.start({ ...SETTINGS, ...platform.env });
  const url = `${deployed.origin}${DRIVE}/files?name=slow`;
  assertEquals(await status(deployed.origin), 200);
  const body = new GatedBody(patternBytes(8 * MIB));
  const sent = fetch(url, { method: "POST", headers: KEY, body: body.stream });
  await body.halfSent;
  assertEquals(await status(deployed.origin), 200);
  const began = performance.now();
  const ended = deployed.stop();
  while (await status(deployed.origin) !== 503) {
    assert(performance.now() - began < 4000, "The signal is not noticed");
  }
  body.open();
  const response = await sent;
  assertEquals(response.status, 201, await response.text());
  assertEquals(await ended, 0);
  assert(performance.now() - began < 5000, "It ended too late");
});

test("A transfer that does not end is cut in time.", async () => {
  await using platform = new Platform({ isAttached: true });
  await using deployed = await Deployed.start({ ...SETTINGS, ...platform.env });
  assertEquals(await status(deployed.origin), 200);
  const body = new GatedBody(patternBytes(8 * MIB));
  const url = `${deployed.origin}${DRIVE}/files?name=stuck`;
  const sent = fetch(url, { method: "POST", headers: KEY, body: body.stream });
  const failed = sent.then((response) => response.status, () => "broken");
  await body.halfSent;
  assertEquals(await status(deployed.origin), 200);
  const began = performance.now();
  assertEquals(await deployed.stop(), 0);
  // The platform gives it 5 s, of which it uses 4; without a limit it would wait for half a minute.
  assert(performance.now() - began < 10_000, "It ended too late");
  body.breakOff();
  assertEquals(await failed, "broken");
});

test("The configuration has the platform's install and start commands.", async () => {
  const text = await Deno.readTextFile(new URL("../../deno.json", import.meta.url));
  const { deploy } = JSON.parse(text) as {
    deploy: { install: string; runtime: { type: string; entrypoint: string } };
  };
  assertEquals(deploy.runtime, { type: "dynamic", entrypoint: "main.ts" });
  assertEquals(deploy.install, "deno install --entrypoint main.ts");
  assert(MAIN.endsWith(`/${deploy.runtime.entrypoint}`));
});

test("A setting that cannot be followed, or a secret that is easy to guess, ends the program with a sentence.", async () => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ KVDRIVE_UPLOAD_TTL: "soon" }, /^kvdrive: .*KVDRIVE_UPLOAD_TTL.*\n$/],
    [
      { KVDRIVE_ADMIN_TOKEN: "a" },
      /^kvdrive: .*KVDRIVE_ADMIN_TOKEN is too short: it has 1 character,.*openssl.*\n$/,
    ],
    [{ KVDRIVE_PROJECT_KEY: "p_x" }, /^kvdrive: .*KVDRIVE_PROJECT_KEY.*1 character.*openssl.*\n$/],
  ];
  for (const [settings, says] of cases) {
    const command = new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-net", "--allow-env", MAIN],
      env: environment({ DENO_DEPLOY: "1", ...settings }),
      clearEnv: true,
    });
    const { code, stderr } = await command.output();
    assertEquals(code, 2);
    assertMatch(new TextDecoder().decode(stderr), says);
  }
});
