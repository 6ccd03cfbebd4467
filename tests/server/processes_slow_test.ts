import { assert, assertEquals, assertMatch } from "@std/assert";
import { ADMIN_TOKEN } from "../support/admin.ts";
import { assertSameBytes, utf8 } from "../support/bytes.ts";
import { Drive } from "../support/drive.ts";
import { waitFor } from "../support/log.ts";
import {
  areGone,
  eventually,
  onNewConnection,
  ProcessServer,
} from "../support/processes/process_server.ts";
import { newAddress, PROJECT_ID, type TestServer } from "../support/server.ts";
import { feedProject, makeWebhook, Receiver, until } from "../support/store/webhooks.ts";
import { Dav, ifToken } from "../webdav/support/dav.ts";
import { beginDownload, LARGE, storeLarge, turnsAway } from "../support/shutdown.ts";
import { unusedPort } from "../support/processes/ports.ts";

const ignore = Deno.build.os !== "linux";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore, fn });
}

/** Enough that the kernel gives some of them to each process. */
const CONNECTIONS = 40;

/** Kills a process of a server, and returns the line of the log about it: from then on it resets no connection. */
async function kill(server: TestServer, pid: number): Promise<string> {
  Deno.kill(pid, "SIGKILL");
  return await waitFor(
    "the line about the process",
    () => server.text.split("\n").find((one) => one.includes(`(pid ${pid})`)),
  );
}

test("A signal lets a running download finish, and a second one does not.", async () => {
  for (const isPatient of [true, false]) {
    await using started = await ProcessServer.start();
    const { server } = started;
    const pids = await started.pids();
    const drive = new Drive(server, "drive");
    await storeLarge(drive);
    const download = await beginDownload(drive);
    server.process.kill("SIGTERM");
    await turnsAway(server);
    if (isPatient) assertSameBytes(await download.finish(), LARGE);
    else {
      server.process.kill("SIGTERM");
      await download.finish().catch(() => {});
    }
    assertEquals((await server.process.status).code, isPatient ? 0 : 143);
    await areGone(pids);
  }
});

test("A process that is killed is started again, with an error in the log and in Health.", async () => {
  await using started = await ProcessServer.start();
  const { server } = started;
  const pids = await started.pids();
  const drive = new Drive(server, "drive");
  // The first one does the background work, and has opened the ports.
  for (const [index, pid] of pids.entries()) {
    const line = await kill(server, pid);
    const { level, error } = JSON.parse(line);
    assertEquals(level, "error");
    assertMatch(error, new RegExp(`^Process ${index + 1} of 2 .* was ended by SIGKILL\\.`));
    const now = await started.renewed(pids);
    assert(!now.includes(pid));
    await drive.put(`file-${index}`, "stored afterwards");
  }
  const answer = await fetch(`${server.origin}/admin/v1/status`, {
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const { warnings } = await answer.json();
  assertMatch(warnings.join(), /ended unexpectedly 2 times/);
  assertEquals(server.text.match(/^kvdrive listening on /gm)?.length, 1);
});

test("No process stays behind a parent that is killed, and the ports are free.", async () => {
  await using started = await ProcessServer.start({ fixedPort: unusedPort() });
  const { server } = started;
  const pids = await started.pids();
  await server.stop("SIGKILL");
  await areGone(pids);
  await using again = await ProcessServer.start({ fixedPort: server.port });
  assertEquals(again.server.port, server.port);
});

test("Wrong keys are limited in total.", async () => {
  await using started = await ProcessServer.start();
  const address = newAddress();
  const send = async () => {
    const answer = await onNewConnection(`${started.server.origin}/v1/${PROJECT_ID}/drive/files`, {
      headers: { "X-Api-Key": `${PROJECT_ID}_wrong`, "X-Forwarded-For": address },
    });
    return answer.status;
  };
  for (let i = 0; i < 19; i++) assertEquals(await send(), 401);
  await eventually("the wait at both", async () => {
    const statuses = await Promise.all(Array.from({ length: CONNECTIONS }, send));
    return statuses.every((status) => status === 429) ? true : undefined;
  });
});

test("Lines of the log are whole, whichever process writes them.", async () => {
  await using started = await ProcessServer.start();
  const { server } = started;
  const path = `/files?name=${"n".repeat(400)}`;
  const drive = new Drive(server, "drive");
  await Promise.all(
    Array.from({ length: 300 }, () => drive.send("POST", path, { body: utf8("a") })),
  );
  const lines = await waitFor("all lines", () => {
    const found = server.text.split("\n").filter((line) => line.includes('"POST"'));
    return found.length === 300 ? found : undefined;
  });
  for (const line of lines) JSON.parse(line);
});

test("A webhook gets each change once, also when the process that delivers is killed.", async () => {
  await using receiver = new Receiver();
  await using started = await ProcessServer.start({ args: ["--allow-webhook", "127.0.0.1"] });
  const project = await feedProject(started.server);
  await makeWebhook(project, receiver.url);
  const drive = project.drive("photos");
  const names = Array.from({ length: CONNECTIONS }, (_, i) => `${i}`);
  for (const name of names) {
    const url = `${started.server.origin}/v1/${project.id}/photos/files?name=${name}`;
    const init = { method: "POST", body: "1", headers: { "X-Api-Key": project.key } };
    assertEquals((await onNewConnection(url, init)).status, 201);
  }
  const delivered = () => receiver.names.map((name) => name.slice("photos/".length));
  await until(() => delivered().length >= names.length, "all changes");
  assertEquals(delivered(), names);
  const pids = await started.pids();
  for (const [index, pid] of pids.entries()) {
    await kill(started.server, pid);
    await started.renewed(pids);
    await drive.put(`after-${index}`, "1");
    await until(() => delivered().includes(`after-${index}`), "the delivery goes on", 40_000);
  }
});

test("A lock of WebDAV binds every process at once.", async () => {
  await using started = await ProcessServer.start();
  const dav = new Dav(new Drive(started.server, "drive"));
  await dav.make();
  for (let round = 0; round < 10; round++) {
    const token = await dav.lock("a");
    // At the same time, so that each has a connection of its own.
    const writes = Array.from({ length: CONNECTIONS }, () => dav.put("a", "other"));
    for (const answer of await Promise.all(writes)) answer.expect(423);
    (await dav.put("a", "mine", ifToken(token))).expect(204);
    (await dav.unlock("a", token)).expect(204);
  }
});
