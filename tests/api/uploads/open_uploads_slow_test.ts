import { assert, assertEquals } from "@std/assert";
import { ADMINISTERED, Project } from "../../support/admin.ts";
import { Folder } from "../../support/command.ts";
import { query, Upload } from "../../support/drive.ts";
import { TestServer } from "../../support/server.ts";
import { assertErrorAnswer } from "../../support/suite.ts";

const LIMITED = { ...ADMINISTERED, args: ["--max-open-uploads", "5"] };

async function tryStart(project: Project, name: string): Promise<Upload | undefined> {
  const drive = project.drive("drive");
  const answer = await drive.send("POST", `/uploads${query({ name })}`);
  if (answer.status === 202) {
    return new Upload(drive, name, (answer.json as { upload_id: string }).upload_id);
  }
  assertErrorAnswer(answer.expect(409));
  assertEquals(answer.errors, [
    "The project has 5 uploads open, and no more are allowed: " +
    "complete or abort one of them, then start this one again",
  ]);
  return undefined;
}

async function startMany(projects: readonly Project[], count: number): Promise<Upload[]> {
  const started = await Promise.all(Array.from({ length: count }, (_, i) => {
    const project = projects[i % projects.length];
    assert(project !== undefined);
    return tryStart(project, `${i}`);
  }));
  return started.filter((one) => one !== undefined);
}

Deno.test("Servers on one store exceed the limit of open uploads by what they start at once.", async () => {
  await using folder = await Folder.make();
  const options = { ...LIMITED, data: folder.path };
  await using first = await TestServer.start(options);
  await using second = await TestServer.start(options);
  const project = await Project.make(first);
  const sides = [project, new Project(second, project.id, project.key)];
  const uploads = await startMany(sides, 40);
  assert(uploads.length >= 5 && uploads.length <= 10, `${uploads.length} were started`);
  assertEquals(await startMany(sides, 20), []);
  assertEquals((await startMany([await Project.make(first)], 8)).length, 5);
  for (const [i, upload] of uploads.entries()) {
    (await (i % 2 === 0 ? upload.abort() : upload.complete())).expect(200);
  }
  assertEquals((await startMany([sides[1] ?? project], 20)).length, 5);
  assertEquals(await startMany(sides, 20), []);
});

Deno.test("An upload that was not completed in time makes room for another.", async () => {
  const args = [...LIMITED.args, "--upload-ttl", "100ms"];
  await using server = await TestServer.start({ ...ADMINISTERED, args });
  const project = await Project.make(server);
  assertEquals((await startMany([project], 8)).length, 5);
  await server.stop("SIGKILL");
  await using again = await TestServer.start({ ...ADMINISTERED, args, data: server.data });
  const later = new Project(again, project.id, project.key);
  // The sweep at the start ends them.
  const deadline = performance.now() + 90_000;
  while (await tryStart(later, "later") === undefined) assert(performance.now() < deadline);
});
