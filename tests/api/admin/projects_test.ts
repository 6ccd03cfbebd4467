import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import {
  administer,
  ADMINISTERED,
  administrator,
  assertPrivate,
  type ListedKey,
  type NewProject,
  Project,
  PROJECTS,
  SECONDS,
  withoutDate,
} from "../../support/admin.ts";
import { PROJECT_ID, type TestServer } from "../../support/server.ts";
import { denokvProgram } from "../../support/store/denokv.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Projects and their keys", ADMINISTERED);

interface Disk {
  total: number | null;
  free: number | null;
}

interface Listed {
  project_id: string;
  name: string | null;
  created: string;
  files: number;
  bytes: number;
}

async function list(server: TestServer): Promise<Listed[]> {
  const body = (await administer(server, "GET", PROJECTS)).expect(200).json;
  assertEquals(Object.keys(body as object), ["projects", "disk", "integrity"]);
  return (body as { projects: Listed[] }).projects;
}

async function find(server: TestServer, id: string): Promise<Listed | undefined> {
  return (await list(server)).find(({ project_id }) => project_id === id);
}

test("A new project is answered with an id and a key that open it.", async ({ server }) => {
  for (const body of [undefined, "", "{}", { name: null }, { name: "Öffis\u3000😀" }]) {
    const answer = await administer(server, "POST", PROJECTS, { body });
    assertPrivate(answer.expect(201));
    const made = answer.json as NewProject;
    const { project_id, project_key } = made;
    assertMatch(project_id, /^[A-Za-z0-9-]{1,64}$/);
    assertMatch(project_key, new RegExp(`^${project_id}_[A-Za-z0-9]{22,}$`));
    const name = typeof body === "object" ? body.name ?? null : null;
    const prefix = project_key.slice(project_id.length + 1).slice(0, 8);
    const nothing = { max_bytes: null, max_files: null, host_suffix: null };
    assertEquals(withoutDate(made), { project_id, name, ...nothing, project_key, prefix });
    const project = new Project(server, project_id, project_key);
    await project.drive("photos").put("a", "abc");
    assertEquals(await project.drive("photos").text("a"), "abc");
  }
});

test("A project may have an id of the caller's choice.", async ({ server }) => {
  for (const id of ["a", "A-0", "x".repeat(64), "-", "constructor"]) {
    const body = { project_id: id, name: "chosen" };
    const project = await Project.make(server, body);
    assertEquals(project.id, id);
    assert(project.key.startsWith(`${id}_`));
    assertErrorAnswer((await administer(server, "POST", PROJECTS, { body })).expect(409));
    assertEquals((await project.files("GET", "")).expect(200).json, { project_id: id, drives: [] });
  }
});

test("A project is made with a trash, and renamed by its owner.", async ({ server }) => {
  const project = await Project.make(server, { name: "Photos", trash_days: 30 });
  const changed = async (body: Record<string, unknown>, status = 200) =>
    (await project.call("PATCH", "", { body })).expect(status).json as Record<string, unknown>;
  const read = async () =>
    (await project.call("GET", "")).expect(200).json as Record<string, unknown>;
  assertEquals([(await read())["name"], (await read())["trash_days"]], ["Photos", 30]);
  assertEquals((await changed({ name: "Öffis" }))["name"], "Öffis");
  await changed({ name: " " }, 400);
  assertEquals((await changed({ name: null }))["name"], null);
  assertEquals((await read())["trash_days"], 30);
  for (const trash_days of [-1, 366, "30", 1.5]) {
    const body = { trash_days };
    assertErrorAnswer((await administer(server, "POST", PROJECTS, { body })).expect(400));
  }
});

test("Of ten calls for one id at once, one makes the project.", async ({ server }) => {
  const body = { project_id: "wanted" };
  const calls = Array.from({ length: 10 }, () => administer(server, "POST", PROJECTS, { body }));
  const answers = await Promise.all(calls);
  assertEquals(answers.map(({ status }) => status).sort(), [201, ...Array(9).fill(409)]);
  const made = answers.find(({ status }) => status === 201)?.json as NewProject;
  const keys = await administer(server, "GET", `${PROJECTS}/wanted/keys`);
  const { keys: [key, ...others] } = keys.json as { keys: { prefix: string }[] };
  assertEquals([key?.prefix, others], [made.prefix, []]);
});

/** Bodies that make no project, and what the sentence must name. */
const BAD_BODIES: [unknown, string][] = [
  [{ name: "" }, "name"],
  [{ name: " \t" }, "name"],
  [{ name: "x".repeat(129) }, "name"],
  [{ name: "a\nb" }, "name"],
  [{ name: 1 }, "name"],
  [{ name: ["a"] }, "name"],
  ['{"name": "a\\ud800"}', "name"],
  [{ project_id: "" }, "project_id"],
  [{ project_id: "a_b" }, "project_id"],
  [{ project_id: "a/b" }, "project_id"],
  [{ project_id: "ü" }, "project_id"],
  [{ project_id: "x".repeat(65) }, "project_id"],
  [{ project_id: 7 }, "project_id"],
  [{ max_bytes: 0 }, "max_bytes"],
  [{ max_bytes: -1 }, "max_bytes"],
  [{ max_bytes: 1.5 }, "max_bytes"],
  [{ max_bytes: 2 ** 53 }, "max_bytes"],
  ['{"max_bytes": 1e400}', "max_bytes"],
  [{ max_bytes: "10GB" }, "max_bytes"],
  [{ max_bytes: true }, "max_bytes"],
  [{ max_bytes: [1] }, "max_bytes"],
  [{ max_files: 0 }, "max_files"],
  [{ max_files: 1.5 }, "max_files"],
  [{ max_files: "1" }, "max_files"],
  [{ project: "a" }, "project"],
  [{ name: "a", admin: true }, "admin"],
  ['{"__proto__": {}}', "__proto__"],
  ["[]", "object"],
  ["null", "object"],
  ['"a"', "object"],
  ["{", "JSON"],
  ["name=a", "JSON"],
];

for (const [body, part] of BAD_BODIES) {
  const text = typeof body === "string" ? body : JSON.stringify(body);

  test(`The body ${text.slice(0, 50)} is 400 and names "${part}".`, async ({ server }) => {
    const before = await list(server);
    const answer = (await administer(server, "POST", PROJECTS, { body })).expect(400);
    assertErrorAnswer(answer);
    assert(answer.errors.join().includes(part), answer.text);
    assertEquals(await list(server), before);
  });
}

test("A body beyond 1 MiB is 413.", async ({ server }) => {
  const body = "{}".padEnd(2 ** 20);
  (await administer(server, "POST", PROJECTS, { body })).expect(201);
  assertErrorAnswer((await administer(server, "POST", PROJECTS, { body: `${body} ` })).expect(413));
});

test("Projects are listed with what they hold.", async ({ server }) => {
  const project = await Project.make(server, { name: "Mine" });
  const trash = { trash_days: 0, trash_files: 0, trash_bytes: 0 };
  const usage = { files: 0, bytes: 0, open_upload_bytes: 0, ...trash };
  const nothing = { max_bytes: null, max_files: null, host_suffix: null, ...usage };
  const empty = { project_id: project.id, name: "Mine", ...nothing };
  const listed = await find(server, project.id);
  assert(listed !== undefined);
  assertEquals(withoutDate(listed), empty);
  await project.drive("a").put("1", "four");
  await project.drive("b").put("2", "three");
  await project.drive("b").put("3", "");
  const after = await find(server, project.id);
  assertEquals(after, { ...listed, files: 3, bytes: 9 });
  assertEquals(await holds(project), {
    ...listed,
    files: 3,
    bytes: 9,
    drives: [
      { drive_name: "a", files: 1, bytes: 4 },
      { drive_name: "b", files: 2, bytes: 5 },
    ],
  });
  assertEquals(await holds(project, project.owner), await holds(project));
  const given = await find(server, PROJECT_ID);
  assertEquals([given?.name, SECONDS.test(given?.created ?? "")], [null, true]);
});

/** What a project's own answer tells of it, without the disk, which changes with everything else that runs. */
async function holds(project: Project, as = administrator): Promise<unknown> {
  const answer = (await project.call("GET", "", { as })).expect(200).json;
  const { disk: _, ...rest } = answer as { disk: unknown };
  return rest;
}

test("Only the administrator sees the size and the free space of the disk.", async ({ server }) => {
  const project = await Project.make(server);
  const answers = [
    await administer(server, "GET", PROJECTS),
    await project.call("GET", ""),
    await project.call("PATCH", "", { body: { max_bytes: null } }),
  ];
  const owners = (await project.call("GET", "", { as: project.owner })).expect(200);
  assert(!("disk" in (owners.json as object)), owners.text);
  const totals = answers.map((answer) => {
    const { disk } = answer.expect(200).json as { disk: Disk };
    assertEquals(Object.keys(disk), ["total", "free"]);
    // The disk of a shared store is that of another machine.
    if (denokvProgram() !== undefined) {
      assertEquals(disk, { total: null, free: null });
      return null;
    }
    const { total, free } = disk;
    assert(total !== null && free !== null && free > 0 && free <= total, JSON.stringify(disk));
    return total;
  });
  assertEquals(new Set(totals).size, 1);
});

/** A key may do everything unless its limits are given, and was not used at first. */
const UNLIMITED = {
  permissions: ["read", "write", "delete", "list", "admin"],
  drives: null,
  name_prefix: null,
  expires: null,
  last_used: null,
};

async function keysOf(project: Project): Promise<ListedKey[]> {
  const body = (await project.call("GET", "/keys")).expect(200).json;
  assertEquals(Object.keys(body as object), ["keys"]);
  return (body as { keys: ListedKey[] }).keys;
}

test("A project has several keys, each by its prefix, and each opens it.", async ({ server }) => {
  const project = await Project.make(server);
  const [first] = await keysOf(project);
  assert(first !== undefined);
  assertEquals(withoutDate(first), {
    prefix: project.key.slice(project.id.length + 1).slice(0, 8),
    name: null,
    ...UNLIMITED,
  });
  const keys = [project.key];
  for (const [body, name] of [[undefined, null], [{ name: "deploy" }, "deploy"]] as const) {
    const answer = await project.call("POST", "/keys", { as: project.owner, body });
    const made = answer.expect(201).json as ListedKey & { project_key: string };
    const { project_key, prefix } = made;
    assertMatch(project_key, new RegExp(`^${project.id}_${prefix}[A-Za-z0-9]{14,}$`));
    assertEquals(withoutDate(made), { name, prefix, ...UNLIMITED, project_key });
    keys.push(project_key);
  }
  for (const key of keys) (await project.files("GET", "", key)).expect(200);
  assertEquals((await keysOf(project)).map(({ name }) => name), [null, null, "deploy"]);
});

test("A revoked key opens nothing from then on, and the others stay.", async ({ server }) => {
  const project = await Project.make(server);
  const made = (await project.call("POST", "/keys")).json as {
    project_key: string;
    prefix: string;
  };
  (await project.files("GET", "", made.project_key)).expect(200);
  const path = `/keys/${made.prefix}`;
  const answer = await project.call("DELETE", path, { as: project.owner });
  assertEquals(answer.expect(200).json, { prefix: made.prefix });
  assertErrorAnswer((await project.files("GET", "", made.project_key)).expect(401));
  const asOwner = { as: { "X-Api-Key": made.project_key } };
  assertErrorAnswer((await project.call("GET", "", asOwner)).expect(401));
  assertErrorAnswer((await project.call("DELETE", path)).expect(404));
  assertEquals((await keysOf(project)).length, 1);
  (await project.files("GET", "")).expect(200);
});

test("An owner may revoke the very key, and the administrator makes another.", async ({ server }) => {
  const project = await Project.make(server);
  const [own] = await keysOf(project);
  (await project.call("DELETE", `/keys/${own?.prefix}`, { as: project.owner })).expect(200);
  (await project.files("GET", "")).expect(401);
  const { project_key } = (await project.call("POST", "/keys")).json as NewProject;
  assertNotEquals(project_key, project.key);
  (await project.files("GET", "", project_key)).expect(200);
});

test("A prefix that no key of the project has is 404.", async ({ server }) => {
  const project = await Project.make(server);
  const [key] = await keysOf(await Project.make(server));
  const others = ["nothing0", "x", "x".repeat(3000), "%00".repeat(8), "__proto__"];
  for (const prefix of [key?.prefix ?? "", ...others]) {
    assertErrorAnswer((await project.call("DELETE", `/keys/${prefix}`)).expect(404));
  }
  assertEquals((await keysOf(project)).length, 1);
});

test("The body of a key is judged like every other.", async ({ server }) => {
  const project = await Project.make(server);
  for (const body of [{ name: "" }, { name: 1 }, { prefix: "a" }, [], "{"]) {
    assertErrorAnswer((await project.call("POST", "/keys", { body })).expect(400));
  }
  assertEquals((await keysOf(project)).length, 1);
});
