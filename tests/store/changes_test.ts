import { assertEquals } from "@std/assert";
import { ADMINISTERED, Project } from "../support/admin.ts";
import { Folder, runCommand } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import {
  askChanges,
  changesSince,
  cursorOf,
  keepChanges,
  textsOf,
} from "../support/store/changes.ts";

Deno.test("A store with changes has no problems, and a restored one no earlier cursors.", async () => {
  await using folder = await Folder.make();
  const data = folder.at("data");
  const backup = folder.at("backup.db");
  let server = await TestServer.start({ ...ADMINISTERED, data });
  const { id, key } = await Project.make(server);
  const drive = () => new Drive(server, "photos", { project: id, key });
  await keepChanges(new Project(server, id, key), 7);
  await drive().put("a", "x");
  const kept = await cursorOf(drive());
  assertEquals((await runCommand(["backup", "--data", data, backup])).code, 0);
  await drive().put("lost", "x");
  const lost = await cursorOf(drive());
  await server.stop();
  assertEquals((await runCommand(["verify", "--data", data])).code, 0);
  const restored = await runCommand(["restore", backup, "--data", data, "--force"]);
  assertEquals(restored.code, 0, restored.stderr);
  server = await TestServer.start({ ...ADMINISTERED, data });
  // Its commit has a number that one of the lost commits had.
  await drive().put("b", "x");
  for (const since of [kept, lost]) {
    assertEquals((await askChanges(drive(), { since })).expect(410).code, "changes_expired");
  }
  assertEquals(textsOf(await changesSince(drive())), ["put a", "put b"]);
  await server.stop();
});
