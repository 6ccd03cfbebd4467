import { assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, Project } from "../support/admin.ts";
import { Folder } from "../support/command.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { auditStore } from "./support/audit/store_audit.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const ROUNDS = isFull() ? 30 : 4;
const CLIENTS = 4;
/** The longest time under load before the server is killed, in milliseconds: the key file is created at its start. */
const MAX_LOAD_TIME = 60;

/** Creates S3 keys until the server dies. @returns the ids of those that were answered. */
async function createKeys(project: Project): Promise<string[]> {
  const ids: string[] = [];
  try {
    for (;;) ids.push((await project.makeS3Key()).access_key_id);
  } catch {
    return ids;
  }
}

Deno.test("After a kill while the key file is created every S3 key that was answered can be used.", async () => {
  const random = new Random(announceSeed());
  for (let round = 0; round < ROUNDS; round++) {
    await using folder = await Folder.make();
    const options = { ...ADMINISTERED, data: folder.path };
    const answered: string[] = [];
    let made: Project;
    {
      await using server = await TestServer.start(options);
      made = await Project.make(server);
      const load = Promise.all(Array.from({ length: CLIENTS }, () => createKeys(made)));
      await delay(random.below(MAX_LOAD_TIME));
      await server.stop("SIGKILL");
      answered.push(...(await load).flat());
    }
    {
      await using server = await TestServer.start(options);
      const project = new Project(server, made.id, made.key);
      const listed = await project.s3Keys();
      assertEquals(listed.filter(({ usable }) => !usable), []);
      const ids = new Set(listed.map(({ access_key_id }) => access_key_id));
      assertEquals(answered.filter((id) => !ids.has(id)), []);
      await project.makeS3Key();
      assertEquals((await project.s3Keys()).filter(({ usable }) => !usable), []);
      await server.stop();
    }
    const text = await new StoreCommands(folder.path).text("verify");
    assertEquals(text, "No problems found: 0 files, 0 bytes.\n");
    await auditStore(folder.path, false);
  }
});
