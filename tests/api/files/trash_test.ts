import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { administer, ADMINISTERED, Project, PROJECTS, withKey } from "../../support/admin.ts";
import { patternBytes } from "../../support/bytes.ts";
import { type Drive, query } from "../../support/drive.ts";
import { PROJECT_ID, PROJECT_KEY } from "../../support/server.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("The trash", { ...ADMINISTERED, twin: true });

interface Item {
  id: string;
  name: string;
  size: number;
  content_type: string;
  deleted: string;
  expires: string;
  reason: string;
}

interface Page {
  items: Item[];
  paging?: { size: number; last: string };
}

const DAY = 86_400_000;

async function setTrash({ server }: Drive, days: number): Promise<void> {
  const options = { body: { trash_days: days }, as: withKey(PROJECT_KEY) };
  (await administer(server, "PATCH", `${PROJECTS}/${PROJECT_ID}`, options)).expect(200);
}

async function list(drive: Drive, parameters: Record<string, string | number> = {}): Promise<Page> {
  return (await drive.send("GET", `/trash${query(parameters)}`)).expect(200).json as Page;
}

async function restore(drive: Drive, body: unknown): Promise<unknown> {
  const answer = await drive.send("POST", "/trash/restore", { body: JSON.stringify(body) });
  return answer.expect(200).json;
}

async function empty(drive: Drive, body: unknown): Promise<unknown> {
  const answer = await drive.send("DELETE", "/trash", { body: JSON.stringify(body) });
  return answer.expect(200).json;
}

test("It is off at first, and the owner turns it on.", async (drive) => {
  await drive.put("a", "abc");
  await drive.delete(["a"]);
  assertEquals(await list(drive), { items: [] });
  await setTrash(drive, 30);
  await drive.put("a", "abc", { "Content-Type": "x/y" });
  await drive.put("a", "abcd");
  await drive.delete(["a", "none"]);
  const { items } = await list(drive);
  assertEquals(items.map(({ name, size, reason }) => [name, size, reason]), [
    ["a", 4, "deleted"],
    ["a", 3, "replaced"],
  ]);
  for (const { deleted, expires } of items) {
    assertMatch(deleted, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assertEquals(Date.parse(expires) - Date.parse(deleted), 30 * DAY);
  }
  assertEquals(items[1]?.content_type, "x/y");
  (await drive.get("a")).expect(404);
  assertEquals(await drive.usage(), { files: 0, bytes: 0 });
});

test("The project's answers show what is in it.", async (drive) => {
  const project = await Project.make(drive.server);
  const photos = project.drive("photos");
  const patch = (trash_days: number) => project.call("PATCH", "", { body: { trash_days } });
  const show = async () =>
    (await project.call("GET", "")).expect(200).json as Record<string, number>;
  (await patch(5)).expect(200);
  await photos.put("a", "abc");
  await photos.delete(["a"]);
  const { trash_days, trash_files, trash_bytes, files, bytes } = await show();
  assertEquals([trash_days, trash_files, trash_bytes, files, bytes], [5, 1, 3, 0, 0]);
  (await patch(0)).expect(200);
  for (let tries = 0; (await show()).trash_files !== 0; tries++) {
    assert(tries < 600, "The trash is emptied in the background");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});

test("Only whole days from 0 to 365 are accepted, and quotas stay the administrator's.", async (drive) => {
  const path = `${PROJECTS}/${PROJECT_ID}`;
  for (const trash_days of [-1, 366, 1.5, "7", null, true]) {
    const answer = await administer(drive.server, "PATCH", path, { body: { trash_days } });
    assertErrorAnswer(answer.expect(400));
  }
  for (const body of [{ trash_days: 7, max_bytes: 1 }, { host_suffix: "a.example" }]) {
    const options = { body, as: withKey(PROJECT_KEY) };
    const answer = await administer(drive.server, "PATCH", path, options);
    assertErrorAnswer(answer.expect(403));
  }
});

test("Items are restored under other names.", async (drive) => {
  await setTrash(drive, 7);
  await drive.put("renamed.txt", "old");
  await drive.delete(["renamed.txt"]);
  await drive.put("renamed.txt", "new");
  const { items } = (await drive.send("GET", "/trash?prefix=renamed")).json as {
    items: { id: string }[];
  };
  const [id] = items.map((item) => item.id);
  const ask = (names: unknown) =>
    drive.send("POST", "/trash/restore", { body: JSON.stringify({ ids: [id], names }) });
  for (const wrong of [[], ["a", "b"], ["a/"], [1], "a"]) (await ask(wrong)).expect(400);
  assertEquals((await ask(["renamed (2).txt"])).json, { restored: [id], failed: [] });
  assertEquals(
    [await drive.text("renamed.txt"), await drive.text("renamed (2).txt")],
    ["new", "old"],
  );
});

test("Items are restored under their names, unless these are taken.", async (drive) => {
  await setTrash(drive, 7);
  const content = patternBytes(200_000);
  await drive.put("a", content, { "Content-Type": "x/y" });
  const [before] = await drive.details();
  await drive.delete(["a"]);
  const [first] = (await list(drive)).items;
  assert(first !== undefined);
  assertEquals(await restore(drive, { ids: [first.id] }), { restored: [first.id], failed: [] });
  assertEquals(await drive.details(), [before]);
  await drive.put("a", "new");
  const [old] = (await list(drive)).items;
  assert(old !== undefined);
  const refused = await restore(drive, { ids: [old.id, "unknown"] });
  const { restored, failed } = refused as { restored: string[]; failed: Record<string, string>[] };
  assertEquals([restored, failed.map(({ id }) => id)], [[], [old.id, "unknown"]]);
  assertMatch(failed[0]?.["error"] ?? "", /overwrite/);
  assertEquals(await drive.text("a"), "new");
  assertEquals(await restore(drive, { ids: [old.id], overwrite: true }), {
    restored: [old.id],
    failed: [],
  });
  assertEquals((await drive.get("a")).expect(200).bytes, content);
  assertEquals((await list(drive)).items.map(({ size }) => size), [3]);
});

test("Items are deleted for good by their ids, or all at once.", async (drive) => {
  await setTrash(drive, 7);
  const names = Array.from({ length: 30 }, (_, i) => `file-${i}`);
  await drive.putAll(names);
  await drive.delete(names);
  const { items } = await list(drive);
  const ids = items.slice(0, 3).map(({ id }) => id);
  assertEquals(await empty(drive, { ids: [...ids, ids[0], "unknown"] }), { deleted: 3 });
  assertEquals(await empty(drive, { all: true }), { deleted: 27 });
  assertEquals(await empty(drive, { all: true }), { deleted: 0 });
  assertEquals(await list(drive), { items: [] });
});

test("It is listed in pages, also those of a prefix.", async (drive) => {
  await setTrash(drive, 7);
  const names = Array.from({ length: 25 }, (_, i) => `${i % 2 === 0 ? "even" : "odd"}/${i}`);
  for (const name of names) {
    await drive.put(name, name);
    await drive.delete([name]);
  }
  for (const prefix of ["", "even/"]) {
    const found: string[] = [];
    for (let last: string | undefined = ""; last !== undefined;) {
      const page: Page = await list(drive, { limit: 4, last, prefix });
      assertEquals(page.paging === undefined || page.paging.size === page.items.length, true);
      found.push(...page.items.map(({ name }) => name));
      last = page.paging?.last;
    }
    assertEquals(found, names.filter((name) => name.startsWith(prefix)).reverse());
  }
  assertEquals((await list(drive, { last: "unknown", limit: 100 })).items.length <= 25, true);
});

test("There is paging if and only if there is a further page.", async ({ server }) => {
  const project = await Project.make(server);
  (await project.call("PATCH", "", { body: { trash_days: 7 } })).expect(200);
  const drive = project.drive("photos");
  for (const name of ["b1", "b2", "a1"]) {
    await drive.put(name, name);
    await drive.delete([name]);
  }
  const names = ({ items }: Page) => items.map(({ name }) => name);
  const { project_key } = await project.makeKey({ name_prefix: "a" });
  const limited = project.with(project_key).drive("photos");
  for (
    const only of [await list(drive, { prefix: "a", limit: 1 }), await list(limited, { limit: 1 })]
  ) {
    assertEquals([names(only), only.paging], [["a1"], undefined]);
  }
  const first = await list(drive, { prefix: "b", limit: 1 });
  assertEquals([names(first), first.paging?.size], [["b2"], 1]);
  const second = await list(drive, { prefix: "b", limit: 1, last: first.paging?.last ?? "" });
  assertEquals([names(second), second.paging], [["b1"], undefined]);
});

test("A file that expires in the trash is absent there, too, from its deadline on.", async ({ server }) => {
  const project = await Project.make(server, { max_bytes: 10 });
  (await project.call("PATCH", "", { body: { trash_days: 3 } })).expect(200);
  const drive = project.drive("photos");
  const show = async () => {
    const { trash_files, trash_bytes } = (await project.call("GET", "")).expect(200).json as Record<
      string,
      number
    >;
    return [trash_files, trash_bytes];
  };
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) {
    const path = `/files${query({ name, expires_in: 4 })}`;
    (await drive.send("POST", path, { body: "abc" })).expect(201);
    await drive.delete([name]);
    ids.push((await list(drive)).items[0]?.id ?? "");
  }
  assertEquals(await show(), [3, 9]);
  assertErrorAnswer((await drive.send("POST", "/files?name=d", { body: "abc" })).expect(507));
  await delay(4020);
  assertEquals(await list(drive), { items: [] });
  assertEquals(await empty(drive, { ids: [ids[0]] }), { deleted: 0 });
  assertEquals(await empty(drive, { all: true }), { deleted: 0 });
  assertEquals(await show(), [0, 0]);
  await drive.put("d", "abcdefgh");
});

const BAD: [method: string, path: string, body: unknown][] = [
  ["POST", "/trash/restore", {}],
  ["POST", "/trash/restore", { ids: [] }],
  ["POST", "/trash/restore", { ids: [1] }],
  ["POST", "/trash/restore", { ids: ["a"], overwrite: 1 }],
  ["POST", "/trash/restore", { ids: Array.from({ length: 1001 }, () => "a") }],
  ["DELETE", "/trash", {}],
  ["DELETE", "/trash", { all: false }],
  ["DELETE", "/trash", { all: true, ids: ["a"] }],
  ["DELETE", "/trash", { ids: "a" }],
  ["GET", "/trash?limit=0", undefined],
];

test("Other bodies are refused, and change nothing.", async (drive) => {
  await setTrash(drive, 7);
  await drive.put("a", "abc");
  await drive.delete(["a"]);
  for (const [method, path, body] of BAD) {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    assertErrorAnswer((await drive.send(method, path, sent)).expect(400));
  }
  assertEquals((await list(drive)).items.length, 1);
});

test("A drive without a trash, or that does not exist, lists none.", async (drive) => {
  // Other suites share the project, and expect none either.
  await setTrash(drive, 0);
  assertEquals(await list(drive), { items: [] });
  assertEquals(await list(drive.another("nothing")), { items: [] });
});
