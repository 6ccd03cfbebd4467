import { assertEquals, assertStringIncludes } from "@std/assert";
import { ADMINISTERED, Project } from "../../support/admin.ts";
import type { Answer } from "../../support/answer.ts";
import { Drive, query } from "../../support/drive.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Keys with fewer rights copy, move and restore what they may", {
  ...ADMINISTERED,
  twin: true,
});

/** A project with a trash, and the drive as the owner sees it. */
async function prepare(
  { server }: Drive,
  names: readonly string[],
): Promise<{ project: Project; drive: Drive; as(limits: unknown): Promise<Drive> }> {
  const project = await Project.make(server);
  (await project.call("PATCH", "", { body: { trash_days: 3 } })).expect(200);
  const drive = project.drive("photos");
  await drive.putAll(names);
  const as = async (limits: unknown) =>
    project.with((await project.makeKey(limits)).project_key).drive("photos");
  return { project, drive, as };
}

async function post(drive: Drive, path: string, body: unknown): Promise<Answer> {
  return await drive.send("POST", path, { body: JSON.stringify(body) });
}

function assertRefused(answer: Answer, part: string): void {
  assertErrorAnswer(answer.expect(403));
  assertStringIncludes(answer.errors.join(), part);
}

interface TrashItem {
  id: string;
  name: string;
}

async function trash(drive: Drive, parameters: Record<string, string> = {}): Promise<TrashItem[]> {
  const answer = await drive.send("GET", `/trash${query(parameters)}`);
  return (answer.expect(200).json as { items: TrashItem[] }).items;
}

test("A copy needs the permissions read and write, and a move delete as well.", async (given) => {
  const { drive, as } = await prepare(given, ["a"]);
  const needed = { "/files/copy": ["read", "write"], "/files/move": ["read", "write", "delete"] };
  for (const [path, permissions] of Object.entries(needed)) {
    for (const missing of permissions) {
      const others = ["read", "write", "delete", "list", "admin"].filter((one) => one !== missing);
      const limited = await as({ permissions: others });
      const answer = await drive.unchangedBy(() => post(limited, path, { from: "a", to: "b" }));
      assertRefused(answer, `the permission "${missing}"`);
    }
    const enough = await as({ permissions });
    const { status } = await post(enough, path, { from: "a", to: `b${path}` });
    assertEquals([200, 201].includes(status), true, path);
  }
});

test("Both names of a copy and a move must be for the key, and the drive of the target.", async (given) => {
  const { project, drive, as } = await prepare(given, ["in/a", "out/a"]);
  const limited = await as({ name_prefix: "in/" });
  const oneDrive = await as({ drives: ["photos"] });
  for (const path of ["/files/copy", "/files/move"]) {
    const bodies = [
      { from: "out/a", to: "in/b" },
      { from: "in/a", to: "out/b" },
      { from: "in/a", to: "in", overwrite: true },
      { items: [{ from: "in/a", to: "in/b" }, { from: "out/a", to: "in/c" }] },
      { items: [{ from: "in/a", to: "in/b" }, { from: "in/a", to: "out/a" }], overwrite: true },
    ];
    for (const body of bodies) {
      const answer = await drive.unchangedBy(() => post(limited, path, body));
      assertRefused(answer, 'only for names that begin with "in/"');
    }
    for (const to_drive of ["other", "Photos"]) {
      const body = { from: "in/a", to: "in/b", to_drive };
      const answer = await drive.unchangedBy(() => post(oneDrive, path, body));
      assertRefused(answer, `the drive "${to_drive}"`);
    }
  }
  assertEquals(await project.drive("other").names(), []);
  (await post(limited, "/files/copy", { from: "in/a", to: "in/b", to_drive: "other" })).expect(201);
  (await post(limited, "/files/move", { from: "in/a", to: "in/c" })).expect(200);
  assertEquals(await drive.names(), ["in/c", "out/a"]);
});

test("The trash shows a key of a prefix its own names, and lets it restore and delete these.", async (given) => {
  const { drive, as } = await prepare(given, ["in/a", "in/b", "out/a"]);
  await drive.delete(["in/a", "in/b", "out/a"]);
  const outId = (await trash(drive)).find(({ name }) => name === "out/a")?.id ?? "";
  const limited = await as({ name_prefix: "in/" });
  const names = async (asked: Record<string, string>) =>
    (await trash(limited, asked)).map(({ name }) => name).sort();
  assertEquals(await names({}), ["in/a", "in/b"]);
  assertEquals(await names({ prefix: "in/b" }), ["in/b"]);
  assertEquals(await names({ prefix: "i" }), ["in/a", "in/b"]);
  assertEquals(await names({ prefix: "out/" }), []);
  const own = (await trash(limited)).map(({ id }) => id);
  const act = async (method: string, path: string, body: unknown) =>
    await limited.send(method, path, { body: JSON.stringify(body) });
  for (
    const [method, path, body] of [
      ["POST", "/trash/restore", { ids: [...own, outId] }],
      ["DELETE", "/trash", { ids: [...own, outId] }],
      ["DELETE", "/trash", { all: true }],
    ] as const
  ) {
    assertRefused(await act(method, path, body), 'only for names that begin with "in/"');
    assertEquals((await trash(drive)).length, 3);
    assertEquals(await drive.names(), []);
  }
  const [first = "", second = ""] = own;
  const restored = await act("POST", "/trash/restore", { ids: [first, "unknown"] });
  assertEquals((restored.expect(200).json as { restored: string[] }).restored, [first]);
  const deleted = await act("DELETE", "/trash", { ids: [second, "unknown"] });
  assertEquals(deleted.expect(200).json, { deleted: 1 });
  assertEquals((await trash(drive)).map(({ name }) => name), ["out/a"]);
});
