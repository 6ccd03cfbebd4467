import { assertEquals, assertLess } from "@std/assert";
import { ADMINISTERED, Project } from "../support/admin.ts";
import { ClientWorkspace, waitUntil } from "../support/cli/client.ts";
import { Proxy } from "../support/cli/proxy.ts";
import { Folder } from "../support/command.ts";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { RunningCommand } from "../support/cli/client.ts";
import { keepChanges } from "../support/store/changes.ts";
import { unusedPort } from "../support/processes/ports.ts";

Deno.test("sync --watch sends changes as they are made, and survives an outage of the server.", async () => {
  await using folder = await Folder.make();
  await Deno.mkdir(folder.at("here"));
  const options = { data: folder.at("data"), fixedPort: unusedPort() };
  let server = await TestServer.start(options);
  const env = {
    KVDRIVE_URL: server.origin,
    KVDRIVE_KEY: PROJECT_KEY,
    XDG_STATE_HOME: folder.at("state"),
  };
  const args = ["sync", "here", "d:x", "--delete", "--watch", "--retry-for", "1s", "--yes"];
  await folder.write("here/a", "1");
  const command = new RunningCommand(args, env, folder.path, undefined);
  const names = async () => {
    const answer = await server.fetch("d", "/files");
    return (await answer.json() as { names: string[] }).names;
  };
  try {
    await waitUntil("the first file is there", async () => (await names()).join() === "x/a");
    await Deno.mkdir(folder.at("here/new/deep"), { recursive: true });
    await folder.write("here/new/deep/b", "2");
    await waitUntil("a new file is there", async () => (await names()).length === 2);
    await Deno.remove(folder.at("here/a"));
    await waitUntil("a deleted file is gone", async () => (await names()).length === 1);
    server.process.kill("SIGKILL");
    await server.process.status;
    await folder.write("here/during", "3");
    await new Promise((resolve) => setTimeout(resolve, 4000));
    server = await TestServer.start(options);
    await waitUntil("what changed during the outage is there", async () => {
      return (await names()).join() === "x/during,x/new/deep/b";
    });
  } finally {
    await command.kill();
    await server[Symbol.asyncDispose]();
  }
});

Deno.test("sync --watch fetches changes from a drive, and ends if the key is revoked.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  await desk.store("d", "a", "1");
  const command = desk.start(["sync", "d:", "there", "--watch"], { url: proxy.origin });
  await waitUntil("the first file is here", () => desk.folder.has("there/a"));
  await desk.store("d", "b", "2");
  await waitUntil("a new file is here", () => desk.folder.has("there/b"));
  proxy.intercept = () => Response.json({ errors: ["The key is not known"] }, { status: 401 });
  const { code, stderr } = await command.finished();
  assertEquals([code, /does not accept the project key/.test(stderr)], [1, true]);
});

Deno.test("sync --watch fetches a change within seconds where changes are kept, and goes on after an outage.", async () => {
  await using folder = await Folder.make();
  const options = { ...ADMINISTERED, data: folder.at("data"), fixedPort: unusedPort() };
  let server = await TestServer.start(options);
  const env = { KVDRIVE_URL: server.origin, KVDRIVE_KEY: PROJECT_KEY };
  const store = async (name: string) => {
    const answer = await server.fetch("d", `/files?name=${name}`, { method: "POST", body: name });
    await answer.body?.cancel();
    assertEquals(answer.status, 201);
  };
  await store("x/a");
  await keepChanges(new Project(server, PROJECT_ID, PROJECT_KEY), 7);
  const command = new RunningCommand(
    ["sync", "d:x", "there", "--watch"],
    env,
    folder.path,
    undefined,
  );
  try {
    await waitUntil("the first file is here", () => folder.has("there/a"));
    const start = performance.now();
    await store("x/b");
    await waitUntil("a new file is here", () => folder.has("there/b"));
    // Without the feed, drives are compared every ten seconds.
    assertLess(performance.now() - start, 9000);
    server.process.kill("SIGKILL");
    await server.process.status;
    server = await TestServer.start(options);
    await store("x/c");
    await waitUntil("what came after the outage is here", () => folder.has("there/c"));
  } finally {
    await command.kill();
    await server[Symbol.asyncDispose]();
  }
});
