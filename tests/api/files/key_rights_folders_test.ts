import { assertEquals } from "@std/assert";
import { ADMINISTERED, Project } from "../../support/admin.ts";
import type { Drive } from "../../support/drive.ts";
import { suite } from "../../support/suite.ts";

const test = suite("Keys with fewer rights keep and search what they may", ADMINISTERED);

async function prepare({ server }: Drive, names: readonly string[]): Promise<{
  drive: Drive;
  as(limits: unknown): Promise<Drive>;
}> {
  const project = await Project.make(server);
  const drive = project.drive("photos");
  await drive.putAll(names);
  const as = async (limits: unknown) =>
    project.with((await project.makeKey(limits)).project_key).drive("photos");
  return { drive, as };
}

async function folder(drive: Drive, method: string, name: string): Promise<number> {
  return (await drive.send(method, "/folders", { body: JSON.stringify({ name }) })).status;
}

test("A folder is created with the permission write and deleted with delete.", async (given) => {
  const { as } = await prepare(given, []);
  const writer = await as({ permissions: ["write"] });
  const deleter = await as({ permissions: ["delete"] });
  assertEquals(await folder(deleter, "POST", "a/"), 403);
  for (const key of [writer, deleter, await as({ drives: ["other"] })]) {
    (await key.send("GET", "/folders")).expect(403);
  }
  const lister = await as({ permissions: ["list"] });
  assertEquals((await lister.send("GET", "/folders")).expect(200).json, { folders: [] });
  assertEquals(await folder(writer, "POST", "a/"), 201);
  assertEquals(await folder(writer, "DELETE", "a/"), 403);
  assertEquals(await folder(deleter, "DELETE", "a/"), 200);
  for (const other of [{ permissions: ["read", "list", "admin"] }, { drives: ["other"] }]) {
    const key = await as(other);
    assertEquals([await folder(key, "POST", "a/"), await folder(key, "DELETE", "a/")], [403, 403]);
  }
});

test("A key of a folder sees it in the one above while it is empty.", async (given) => {
  const { drive, as } = await prepare(given, ["out"]);
  const key = await as({ name_prefix: "a/in/" });
  assertEquals(await key.list({ recursive: "false" }), { names: [] });
  assertEquals(await folder(drive, "POST", "a/"), 201);
  assertEquals(await key.list({ recursive: "false" }), { names: [] });
  assertEquals(await folder(key, "POST", "a/in/"), 201);
  for (const [prefix, ...names] of [["", "a/"], ["a/", "a/in/"], ["a/in/"]] as const) {
    assertEquals(await key.list({ recursive: "false", prefix }), { names });
  }
  assertEquals(await key.list({ recursive: "false", last: "a/" }), { names: [] });
  assertEquals(await key.list({}), { names: [] });
});

test("A key of a prefix keeps folders and finds names with it alone.", async (given) => {
  const { drive, as } = await prepare(given, ["in/cat", "in/dog", "out/cat"]);
  const key = await as({ name_prefix: "in/" });
  assertEquals(await folder(key, "POST", "in/empty/"), 201);
  for (const method of ["POST", "DELETE"]) {
    assertEquals(await folder(key, method, "out/empty/"), 403);
  }
  assertEquals(await folder(drive, "POST", "out/empty/"), 201);
  const level = { recursive: "false", prefix: "in/" };
  assertEquals(await key.list(level), { names: ["in/cat", "in/dog", "in/empty/"] });
  assertEquals(await key.list({ recursive: "false" }), { names: ["in/"] });
  for (const [prefix, folders] of [["", ["in/empty/"]], ["in/e", ["in/empty/"]], ["out/", []]]) {
    const answer = await key.send("GET", `/folders?prefix=${prefix}`);
    assertEquals(answer.expect(200).json, { folders });
  }
  assertEquals(await key.list({ contains: "CAT" }), { names: ["in/cat"] });
  assertEquals(await key.list({ contains: "cat", prefix: "out/" }), { names: [] });
  assertEquals(await drive.names({ contains: "CAT" }), ["in/cat", "out/cat"]);
});
