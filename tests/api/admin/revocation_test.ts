import { assertEquals, assertLess } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, type NewProject, Project } from "../../support/admin.ts";
import { Folder } from "../../support/command.ts";
import { TestServer } from "../../support/server.ts";

/** "within 5 s in other server processes", less the time for the answer of a slow machine. */
const PROMISED = 4500;

/** Asks until the answer is no longer 200, and returns when the last one of these began, in milliseconds. */
async function lastSuccess(ask: () => Promise<number>): Promise<number> {
  let last = 0;
  while (true) {
    const began = performance.now();
    if (await ask() !== 200) return last;
    last = began;
    await delay(50);
  }
}

Deno.test("Keys and links that another process revokes end within 5 s, with time to spare.", async () => {
  await using folder = await Folder.make();
  const options = { ...ADMINISTERED, data: folder.path };
  await using first = await TestServer.start(options);
  await using second = await TestServer.start(options);
  const project = await Project.make(first);
  const drive = project.drive("drive");
  await drive.put("a", "x");
  const made = (await project.call("POST", "/keys")).expect(201).json as NewProject;
  const link = (await drive.send("POST", "/links", { body: '{"name": "a"}' })).expect(201)
    .json as { id: string; url: string };
  const listed = async () => (await drive.send("GET", "/files", { key: made.project_key })).status;
  const opened = async () => {
    const response = await fetch(link.url);
    await response.body?.cancel();
    return response.status;
  };
  const elsewhere = new Project(second, project.id, project.key);
  const others = elsewhere.drive("drive");
  // Both were looked up just before they end.
  assertEquals([await listed(), await opened()], [200, 200]);
  (await elsewhere.call("DELETE", `/keys/${made.prefix}`)).expect(200);
  (await others.send("DELETE", `/links/${link.id}`)).expect(200);
  const revoked = performance.now();
  for (const last of await Promise.all([lastSuccess(listed), lastSuccess(opened)])) {
    assertLess(last - revoked, PROMISED);
  }
});
