import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMIN_TOKEN } from "../support/admin.ts";
import { assertRefused, EXECUTABLE, Folder, runCommand } from "../support/command.ts";
import {
  areGone,
  eventually,
  onNewConnection,
  ProcessServer,
  socketsOf,
} from "../support/processes/process_server.ts";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { SIGNALS } from "../support/shutdown.ts";
import { unusedPort } from "../support/processes/ports.ts";

const ignore = Deno.build.os !== "linux";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore, fn });
}

/** Enough that the kernel gives some of them to each process. */
const CONNECTIONS = 40;

test("Both processes answer on one port, and agree on what is stored.", async () => {
  await using started = await ProcessServer.start();
  const { server } = started;
  const pids = await started.pids();
  assertEquals(pids.length, 2);
  const idle = await Promise.all(pids.map(socketsOf));
  const open = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => Deno.connect({ port: server.port })),
  );
  await eventually("connections of both", async () => {
    const busy = await Promise.all(pids.map(socketsOf));
    return busy.every((count, i) => count > (idle[i] ?? 0)) ? true : undefined;
  });
  open.forEach((connection) => connection.close());
  const headers = { "X-Api-Key": PROJECT_KEY };
  const names = Array.from({ length: CONNECTIONS }, (_, i) => `file-${i + 10}`);
  for (const name of names) {
    const stored = await onNewConnection(server.url("drive", `/files?name=${name}`), {
      method: "POST",
      headers,
      body: name,
    });
    assertEquals(stored.status, 201);
    const path = `/files/download?name=${name}`;
    const read = await onNewConnection(server.url("drive", path), { headers });
    assertEquals([read.status, await read.text()], [200, name]);
    const list = await onNewConnection(server.url("drive", "/files"), { headers });
    assert((await list.text()).includes(name), name);
  }
});

test("Configured keys are known from the first answer on.", async () => {
  const port = unusedPort();
  const answers = new Set<string>();
  let isStarted = false;
  // Bytes on a connection: an HTTP client would take the processor from the start, and miss the moment.
  const ask = async (path: string, header: string) => {
    using client = await RawClient.connect(port);
    await client.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`);
    answers.add(`${path} ${(await client.readHead()).status}`);
  };
  const askBoth = async () => {
    await ask("/admin/v1/projects", `Authorization: Bearer ${ADMIN_TOKEN}`);
    await ask(`/v1/${PROJECT_ID}`, `X-Api-Key: ${PROJECT_KEY}`);
  };
  const asking = (async () => {
    while (!isStarted) await askBoth().catch(() => delay(1));
  })();
  await using started = await ProcessServer.start({ fixedPort: port })
    .finally(() => isStarted = true);
  await asking;
  assertEquals(started.server.port, port);
  await askBoth();
  assertEquals([...answers].toSorted(), ["/admin/v1/projects 200", `/v1/${PROJECT_ID} 200`]);
});

test("Metrics and Health show the sum over the processes, whichever is asked.", async () => {
  await using started = await ProcessServer.start({ args: ["--memory-budget", "200MiB"] });
  const { server } = started;
  for (let i = 0; i < CONNECTIONS; i++) {
    await (await onNewConnection(`${server.origin}/healthz`)).text();
  }
  const series = 'kvdrive_http_requests_total{route="/healthz",method="GET",status="200"}';
  await eventually(
    "all requests",
    async () => await started.figure(series) === CONNECTIONS ? true : undefined,
  );
  for (let i = 0; i < 10; i++) {
    assertEquals(await started.figure(series), CONNECTIONS);
    assertEquals(await started.figure("kvdrive_processes"), 2);
    const budgets = ["uploads", "downloads", "json", "caches"].map((part) =>
      started.figure(`kvdrive_memory_budget_bytes{part="${part}"}`)
    );
    const budget = (await Promise.all(budgets)).reduce((sum, one) => sum + one);
    assert(budget <= 200 * 2 ** 20 && budget > 199 * 2 ** 20, `${budget}`);
    const answer = await onNewConnection(`${server.origin}/admin/v1/status`, {
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    const { processes, projects, warnings } = await answer.json();
    assertEquals([processes, projects, warnings], [2, 1, []]);
  }
});

for (const signal of SIGNALS) {
  test(`One ${signal} ends all processes with success.`, async () => {
    await using started = await ProcessServer.start();
    const pids = await started.pids();
    assertEquals(await started.server.stop(signal), { success: true, code: 0, signal: null });
    await areGone(pids);
    assertEquals(started.server.text.match(/^kvdrive listening on /gm)?.length, 1);
  });
}

test("What cannot start ends as one process would, with one sentence.", async () => {
  await using folder = await Folder.makeOnDisk();
  await using other = await TestServer.start({ data: folder.at("other") });
  const file = await folder.write("file", "no folder");
  const serve = ["serve", "--processes", "2", "--apps-port", "0"];
  const cases: [string[], number, RegExp][] = [
    [["serve", "--processes", "0"], 2, /Bad value "0" of --processes/],
    [["serve", "--processes", "x"], 2, /Bad value "x" of --processes/],
    [[...serve, "--max-uploads", "1"], 2, /"1" of --max-uploads is too small for 2 processes/],
    [[...serve, "--data", folder.at("data"), "--port", String(other.port)], 1, /another program/],
    [[...serve, "--data", file, "--port", "0"], 1, /file/],
  ];
  for (const [args, code, message] of cases) {
    assertRefused(await runCommand(args, {}, ["-A"]), code, message);
  }
  const one = await runCommand(["serve", "--data", file, "--port", "0"], {}, ["-A"]);
  const two = await runCommand([...serve, "--data", file, "--port", "0"], {}, ["-A"]);
  assertEquals([two.code, two.stderr], [one.code, one.stderr]);
});

Deno.test({
  name: "Without the permission to start processes, the server says how to get it.",
  ignore: ignore || EXECUTABLE !== undefined,
  async fn() {
    await using folder = await Folder.makeOnDisk();
    const grants = ["net", "read", "write", "env", "sys"].map((one) => `--allow-${one}`);
    const args = ["serve", "--processes", "2", "--data", folder.at("data"), "--port", "0"];
    const run = await runCommand(args, {}, ["--no-prompt", ...grants]);
    assertRefused(run, 1, /start deno with --allow-run=/);
  },
});
