import { assertEquals, assertStringIncludes } from "@std/assert";
import { ADMINISTERED, Project } from "../../support/admin.ts";
import { type Drive, query } from "../../support/drive.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Everything below a prefix in one call", { ...ADMINISTERED, twin: true });

interface Outcome {
  done: string[];
  failed: { name: string; error: string; code: string }[];
  paging?: { size: number; last: string };
}

interface Deleted {
  deleted: string[];
  failed: string[];
  paging?: { size: number; last: string };
}

async function call<T>(drive: Drive, method: string, path: string, body: unknown): Promise<T> {
  const answer = await drive.send(method, path, { body: JSON.stringify(body) });
  return answer.expect(200).json as T;
}

const move = (drive: Drive, body: unknown) => call<Outcome>(drive, "POST", "/files/move", body);
const copy = (drive: Drive, body: unknown) => call<Outcome>(drive, "POST", "/files/copy", body);
const remove = (drive: Drive, body: unknown) => call<Deleted>(drive, "DELETE", "/files", body);

async function createFolder(drive: Drive, name: string): Promise<void> {
  (await drive.send("POST", "/folders", { body: JSON.stringify({ name }) })).expect(201);
}

async function folders(drive: Drive): Promise<string[]> {
  const answer = (await drive.send("GET", "/folders")).expect(200);
  return (answer.json as { folders: string[] }).folders;
}

/** Repeats a call until nothing is left, and returns all answers. */
async function repeat<T extends { paging?: { last: string } }>(
  once: (last: { last?: string }) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  for (let from: { last?: string } | undefined = {}; from !== undefined;) {
    const answer: T = await once(from);
    answers.push(answer);
    from = answer.paging && { last: answer.paging.last };
  }
  return answers;
}

const NAMES = ["trip/a", "trip/b/c", "trip/b/d", "trip/e"];

test("A folder is moved, with the folders that are kept in it.", async (drive) => {
  await drive.putAll([...NAMES, "trip", "tripod", "z"]);
  for (const name of ["trip/", "trip/empty/", "other/"]) await createFolder(drive, name);
  const outcome = await move(drive, { from_prefix: "trip/", to_prefix: "2026/x/" });
  assertEquals(outcome, {
    done: ["trip/", "trip/a", "trip/b/c", "trip/b/d", "trip/e", "trip/empty/"],
    failed: [],
  });
  assertEquals(await drive.names(), [
    ...["2026/x/a", "2026/x/b/c", "2026/x/b/d", "2026/x/e"],
    ...["trip", "tripod", "z"],
  ]);
  assertEquals(await folders(drive), ["2026/x/", "2026/x/empty/", "other/"]);
  assertEquals(await drive.text("2026/x/b/d"), "trip/b/d");
});

test("It is copied, to another drive too.", async (drive) => {
  await drive.putAll(NAMES);
  await createFolder(drive, "trip/empty/");
  const other = drive.another("other");
  const outcome = await copy(drive, { from_prefix: "trip/", to_prefix: "", to_drive: other.name });
  assertEquals(outcome.done, [...NAMES, "trip/empty/"]);
  assertEquals(await other.names(), ["a", "b/c", "b/d", "e"]);
  assertEquals(await folders(other), ["empty/"]);
  assertEquals(await drive.names(), NAMES);
  assertEquals(await folders(drive), ["trip/empty/"]);
  await copy(drive, { from_prefix: "", to_prefix: "all/", to_drive: other.name });
  assertEquals((await other.names({ prefix: "all/" })).length, 4);
});

test("Page by page: each call has at most limit names, and last continues.", async (drive) => {
  const names = Array.from({ length: 7 }, (_, i) => `a/${i}`);
  await drive.putAll(names);
  const moves = await repeat((last) =>
    move(drive, { from_prefix: "a/", to_prefix: "b/", limit: 3, ...last })
  );
  assertEquals(moves.map(({ done }) => done.length), [3, 3, 1]);
  assertEquals(moves.map(({ paging }) => paging), [
    { size: 3, last: "a/2" },
    { size: 3, last: "a/5" },
    undefined,
  ]);
  assertEquals((await drive.names()).length, 7);
  const copies = await repeat((last) =>
    copy(drive, { from_prefix: "b/", to_prefix: "c/", limit: 4, ...last })
  );
  assertEquals(copies.flatMap(({ done }) => done), names.map((name) => name.replace("a", "b")));
  // Without `last`, a deletion and a move go on with what is left.
  let calls = 0;
  while ((await remove(drive, { prefix: "b/", limit: 3 })).paging !== undefined) calls++;
  assertEquals(calls, 2);
  assertEquals((await drive.names()).every((name) => name.startsWith("c/")), true);
});

test("More than a thousand files are moved and deleted.", async (drive) => {
  const names = Array.from({ length: 1203 }, (_, i) => `many/${i}`);
  await drive.fill(names);
  const moves = await repeat((last) =>
    move(drive, { from_prefix: "many/", to_prefix: "x/", ...last })
  );
  assertEquals(moves.map(({ done, failed }) => [done.length, failed.length]), [[1000, 0], [
    203,
    0,
  ]]);
  assertEquals(await drive.usage(), { files: 1203, bytes: 1203 * 6 });
  const size = (await drive.send("GET", `/files/size${query({ prefix: "x/" })}`)).expect(200).json;
  assertEquals(size, { files: 1203, bytes: 1203 * 6 });
  const deletions = await repeat((last) => remove(drive, { prefix: "x/", ...last }));
  assertEquals(deletions.map(({ deleted }) => deleted.length), [1000, 203]);
  assertEquals(await drive.usage(), { files: 0, bytes: 0 });
});

test("A target that exists is a failure with a code, unless overwrite is set.", async (drive) => {
  await drive.putAll(["a/1", "a/2", "b/1"]);
  const first = await move(drive, { from_prefix: "a/", to_prefix: "b/" });
  assertEquals([first.done, first.failed.map(({ name, code }) => [name, code])], [
    ["a/2"],
    [["a/1", "file_exists"]],
  ]);
  assertEquals(await drive.text("b/1"), "b/1");
  await move(drive, { from_prefix: "a/", to_prefix: "b/", overwrite: true });
  assertEquals(await drive.names(), ["b/1", "b/2"]);
  assertEquals(await drive.text("b/1"), "a/1");
});

test("A name that the target cannot have is a failure.", async (drive) => {
  await drive.putAll(["a", "ab"]);
  const other = drive.another("other");
  const body = { from_prefix: "a", to_prefix: "", to_drive: other.name };
  const { done, failed } = await copy(drive, body);
  assertEquals([done, failed.map(({ name, code }) => [name, code])], [
    ["ab"],
    [["a", "invalid_file_name"]],
  ]);
});

test("A folder may go up; what would come to lie in it again stays.", async (drive) => {
  await drive.putAll(["a/a/b", "a/a/a/c", "a/d"]);
  const { done, failed } = await move(drive, { from_prefix: "a/a/", to_prefix: "a/" });
  assertEquals([done, failed.map(({ name, code }) => [name, code])], [
    ["a/a/b"],
    [["a/a/a/c", "invalid_file_name"]],
  ]);
  assertEquals(await drive.names(), ["a/a/a/c", "a/b", "a/d"]);
  await move(drive, { from_prefix: "a/", to_prefix: "" });
  assertEquals(await drive.names(), ["a/a/a/c", "b", "d"]);
});

test("Deleted folders are restored from the trash.", async ({ server }) => {
  // The other suites have a project without a trash.
  const project = await Project.make(server);
  (await project.call("PATCH", "", { body: { trash_days: 7 } })).expect(200);
  const drive = project.drive("photos");
  await drive.put("trip/a", "old");
  await drive.putAll([...NAMES, "z"]);
  await createFolder(drive, "trip/empty/");
  const { deleted } = await remove(drive, { prefix: "trip/" });
  assertEquals(deleted, [...NAMES, "trip/empty/"]);
  assertEquals(await drive.names(), ["z"]);
  assertEquals(await folders(drive), []);
  await drive.delete(["z"]);
  await drive.put("trip/e", "new");
  const answers = await repeat((last) =>
    call<{ restored: string[]; failed: unknown[]; paging?: { size: number; last: string } }>(
      drive,
      "POST",
      "/trash/restore",
      { prefix: "trip/", limit: 2, ...last },
    )
  );
  assertEquals(answers.flatMap(({ restored }) => restored).length, 3);
  assertEquals(answers.flatMap(({ failed }) => failed), []);
  assertEquals(await drive.names(), NAMES);
  assertEquals(await drive.text("trip/a"), "trip/a");
  assertEquals(await drive.text("trip/e"), "new");
});

test("Which names exist is one call; a slash asks for a folder.", async (drive) => {
  await drive.putAll(["a", "d/x"]);
  await createFolder(drive, "empty/");
  const names = ["none", "a", "d/", "d", "empty/", "a/", "a"];
  const found = await call(drive, "POST", "/files/exist", { names });
  assertEquals(found, { names: ["a", "d/", "empty/"] });
  for (const body of [{}, { names: [] }, { names: [1] }, { names: ["\0"] }, { names: ["", "a"] }]) {
    const options = { body: JSON.stringify(body) };
    assertErrorAnswer((await drive.send("POST", "/files/exist", options)).expect(400));
  }
});

test("A folder is measured with all that is in it.", async (drive) => {
  await drive.put("d/a", "12345");
  await drive.put("d/e/b", "123");
  await drive.put("x", "1");
  const sizeOf = async (prefix: string) =>
    (await drive.send("GET", `/files/size${query({ prefix })}`)).expect(200).json;
  assertEquals(await sizeOf("d/"), { files: 2, bytes: 8 });
  assertEquals(await sizeOf(""), { files: 3, bytes: 9 });
  assertEquals(await sizeOf("none/"), { files: 0, bytes: 0 });
});

test("Malformed calls are refused, and change nothing.", async (drive) => {
  await drive.putAll(NAMES);
  const cases: [string, string, unknown, string][] = [
    ["POST", "/files/move", { from_prefix: "trip/" }, "to_prefix"],
    ["POST", "/files/move", { to_prefix: "trip/" }, "from_prefix"],
    ["POST", "/files/move", { from_prefix: "trip/", to_prefix: "trip/b/" }, "into itself"],
    ["POST", "/files/copy", { from_prefix: "trip/", to_prefix: "trip/" }, "into itself"],
    ["POST", "/files/copy", { from_prefix: "", to_prefix: "x/" }, "into itself"],
    ["POST", "/files/move", { from_prefix: "trip/", to_prefix: "x/", from: "a" }, "from"],
    ["POST", "/files/move", { from_prefix: "trip/", to_prefix: "x/", items: [] }, "items"],
    ["POST", "/files/move", { from: "trip/a", to: "x", last: "a" }, "last"],
    ["POST", "/files/move", { from_prefix: "trip/", to_prefix: "x/", limit: 0 }, "limit"],
    ["POST", "/files/move", { from_prefix: "trip/", to_prefix: "x/", limit: 1001 }, "limit"],
    ["POST", "/files/move", { from_prefix: "tr\0", to_prefix: "x/" }, "NUL"],
    ["DELETE", "/files", { prefix: "" }, "empty"],
    ["DELETE", "/files", { prefix: "trip/", names: ["trip/a"] }, "prefix"],
    ["DELETE", "/files?names=trip/a", { prefix: "trip/" }, "prefix"],
    ["DELETE", "/files", { names: ["trip/a"], last: "a" }, "last"],
    ["POST", "/trash/restore", { prefix: "trip/", ids: ["a"] }, "ids"],
    ["POST", "/trash/restore", { prefix: "trip/", overwrite: true }, "overwrite"],
    ["POST", "/trash/restore", { ids: ["a"], last: "a" }, "last"],
  ];
  for (const [method, path, body, says] of cases) {
    await drive.unchangedBy(async () => {
      const answer = await drive.send(method, path, { body: JSON.stringify(body) });
      assertErrorAnswer(answer.expect(400));
      assertStringIncludes(answer.text, says);
    });
  }
  const headers = { "If-Match": "*" };
  const body = JSON.stringify({ from_prefix: "trip/", to_prefix: "x/" });
  (await drive.send("POST", "/files/move", { headers, body })).expect(400);
});

test("A key needs list as well, and keeps to its prefix and drives.", async ({ server }) => {
  const project = await Project.make(server);
  const drive = project.drive("d");
  await drive.putAll(["in/a", "out/a"]);
  const as = async (limits: unknown) =>
    project.with((await project.makeKey(limits)).project_key).drive("d");
  const codeOf = async (key: Drive, method: string, path: string, body: unknown) =>
    (await key.send(method, path, { body: JSON.stringify(body) })).expect(403).code;
  const blind = await as({ permissions: ["read", "write", "delete"] });
  const into = { from_prefix: "in/", to_prefix: "x/" };
  assertEquals(await codeOf(blind, "POST", "/files/move", into), "missing_permission");
  assertEquals(await codeOf(blind, "DELETE", "/files", { prefix: "in/" }), "missing_permission");
  assertEquals(
    await codeOf(blind, "POST", "/trash/restore", { prefix: "in/" }),
    "missing_permission",
  );
  assertEquals(
    await codeOf(blind, "POST", "/files/exist", { names: ["in/a"] }),
    "missing_permission",
  );
  const limited = await as({ name_prefix: "in/", drives: ["d"] });
  assertEquals(await codeOf(limited, "POST", "/files/move", into), "key_limited");
  const from = { from_prefix: "out/", to_prefix: "in/" };
  assertEquals(await codeOf(limited, "POST", "/files/copy", from), "key_limited");
  assertEquals(await codeOf(limited, "DELETE", "/files", { prefix: "i" }), "key_limited");
  assertEquals(await codeOf(limited, "POST", "/trash/restore", { prefix: "" }), "key_limited");
  assertEquals(await codeOf(limited, "POST", "/files/exist", { names: ["out/a"] }), "key_limited");
  const away = { from_prefix: "in/", to_prefix: "in/", to_drive: "e" };
  assertEquals(await codeOf(limited, "POST", "/files/move", away), "key_limited");
  const size = (await limited.send("GET", "/files/size")).expect(200).json;
  assertEquals(size, { files: 1, bytes: 4 });
  assertEquals(await drive.names(), ["in/a", "out/a"]);
  await call(limited, "POST", "/files/move", { from_prefix: "in/a", to_prefix: "in/b" });
  assertEquals(await drive.names(), ["in/b", "out/a"]);
});

test("Changes of others beside a move lose nothing.", async (drive) => {
  const names = Array.from({ length: 60 }, (_, i) => `a/${String(i).padStart(2, "0")}`);
  await drive.putAll(names);
  const moving = repeat((last) =>
    move(drive, { from_prefix: "a/", to_prefix: "b/", limit: 10, ...last })
  );
  const back = repeat((last) =>
    move(drive, { from_prefix: "b/", to_prefix: "a/", limit: 7, ...last })
  );
  await Promise.all([moving, back]);
  const left = (await drive.names()).map((name) => name.slice(2)).sort();
  assertEquals(left, names.map((name) => name.slice(2)));
  assertEquals((await drive.usage())?.files, 60);
});
