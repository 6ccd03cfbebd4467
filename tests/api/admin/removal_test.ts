import { assert, assertEquals } from "@std/assert";
import { administer, ADMINISTERED, Project, PROJECTS } from "../../support/admin.ts";
import { utf8 } from "../../support/bytes.ts";
import { assertFiles } from "../../support/drive.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";
import { fill, onceRemoved, onTwoProjects, SMALL } from "../../support/store/removal.ts";

const test = suite("Removals", ADMINISTERED);

Deno.test("A deleted project is gone at once for every caller.", async () => {
  await onTwoProjects(async (project) => {
    const answer = (await project.call("DELETE", "")).expect(202);
    assertEquals(answer.json, { project_id: project.id });
    for (const path of ["", "/keys", "/apps", "/apps/notes", "/apps/notes/keys"]) {
      assertErrorAnswer((await project.call("GET", path)).expect(404));
      assertErrorAnswer((await project.call("GET", path, { as: project.owner })).expect(401));
    }
    assertErrorAnswer((await project.call("DELETE", "")).expect(404));
    assertErrorAnswer((await project.call("POST", "/keys")).expect(404));
    assertErrorAnswer((await project.call("DELETE", "/drives/photos")).expect(404));
    const drive = project.drive("photos");
    const calls = [
      await drive.get("small"),
      await drive.send("GET", "/files"),
      await drive.send("GET", "/uploads"),
      await drive.send("POST", "/files?name=new", { body: "x" }),
      await drive.send("POST", "/uploads?name=new"),
      await drive.send("DELETE", "/files?names=small"),
      await project.files("GET", ""),
    ];
    for (const answer of calls) assertErrorAnswer(answer.expect(401));
    const { projects } = (await administer(project.server, "GET", PROJECTS)).json as {
      projects: { project_id: string }[];
    };
    assertEquals(projects.filter(({ project_id }) => project_id === project.id), []);
  });
});

test("A project of the same id can be made once all is removed, and has nothing of the earlier one.", async ({ server }) => {
  const project = await Project.make(server, { project_id: "again" });
  await fill(project);
  (await project.call("DELETE", "")).expect(202);
  const body = { project_id: "again" };
  const answer = await onceRemoved(() => administer(server, "POST", PROJECTS, { body }));
  const { project_key } = answer.expect(201).json as { project_key: string };
  assertErrorAnswer((await project.files("GET", "")).expect(401));
  const again = new Project(server, "again", project_key);
  assertEquals((await again.files("GET", "")).expect(200).json, {
    project_id: "again",
    drives: [],
  });
  assertEquals(await again.drive("photos").names(), []);
  assertEquals((await again.call("GET", "/apps")).json, { apps: [], gate: null });
  await again.makeApp({ name: "notes", host: `${project.id}.example` });
  await again.drive("photos").put("small", "again");
  assertEquals(await again.drive("photos").text("small"), "again");
});

test("A deleted drive is gone at once, the others stay, and it can be written to again.", async ({ server }) => {
  const project = await Project.make(server);
  await fill(project);
  const other = project.drive("other");
  await other.put("small", SMALL);
  const [photos, awkward] = [project.drive("photos"), project.drive("a b/ü".replace("/", "?"))];
  await awkward.put("a", "x");
  const answer = await project.call("DELETE", "/drives/photos", { as: project.owner });
  assertEquals(answer.expect(202).json, { project_id: project.id, drive_name: "photos" });
  assertErrorAnswer((await photos.get("small")).expect(404));
  assertEquals(await photos.names(), []);
  assertEquals((await photos.send("GET", "/uploads")).expect(200).json, { uploads: [] });
  assertEquals(await photos.usage(), undefined);
  const { drives } = (await project.call("GET", "")).json as { drives: { drive_name: string }[] };
  assertEquals(drives.map(({ drive_name }) => drive_name), [awkward.name, "other"]);
  const put = () => photos.send("POST", "/files?name=new", { body: "new" });
  (await onceRemoved(put)).expect(201);
  await assertFiles(photos, { new: utf8("new") });
  await assertFiles(other, { small: SMALL });
  const odd = `/drives/${encodeURIComponent(awkward.name)}`;
  (await project.call("DELETE", odd)).expect(202);
  assertEquals(await awkward.usage(), undefined);
});

test("The usage of a project stays when an application is removed.", async ({ server }) => {
  const project = await Project.make(server, { max_files: 2 });
  await project.drive("photos").put("small", "small");
  await project.drive("photos").send("POST", "/uploads?name=open");
  const usage = async () => (await project.call("GET", "", { as: project.owner })).expect(200).json;
  const before = await usage();
  const app = { name: "notes" };
  await project.makeApp(app);
  (await project.call("DELETE", "/apps/notes")).expect(200);
  (await onceRemoved(() => project.call("POST", "/apps", { body: app }))).expect(201);
  assertEquals(await usage(), before);
  await project.drive("photos").put("second", "x");
  (await project.drive("photos").send("POST", "/files?name=third", { body: "x" })).expect(507);
});

test("A drive that there is not is 404, and deleting one again is not.", async ({ server }) => {
  const project = await Project.make(server);
  for (const name of ["nothing", "__proto__", "%20x"]) {
    assertErrorAnswer((await project.call("DELETE", `/drives/${name}`)).expect(404));
  }
  await (await Project.make(server)).drive("photos").put("a", "x");
  assertErrorAnswer((await project.call("DELETE", "/drives/photos")).expect(404));
  await fill(project);
  const twice = await Promise.all([1, 2].map(() => project.call("DELETE", "/drives/photos")));
  for (const answer of twice) assert([202, 404].includes(answer.status), answer.text);
  assert(twice.some(({ status }) => status === 202));
});
