import { assert, assertEquals } from "@std/assert";
import { type Caller, Project } from "../support/admin.ts";
import type { Answer } from "../support/answer.ts";
import { Gate } from "../support/gate/gate.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { RawUpstream } from "../support/gate/upstream_raw.ts";
import { assertErrorAnswer } from "../support/suite.ts";
import { unusedPort } from "../support/processes/ports.ts";

const SUFFIX = "sites.example.org";
const OWN_NAMES = [
  "--public-url",
  "https://files.example.com:8443",
  "--apps-host",
  "apps.example.com, gate.example.net",
];

/** What can never be claimed on a server with these names. */
const NEVER = [
  "files.example.com",
  "FILES.example.com",
  "apps.example.com",
  "gate.example.net",
  "localhost",
  "LOCALHOST",
  "127.0.0.1",
  "127.1",
  "0x7f000001",
  "2130706433",
  "[::1]",
  "com",
  "co.uk",
  "github.io",
  "GitHub.io",
  "xn--p1ai",
  "files.example.com.",
  "*.example.com",
  "a_b.example.com",
  "bücher.example",
  "xn--a.example",
];

/** Asks the gate for a path under a host; gives the status. */
async function statusAt(
  gate: Gate,
  host: string,
  path = "/",
  lines: readonly string[] = [],
): Promise<number> {
  using client = await RawClient.connect(gate.port);
  await client.send([`GET ${path} HTTP/1.1`, `Host: ${host}`, ...lines, "", ""].join("\r\n"));
  return (await client.readAnswer()).status;
}

async function setHost(project: Project, host: string | null, as?: Caller): Promise<Answer> {
  const options = { body: { host }, ...(as === undefined ? {} : { as }) };
  return await project.call("PATCH", "/apps/app", options);
}

async function allow(project: Project, host_suffix: string | null): Promise<Answer> {
  return await project.call("PATCH", "", { body: { host_suffix } });
}

async function hostOf(project: Project): Promise<string | null> {
  const { host } = (await project.call("GET", "/apps/app")).expect(200).json as {
    host: string | null;
  };
  return host;
}

Deno.test("An application cannot take the server's names, addresses, localhost or public suffixes.", async () => {
  await using gate = await Gate.start({ args: OWN_NAMES });
  const { project } = gate;
  await project.makeApp({ name: "app" });
  for (const name of NEVER) {
    const refused = [
      await setHost(project, name),
      await project.call("POST", "/apps", { body: { name: "new", host: name } }),
      await allow(project, name),
    ];
    for (const answer of refused) {
      assertErrorAnswer(answer.expect(400));
      assert(/"host(?:_suffix)?"/.test(answer.errors.join()), answer.text);
    }
    assertErrorAnswer((await setHost(project, name, project.owner)).expect(403));
  }
  (await project.call("GET", "/apps/new")).expect(404);
  assertEquals(await hostOf(project), null);
  // Names below them are others, and so is what only looks like them.
  for (const name of ["viewer.files.example.com", "me.github.io", "evilfiles.example.com", "nas"]) {
    (await setHost(project, name)).expect(200);
    assertEquals(await hostOf(project), name);
  }
});

Deno.test("An owner chooses hosts below the project's suffix and nowhere else.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.start({ args: OWN_NAMES });
  const { project } = gate;
  const { owner } = project;
  await gate.open(upstream.origin);
  const mine = `mine.${SUFFIX}`;
  const create = (host: unknown) =>
    project.call("POST", "/apps", { as: owner, body: { name: "b", host } });
  for (const answer of [await setHost(project, mine, owner), await create(mine)]) {
    assertErrorAnswer(answer.expect(403));
  }
  // There is nothing to take away, and then there is what the administrator gave.
  (await setHost(project, null, owner)).expect(200);
  (await setHost(project, "given.example.org")).expect(200);
  assertErrorAnswer((await setHost(project, null, owner)).expect(403));
  (await setHost(project, null)).expect(200);
  const allowed = (await allow(project, SUFFIX.toUpperCase())).expect(200);
  assertEquals((allowed.json as { host_suffix: string }).host_suffix, SUFFIX);
  const shown = (await project.call("GET", "", { as: owner })).expect(200);
  assertEquals((shown.json as { host_suffix: string }).host_suffix, SUFFIX);
  const outside = [
    SUFFIX,
    `.${SUFFIX}`,
    `evil${SUFFIX}`,
    `${mine}.evil.example`,
    "other.example.org",
    "files.example.com",
    "localhost",
    "com",
  ];
  for (const host of outside) {
    assert([400, 403].includes((await setHost(project, host, owner)).status), host);
    assert([400, 403].includes((await create(host)).status), host);
  }
  for (
    const host of [`a_b.${SUFFIX}`, `..${SUFFIX}`, `${mine}:80`, `-.${SUFFIX}`, `a b.${SUFFIX}`]
  ) {
    assert([400, 403].includes((await setHost(project, host, owner)).status), host);
  }
  assertEquals([await hostOf(project), await statusAt(gate, mine)], [null, 404]);
  (await setHost(project, mine.toUpperCase(), owner)).expect(200);
  assertEquals([await hostOf(project), await statusAt(gate, mine)], [mine, 200]);
  // Another project with the same suffix does not take names away.
  const other = await Project.make(gate.server);
  await allow(other, SUFFIX);
  const taken = { as: other.owner, body: { name: "app", host: mine } };
  assertErrorAnswer((await other.call("POST", "/apps", taken)).expect(409));
  (await setHost(project, null, owner)).expect(200);
  assertEquals(await statusAt(gate, mine), 404);
  (await project.call("PATCH", "", { as: owner, body: { host_suffix: "a.example" } })).expect(403);
  // A suffix above the server's own names does not give them away.
  await allow(project, "example.com");
  for (const host of ["files.example.com", "apps.example.com"]) {
    assertErrorAnswer((await setHost(project, host, owner)).expect(400));
  }
});

Deno.test("With the suffix the hosts below it go, but not those that the administrator set.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.start();
  const { project } = gate;
  const [mine, given] = [`mine.${SUFFIX}`, `given.${SUFFIX}`];
  await allow(project, SUFFIX);
  await gate.open(upstream.origin);
  await gate.open(upstream.origin, "given", given);
  (await setHost(project, mine, project.owner)).expect(200);
  assertEquals([await statusAt(gate, mine), await statusAt(gate, given)], [200, 200]);
  using open = await RawClient.connect(gate.port);
  await using endless = new RawUpstream((connection) =>
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
  );
  (await project.call("PATCH", "/apps/app", { body: { upstream: endless.origin } })).expect(200);
  await open.send(`GET / HTTP/1.1\r\nHost: ${mine}\r\n\r\n`);
  await open.readHead();
  assertEquals(await open.readChunk(), "a");
  (await allow(project, null)).expect(200);
  // What runs under the host ends with it.
  await open.readToEnd();
  assertEquals([await statusAt(gate, mine), await statusAt(gate, given)], [404, 200]);
  assertEquals(await hostOf(project), null);
  // The next one who is allowed the suffix may have the name.
  const next = await Project.make(gate.server);
  await allow(next, SUFFIX);
  const body = { name: "app", host: mine };
  (await next.call("POST", "/apps", { as: next.owner, body })).expect(201);
  await allow(project, SUFFIX);
  assertEquals([await hostOf(project), await hostOf(next)], [null, mine]);
});

Deno.test("A name that becomes the server's own routes to no application any more.", async () => {
  await using upstream = new RawUpstream();
  await using before = await Gate.start();
  await before.open(upstream.origin, "app", "files.example.com");
  await before.open(upstream.origin, "b", "b.example.com");
  assertEquals(await statusAt(before, "files.example.com"), 200);
  await before.server.stop();
  await using gate = await Gate.start({ args: OWN_NAMES, data: before.server.data });
  assertEquals(await statusAt(gate, "files.example.com"), 404);
  assertEquals(await statusAt(gate, "b.example.com"), 200);
});

Deno.test("By path the gate answers under its own names alone, however they are spelled.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.start({ args: OWN_NAMES });
  await gate.open(upstream.origin);
  await gate.open(upstream.origin, "own", "own.example.com");
  const path = `${gate.prefix()}/`;
  const gates = [
    "127.0.0.1",
    "192.0.2.1:8001",
    "[::1]:1",
    "localhost",
    "LocalHost.:80",
    "apps.example.com",
    "Gate.Example.Net.:8001",
  ];
  for (const host of gates) assertEquals(await statusAt(gate, host, path), 200, host);
  const others = [
    "files.example.com",
    "x.apps.example.com",
    "a",
    "127.1",
    "apps.example.com..",
    "com",
  ];
  for (const host of others) assertEquals(await statusAt(gate, host, path), 404, host);
  for (const host of ["own.example.com", "OWN.example.com.", "own.example.com.:99"]) {
    assertEquals(await statusAt(gate, host), 200, host);
  }
  for (const host of ["own.example.com..", "x.own.example.com", "own.example.com.evil.example"]) {
    assertEquals(await statusAt(gate, host), 404, host);
  }
});

Deno.test("A trusted proxy's X-Forwarded-Host selects the application, and has to be a host.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.start();
  await gate.open(upstream.origin, "app", "own.example.com");
  const ask = (host: string, forwarded: string) =>
    statusAt(gate, host, "/", [`X-Forwarded-Host: ${forwarded}`]);
  assertEquals(await ask("127.0.0.1:8001", "Own.Example.com:443"), 200);
  assertEquals(await ask("own.example.com", "other.example.com"), 404);
  assertEquals(await ask("own.example.com", ""), 200);
  for (const bad of ["a b", "own.example.com/x", "u@own.example.com", "own.example.com:x", '"a"']) {
    assertEquals(await ask("own.example.com", bad), 400, bad);
  }
  await gate.server.stop();
  const env = { KVDRIVE_TRUSTED_PROXY: "192.0.2.1" };
  await using strict = await Gate.start({ env, data: gate.server.data });
  const lines = ["X-Forwarded-Host: own.example.com"];
  assertEquals(await statusAt(strict, "127.0.0.1", "/", lines), 404);
  assertEquals(await statusAt(strict, "own.example.com", "/", ["X-Forwarded-Host: a b"]), 200);
});

/** An address of this machine that others know, if it has one. */
function ownAddress(): string {
  const found = Deno.networkInterfaces().find(({ family, address }) =>
    family === "IPv4" && !/^(?:127|169\.254)\./.test(address)
  );
  return found?.address ?? "127.0.0.1";
}

Deno.test("No application is at the server's own ports or at a link-local address.", async () => {
  await using gate = await Gate.start({ args: ["--hostname", "0.0.0.0"] });
  const { project, server } = gate;
  const ports = [server.port, gate.port];
  const refused = [
    "http://169.254.169.254",
    "http://[fe80::1]:80",
    "http://[::ffff:169.254.169.254]",
    "http://metadata.google.internal",
    ...ports.map((port) => `http://127.0.0.1:${port}`),
    ...ports.map((port) => `http://LOCALHOST:${port}`),
    ...ports.map((port) => `http://[::1]:${port}`),
    ...ports.map((port) => `http://0.0.0.0:${port}`),
  ];
  for (const upstream of refused) {
    const body = { name: "app", upstream };
    const answer = (await project.call("POST", "/apps", { body })).expect(400);
    assert(answer.errors.join().includes("--allow-upstream"), answer.text);
  }
  // What the text does not show, the connection does.
  for (const [index, port] of ports.entries()) {
    const body = { name: `app${index}`, upstream: `http://${ownAddress()}:${port}` };
    const { status } = await project.call("POST", "/apps", { body });
    if (status === 400) continue;
    const answer = await gate.fetch("/healthz", { app: `app${index}` });
    assertEquals([status, answer.status], [201, 502], await answer.text());
  }
  assert(!server.text.includes("/healthz"), server.text);
});

Deno.test("An application may use an upstream that the operator allows.", async () => {
  const port = unusedPort();
  const args = ["--allow-upstream", `127.0.0.1:${port}, 169.254.0.0/16`];
  await using gate = await Gate.start({ args, fixedPort: port });
  await gate.open(`http://127.0.0.1:${port}`);
  assertEquals((await gate.get("/healthz")).status, 200);
  await gate.open("http://169.254.169.254", "metadata");
  const gates = { name: "gate", upstream: `http://127.0.0.1:${gate.port}` };
  (await gate.project.call("POST", "/apps", { body: gates })).expect(400);
});

Deno.test("An application can be protected from its first moment on.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.start();
  const { project } = gate;
  for (const [enabled, status] of [[true, 401], [false, 200]] as const) {
    const name = `app-${enabled}`;
    const body = { name, upstream: upstream.origin, access: { enabled } };
    const made = (await project.call("POST", "/apps", { body })).expect(201).json;
    assertEquals((made as { access: unknown }).access, { enabled });
    const answer = await gate.fetch("/", { app: name });
    await answer.body?.cancel();
    assertEquals(answer.status, status);
  }
  const key = (await project.makeAppKey("/apps/app-true", { name: "ci" })).api_key;
  const answer = await gate.fetch("/", { app: "app-true", headers: { "X-Api-Key": key } });
  assertEquals([answer.status, await answer.text()], [200, "ok"]);
});
