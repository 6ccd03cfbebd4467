import { assert, assertEquals, assertMatch } from "@std/assert";
import { StoreLock } from "../faults/support/store_files.ts";
import { MIB, patternBytes } from "../support/bytes.ts";
import { assertRefused, Folder, IS_OLDEST, runCommand } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { GatedBody } from "../support/paced_body.ts";
import { TestServer } from "../support/server.ts";
import { TlsFiles } from "../support/tls.ts";
import { unusedPort } from "../support/processes/ports.ts";

async function ask(server: { origin: string }, path: string, method = "GET"): Promise<Response> {
  return await fetch(server.origin + path, { method });
}

/** Asks until the answer has a status. */
async function reach(server: { origin: string }, path: string, status: number): Promise<Response> {
  const end = Date.now() + 60_000;
  for (;;) {
    const answer = await ask(server, path);
    if (answer.status === status) return answer;
    await answer.body?.cancel();
    assert(Date.now() < end, `${path} is ${answer.status}, not ${status}`);
  }
}

Deno.test("A server that runs is healthy and ready, for everybody, and no cache keeps it.", async () => {
  await using server = await TestServer.start();
  for (const [path, body] of [["/healthz", '{"status":"ok"}'], ["/readyz", '{"status":"ready"}']]) {
    const answer = await ask(server, path ?? "");
    assertEquals([answer.status, await answer.text()], [200, body]);
    assertMatch(answer.headers.get("cache-control") ?? "", /^no-store\b/);
    assertEquals(answer.headers.get("access-control-allow-origin"), null);
    const head = await ask(server, path ?? "", "HEAD");
    assertEquals([head.status, await head.text()], [200, ""]);
    const post = await ask(server, path ?? "", "POST");
    assertEquals(post.status, 405, await post.text());
  }
});

Deno.test("While another process holds the store, the server is healthy and not ready.", async () => {
  await using server = await TestServer.start();
  const other = new StoreLock(server.data);
  const refused = await reach(server, "/readyz", 503);
  assertMatch(await refused.text(), /^\{"errors":\["The store cannot be reached/);
  assertEquals(refused.headers.get("retry-after"), "1");
  // However many ask, they are told within the time, and the health is another thing.
  const began = performance.now();
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(server, "/readyz")));
  for (const answer of answers) assertEquals(answer.status, 503, await answer.text());
  assert(performance.now() - began < 15_000, "Those who asked had to wait");
  assertEquals((await ask(server, "/healthz").then(consumed)).status, 200);
  other[Symbol.dispose]();
  await (await reach(server, "/readyz", 200)).body?.cancel();
});

Deno.test("A server that shuts down is healthy and not ready.", async () => {
  await using server = await TestServer.start();
  const gated = new GatedBody(patternBytes(6 * MIB, 1));
  const drive = new Drive(server, "drive");
  const pending = drive.send("POST", "/files?name=a", { body: gated.stream });
  await gated.halfSent;
  await drive.names();
  server.process.kill("SIGTERM");
  const refused = await reach(server, "/readyz", 503);
  assertMatch(await refused.text(), /shutting down/);
  assertEquals((await ask(server, "/healthz").then(consumed)).status, 200);
  gated.open();
  (await pending).expect(201);
  await server.process.status;
});

async function consumed(answer: Response): Promise<Response> {
  await answer.body?.cancel();
  return answer;
}

Deno.test("healthcheck reports whether the server is ready, by its settings or by its URL.", async () => {
  await using server = await TestServer.start({ fixedPort: unusedPort() });
  const port = String(server.port);
  const ready = { code: 0, stdout: "The server is ready.\n", stderr: "" };
  assertEquals(await runCommand(["healthcheck", "--url", server.origin]), ready);
  for (const host of ["127.0.0.1", "0.0.0.0"]) {
    const env = { KVDRIVE_PORT: port, KVDRIVE_HOSTNAME: host };
    assertEquals(await runCommand(["healthcheck"], env), ready);
  }
  const other = new StoreLock(server.data);
  await (await reach(server, "/readyz", 503)).body?.cancel();
  assertRefused(await runCommand(["healthcheck", "--url", server.origin]), 1, /it answered 503/);
  other[Symbol.dispose]();
  await server.stop("SIGTERM");
  assertRefused(await runCommand(["healthcheck"], { KVDRIVE_PORT: port }), 1, /not ready: /);
});

Deno.test({
  name: "healthcheck believes a server of this machine its own certificate and no other.",
  ignore: IS_OLDEST,
  async fn() {
    await using files = await TlsFiles.make();
    await using others = await TlsFiles.make();
    await using server = await TestServer.start({ args: files.args });
    const cert = (args: readonly string[]) => args[args.indexOf("--tls-cert") + 1] ?? "";
    const key = (args: readonly string[]) => args[args.indexOf("--tls-key") + 1] ?? "";
    const env = (args: readonly string[]) => ({
      KVDRIVE_PORT: String(server.port),
      KVDRIVE_TLS_CERT: cert(args),
      KVDRIVE_TLS_KEY: key(args),
    });
    const { code, stderr } = await runCommand(["healthcheck"], env(files.args));
    assertEquals([code, stderr], [0, ""]);
    assertRefused(
      await runCommand(["healthcheck"], env(others.args)),
      1,
      /its certificate is not that of/,
    );
    const url = ["healthcheck", "--url", `https://localhost:${server.port}`];
    assertRefused(await runCommand(url), 1, /certificate/);
  },
});

Deno.test("healthcheck waits no longer than its timeout, and refuses an invalid URL.", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}`;
  const late = await runCommand(["healthcheck", "--url", url, "--timeout", "300ms"]);
  assertRefused(late, 1, /did not answer within 300 ms/);
  for (
    const args of [["--url", "nonsense"], ["--url", "ftp://a"], ["--timeout", "soon"], ["more"]]
  ) {
    assertRefused(await runCommand(["healthcheck", ...args]), 2, /./);
  }
});

Deno.test("healthcheck --json prints whether the server is ready, and what is wrong.", async () => {
  await using server = await TestServer.start();
  const ready = await runCommand(["healthcheck", "--url", server.origin, "--json"]);
  assertEquals([ready.code, ready.stderr], [0, ""]);
  assertEquals(JSON.parse(ready.stdout), { ready: true, problem: null });
  const url = `http://127.0.0.1:${unusedPort()}`;
  const down = await runCommand(["healthcheck", "--url", url, "--json"]);
  assertEquals(down.code, 1);
  const { ready: isReady, problem } = JSON.parse(down.stdout);
  assertEquals([isReady, /refused/.test(problem)], [false, true]);
  assertMatch(down.stderr, /^kvdrive: The server is not ready: [^\n]*refused[^\n]*\n$/);
});

Deno.test("A folder that is no store has no server to be asked.", async () => {
  await using folder = await Folder.make();
  const env = { KVDRIVE_DATA: folder.path, KVDRIVE_PORT: String(unusedPort()) };
  assertRefused(await runCommand(["healthcheck"], env), 1, /not ready/);
  assertEquals(await folder.has("kvdrive.db"), false);
});
