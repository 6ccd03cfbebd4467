import { assertEquals } from "@std/assert";
import { ADMIN_TOKEN, type NewProject, PROJECTS, WITH_S3_KEYS } from "../support/admin.ts";
import { TestServer } from "../support/server.ts";
import { EXAMPLE_CONFIG, exampleModule, readExamples } from "../support/typed_client/examples.ts";
import { connect, type Drive, type Project } from "../support/typed_client/package.ts";

interface Examples {
  examples: Record<string, (context: Context) => Promise<void>>;
}

interface Context {
  project: Project;
  photos: Drive;
  url: string;
  key: string;
  same: (actual: unknown, expected: unknown) => void;
}

Deno.test("Every export of the client has an example, and all examples work", async (t) => {
  const { exports, examples } = await readExamples();
  await t.step("Every export has one", () => {
    const without = exports.filter((name) => !examples.some(({ of }) => of === name));
    assertEquals(without, []);
  });
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-examples-" });
  try {
    const path = `${folder}/examples.ts`;
    await Deno.writeTextFile(path, exampleModule(exports, examples));
    await Deno.writeTextFile(`${folder}/deno.json`, EXAMPLE_CONFIG);
    await t.step("They have the right types", () => checkTypes(folder));
    await using server = await TestServer.start(WITH_S3_KEYS);
    const module: Examples = await import(new URL(`file://${path}`).href);
    for (const [name, run] of Object.entries(module.examples)) {
      await t.step(name, async () => {
        const key = await newProject(server);
        const project = connect({ url: server.origin, key });
        const photos = project.drive("photos");
        await run({ project, photos, url: server.origin, key, same: assertEquals<unknown> });
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

async function checkTypes(folder: string): Promise<void> {
  const args = ["check", "--quiet", "examples.ts"];
  const command = new Deno.Command(Deno.execPath(), { args, cwd: folder });
  const { success, stderr } = await command.output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** Makes a project, and returns its key. */
async function newProject(server: TestServer): Promise<string> {
  const answer = await fetch(`${server.origin}${PROJECTS}`, {
    method: "POST",
    headers: { "Authorization": `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/json" },
    body: "{}",
  });
  return (await answer.json() as NewProject).project_key;
}
