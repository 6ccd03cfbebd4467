import { assert, assertEquals, assertMatch } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { ADMIN_TOKEN, administer, ADMINISTERED, administrator, Project } from "../support/admin.ts";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Folder, IS_OLDEST, spawnProgram } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { Gate } from "../support/gate/gate.ts";
import { UpstreamApp } from "../support/gate/upstream_app.ts";
import { lineOf, linesOf, type LogLine, waitFor } from "../support/log.ts";
import { rawRequest, sendAndDisconnect, sendRaw } from "../support/raw.ts";
import { PROJECT_KEY, TestServer } from "../support/server.ts";

const FILES = "/v1/{project}/{drive}/files";
const DOWNLOAD = "/v1/{project}/{drive}/files/download";
const PREFIX = PROJECT_KEY.slice(PROJECT_KEY.indexOf("_") + 1).slice(0, 8);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

interface Case {
  what: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  key?: string | null;
  body?: string;
  line: Partial<LogLine>;
}

const CASES: readonly Case[] = [
  {
    what: "An upload counts what came",
    method: "POST",
    path: "/files?name=new",
    body: "12345",
    line: { route: FILES, status: 201, in: 5, key: PREFIX },
  },
  {
    what: "A download counts what left",
    method: "GET",
    path: "/files/download?name=small",
    line: { route: DOWNLOAD, status: 200, in: 0, out: 7, key: PREFIX },
  },
  {
    what: "So does one of a large file",
    method: "GET",
    path: "/files/download?name=large",
    line: { route: DOWNLOAD, status: 200, out: MIB },
  },
  {
    what: "Of a range it is the range",
    method: "GET",
    path: "/files/download?name=large",
    headers: { Range: "bytes=100-199999" },
    line: { status: 206, out: 199_900 },
  },
  {
    what: "HEAD has no body",
    method: "HEAD",
    path: "/files/download?name=large",
    line: { method: "HEAD", status: 200, out: 0 },
  },
  {
    what: "What the caller has is not sent",
    method: "GET",
    path: "/files/download?name=small",
    headers: { "If-None-Match": "*" },
    line: { status: 304, out: 0 },
  },
  {
    what: "A body in JSON is counted",
    method: "DELETE",
    path: "/files",
    body: '{"names":["nothing"]}',
    line: { route: FILES, status: 200, in: 21 },
  },
  {
    what: "An unknown key is not told",
    method: "GET",
    path: "/files",
    key: "test-project_unknown-unknown-unknown-unknown",
    line: { route: FILES, status: 401, key: null },
  },
  {
    what: "A path that is none has no route",
    method: "GET",
    path: "/nothing/here?secret=1",
    line: { route: null, status: 404, key: null },
  },
];

Deno.test("Each request is one line with the request and the answer.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  const drive = new Drive(server, "drive");
  await drive.put("small", "7 bytes");
  await drive.put("large", patternBytes(MIB, 1));
  for (
    const [i, { what, method, path, headers = {}, key = PROJECT_KEY, body, line }] of CASES
      .entries()
  ) {
    const id = `case-${i}`;
    const init = { method, headers: { ...headers, "X-Request-Id": id }, key };
    const answer = await server.fetch("drive", path, body === undefined ? init : { ...init, body });
    const { byteLength } = await answer.arrayBuffer();
    const found = await lineOf(server, id);
    assertEquals({ ...found, ...line }, found, what);
    assertEquals([found.method, found.out, found.level], [method, byteLength, "info"], what);
    assertEquals("aborted" in found, false, what);
    assertMatch(found.time, TIME);
    assert(found.ms > 0 && found.ms < 60_000, what);
  }
  await administer(server, "GET", "/admin/v1/projects", {
    as: { ...administrator, "X-Request-Id": "by-admin" },
  });
  const { route, key } = await lineOf(server, "by-admin");
  assertEquals([route, key], ["/admin/v1/projects", "admin"]);
});

Deno.test({
  name: "A transfer that is broken off is told as such, with what there was of it.",
  ignore: IS_OLDEST,
  async fn() {
    await using server = await TestServer.start();
    const drive = new Drive(server, "drive");
    const large = await drive.send("POST", "/uploads?name=large", {});
    const { upload_id } = large.expect(202).json as { upload_id: string };
    for (const part of [1, 2, 3]) {
      const path = `/uploads/${upload_id}/parts?name=large&part=${part}`;
      (await drive.send("POST", path, { body: patternBytes(10 * MIB, part) })).expect(200);
    }
    (await drive.send("PATCH", `/uploads/${upload_id}?name=large`, {})).expect(200);
    const download = await server.fetch("drive", "/files/download?name=large", {
      headers: { "X-Request-Id": "left" },
    });
    await download.body?.cancel();
    const left = await lineOf(server, "left");
    assertEquals([left.status, left.aborted], [200, true]);
    assert(left.out < 30 * MIB, `${left.out} bytes are said to have left`);

    const head = rawRequest("POST", "/v1/test-project/drive/files?name=cut", {
      "Content-Length": "100000",
      "X-Request-Id": "cut",
    });
    await sendAndDisconnect(server.port, `${head}only this`);
    const cut = await lineOf(server, "cut");
    assertEquals([cut.route, cut.aborted], [FILES, true]);
    // Whether the bytes are read before the end of the connection is noticed is the runtime's to say.
    assert([0, 9].includes(cut.in), `${cut.in} bytes are said to have come`);
  },
});

Deno.test("Requests to the gate are logged with the application and the bytes of both directions.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start();
  const key = await gate.protect(upstream.origin);
  const ask = async (id: string, headers: Record<string, string>, body?: string) => {
    const method = body === undefined ? "GET" : "POST";
    const all = { ...headers, "X-Request-Id": id };
    const answer = await gate.fetch("/echo", { method, headers: all, ...(body && { body }) });
    return (await answer.arrayBuffer()).byteLength;
  };
  const out = await ask("let-in", { "X-API-Key": key }, "some body");
  const app = `${gate.project.id}/app`;
  const letIn = await lineOf(gate.server, "let-in");
  assertEquals(
    [letIn.route, letIn.app, letIn.method, letIn.status, letIn.in, letIn.out, letIn.key],
    ["gate", app, "POST", 200, 9, out, key.slice(0, 8)],
  );
  await ask("owner", { "X-API-Key": gate.project.key });
  const ownPrefix = gate.project.key.split("_")[1]?.slice(0, 8);
  assertEquals((await lineOf(gate.server, "owner")).key, ownPrefix ?? "");
  const refusal = await ask("refused", {});
  const refused = await lineOf(gate.server, "refused");
  assertEquals([refused.status, refused.key, refused.out], [401, null, refusal]);

  const headers = { "X-API-Key": key, "X-Request-Id": "socket" };
  const socket = new WebSocket(gate.url("/ws").replace("http", "ws"), { headers });
  await new Promise((resolve) => socket.onopen = resolve);
  const closed = new Promise((resolve) => socket.onclose = resolve);
  const answered = new Promise((resolve) => socket.onmessage = resolve);
  socket.send("x".repeat(1000));
  await answered;
  socket.close();
  await closed;
  const line = await lineOf(gate.server, "socket");
  assertEquals([line.status, line.app], [101, app]);
  assert(
    line.in > 1000 && line.in < 1100 && line.out > 1000 && line.out < 1100,
    `${line.in} ${line.out}`,
  );
});

Deno.test("Nothing that a caller wrote gets into the log, but the id of a request.", async () => {
  await using gate = await Gate.start();
  const { server, project } = gate;
  const secrets = [PROJECT_KEY, ADMIN_TOKEN, project.key];
  const hostile = ["\x1b[31mred", '","status":200,"x":"', "a\tb", "ü".repeat(300), ...secrets];
  for (const text of hostile) {
    for (const port of [server.port, gate.port]) {
      const quoted = encodeURIComponent(text);
      const headers = {
        "X-Request-Id": text,
        "User-Agent": text,
        "Referer": text,
        "X-Api-Key": text,
      };
      await sendRaw(
        port,
        rawRequest("GET", `/v1/${quoted}/${quoted}/files?name=${quoted}`, headers),
      );
      await sendRaw(
        port,
        rawRequest("GET", `/?${quoted}`, {
          "Authorization": `Bearer ${text}`,
          "X-Request-Id": text,
          "X-Api-Key": null,
        }),
      );
      const method = text.replaceAll(/[^\w]/g, "");
      if (method !== "") await sendRaw(port, rawRequest(method, "/", { "X-Api-Key": null }));
    }
  }
  await sendRaw(gate.port, "nonsense\r\n\r\n");
  await server.fetch("drive", "/files", { headers: { "X-Request-Id": "the-last" } });
  await lineOf(server, "the-last");
  const lines = linesOf(server);
  assert(lines.length > 30, "Requests left no lines");
  for (const line of lines) {
    // deno-lint-ignore no-control-regex -- these are what must not be there
    assertEquals(/[\x00-\x1f\x7f-\x9f]/.test(line), false, line);
    const { route, id } = JSON.parse(line) as LogLine;
    assertMatch(String(route), /^(null|gate|[/{}a-z0-9]+)$/);
    for (const secret of secrets) assert(!line.includes(secret), `${id} is told with a secret`);
  }
});

const FORMS = [
  { form: "json", line: /^\{"time":"[^"]+Z","level":"info","id":"one","method":"GET",.*\}$/m },
  {
    form: "text",
    line:
      /^\S+Z GET \/v1\/\{project\}\/\{drive\}\/files 200 in=0 out=\d+ [\d.]+ms key=\w{8} id=one$/m,
  },
];

for (const { form, line } of FORMS) {
  Deno.test(`--log ${form} writes lines as told, and none is lost at the end.`, async () => {
    await using server = await TestServer.start({ args: ["--log", form] });
    await (await server.fetch("d", "/files", { headers: { "X-Request-Id": "one" } })).body
      ?.cancel();
    for (let i = 0; i < 20; i++) {
      await (await server.fetch("d", "/files")).body?.cancel();
    }
    assertEquals((await server.stop("SIGTERM")).code, 0);
    assertMatch(server.text, line);
    assertEquals(linesOf(server).length, 21);
  });
}

Deno.test("A reader that does not read the log stops neither the server nor its shutdown.", async () => {
  await using folder = await Folder.make();
  const env = { KVDRIVE_PROJECT_KEY: PROJECT_KEY };
  const process = spawnProgram(["serve", "--port", "0", "--data", folder.path], env);
  const reader = process.stdout.getReader();
  const ended = process.stderr.pipeTo(new WritableStream());
  let text = "";
  while (!/^kvdrive listening on .*\n/m.test(text)) {
    text += new TextDecoder().decode((await reader.read()).value);
  }
  const origin = /^kvdrive listening on (\S+)/m.exec(text)?.[1];
  // Ten times what a pipe holds.
  for (let i = 0; i < 300; i++) {
    const some = Array.from({ length: 10 }, () => fetch(`${origin}/v1/none`));
    for (const answer of await Promise.all(some)) {
      assertEquals((await answer.text()).length > 0, true);
    }
  }
  process.kill("SIGTERM");
  assertEquals((await deadline(process.status, 90_000)).code, 0);
  await ended;
  await reader.cancel();
});

Deno.test("KVDRIVE_LOG=off writes none.", async () => {
  await using server = await TestServer.start({ env: { KVDRIVE_LOG: "off" } });
  await (await server.fetch("d", "/files")).body?.cancel();
  await server.stop("SIGTERM");
  assertEquals(linesOf(server), []);
});

Deno.test("Health checks are logged only if they fail.", async () => {
  await using server = await TestServer.start();
  for (const path of ["/healthz", "/readyz"]) {
    const answer = await fetch(`${server.origin}${path}`, { headers: { "X-Request-Id": "quiet" } });
    assertEquals(answer.status, 200, await answer.text());
  }
  await (await server.fetch("d", "/files", { headers: { "X-Request-Id": "then" } })).body?.cancel();
  await lineOf(server, "then");
  assertEquals(linesOf(server).length, 1);
});

Deno.test("A project that is made and deleted leaves no secret in the log.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  const project = await Project.make(server);
  await project.call("POST", "/keys", { as: project.owner, body: { name: "second" } });
  await waitFor("two lines", () => linesOf(server).length >= 2 ? true : undefined);
  assert(!server.text.includes(project.key), "The key is in the log");
});
