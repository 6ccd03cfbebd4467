import { assertEquals } from "@std/assert";
import { administer, ADMINISTERED, Project, PROJECTS } from "../support/admin.ts";
import type { Answer } from "../support/answer.ts";
import { Drive, drives, type SendOptions } from "../support/drive.ts";
import { assertErrorAnswer, suite } from "../support/suite.ts";

const test = suite("POST /v1/{project_id}/drives", { ...ADMINISTERED, twin: true });

/** Returns the answer with any status. */
async function create(
  { server, owner }: Drive,
  body: unknown,
  options: SendOptions = {},
): Promise<Answer> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return await new Drive(server, "drives", owner).send("POST", "", { body: text, ...options });
}

test("An empty drive is created, listed, and written to.", async (drive) => {
  const { name, owner: { project } } = drive;
  const answer = (await create(drive, { name })).expect(201);
  assertEquals(answer.json, { project_id: project, drive_name: name });
  assertEquals(await drive.usage(), { files: 0, bytes: 0 });
  assertEquals(await drive.names(), []);
  await drive.put("a", "abc");
  assertEquals(await drive.usage(), { files: 1, bytes: 3 });
  await drive.delete(["a"]);
  assertEquals(await drive.usage(), { files: 0, bytes: 0 });
});

test("One that exists is 409, whether it has files or not, and stays as it is.", async (drive) => {
  const { name } = drive;
  await drive.put("a", "abc");
  await drive.unchangedBy(async () => {
    const refused = await create(drive, { name });
    assertErrorAnswer(refused.expect(409));
    assertEquals(refused.code, "drive_exists");
  });
  const empty = drive.another("empty");
  (await create(empty, { name: empty.name })).expect(201);
  (await create(empty, { name: empty.name })).expect(409);
});

test("Of many calls at once one creates it.", async (drive) => {
  const { name } = drive;
  const answers = await Promise.all(Array.from({ length: 8 }, () => create(drive, { name })));
  const statuses = answers.map(({ status }) => status).sort();
  assertEquals(statuses, [201, ...Array.from({ length: 7 }, () => 409)]);
});

test("It is deleted as others are, and can be created again.", async ({ server }) => {
  const project = await Project.make(server);
  const drive = project.drive("d");
  (await create(drive, { name: "d" })).expect(201);
  const path = `${PROJECTS}/${project.id}/drives/d`;
  (await administer(server, "DELETE", path)).expect(202);
  assertEquals(await drive.usage(), undefined);
  let answer = await create(drive, { name: "d" });
  // Until its deletion is finished, the name is in use.
  for (let tries = 0; answer.code === "being_removed" && tries < 600; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    answer = await create(drive, { name: "d" });
  }
  answer.expect(201);
});

test("Every name of a drive can be created, and no other.", async (drive) => {
  for (const name of ["drives", "ä ö", "😀", "a%2Fb", "..", "x".repeat(128)]) {
    (await create(drive, { name })).expect(201);
    assertEquals((await drives(drive.server)).get(name), { files: 0, bytes: 0 });
  }
  for (const name of ["", " ", "a/b", "a\nb", "x".repeat(129), "\0"]) {
    const refused = await create(drive, { name });
    assertErrorAnswer(refused.expect(400));
    assertEquals(refused.code, "invalid_field");
  }
  for (const body of ["", "[]", "{}", { name: 7 }, { drive_name: "a" }, { name: "a", more: 1 }]) {
    assertErrorAnswer((await create(drive, body)).expect(400));
  }
});

test("A key needs write, for that drive, and of that project.", async ({ server }) => {
  const project = await Project.make(server);
  const as = async (limits: unknown) =>
    project.with((await project.makeKey(limits)).project_key).drive("d");
  const reader = await as({ permissions: ["read", "list", "delete"] });
  assertEquals((await create(reader, { name: "a" })).expect(403).code, "missing_permission");
  const writer = await as({ permissions: ["write"], drives: ["mine"] });
  assertEquals((await create(writer, { name: "a" })).expect(403).code, "key_limited");
  (await create(writer, { name: "mine" })).expect(201);
  (await create(writer, { name: "b" }, { key: null })).expect(401);
  const other = await Project.make(server);
  const stranger = await create(writer, { name: "mine" }, { project: other.id });
  assertEquals(stranger.expect(403).code, "wrong_project");
});
