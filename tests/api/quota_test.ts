import { assert, assertEquals, assertMatch } from "@std/assert";
import { administer, ADMINISTERED, Project, PROJECTS } from "../support/admin.ts";
import type { Answer } from "../support/answer.ts";
import { patternBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { type Drive, drives, query, Upload } from "../support/drive.ts";
import { rawRequest, sendRaw } from "../support/raw.ts";
import { TestServer } from "../support/server.ts";
import { assertErrorAnswer, suite } from "../support/suite.ts";

const test = suite("Quotas", { ...ADMINISTERED, twin: true });

/** A project with a limit, and a drive of it. */
async function limited(
  server: TestServer,
  max_bytes: number | null,
): Promise<{ project: Project; drive: Drive }> {
  const project = await Project.make(server, { max_bytes });
  return { project, drive: project.drive("drive") };
}

async function limit(project: Project, max_bytes: number | null): Promise<Answer> {
  return (await project.call("PATCH", "", { body: { max_bytes } })).expect(200);
}

/** Returns the answer with any status. */
async function send(
  drive: Drive,
  name: string,
  size: number,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const body = patternBytes(size);
  return await drive.send("POST", `/files${query({ name })}`, { body, headers });
}

/** Fails unless an answer is 507 and names what is used, what is allowed and what was needed. */
function assertFull(answer: Answer, used: number, max: number, more: number): string {
  assertErrorAnswer(answer.expect(507));
  const [sentence = ""] = answer.errors;
  assertMatch(
    sentence,
    /^The project has [\d.]+ k?M?G?B of its [\d.]+ k?M?G?B in use and cannot take /,
  );
  const numbers = ` more (${used} of ${max} bytes, ${more} more): `;
  assert(sentence.includes(numbers), sentence);
  assertEquals(answer.headers.get("Retry-After"), null);
  return sentence.slice(sentence.indexOf(numbers) + numbers.length);
}

async function bytesOf(project: Project): Promise<number> {
  const { bytes } = (await project.call("GET", "")).expect(200).json as { bytes: number };
  return bytes;
}

test("The limit of a project is in each of its representations, also for the owner.", async ({ server }) => {
  const { project } = await limited(server, 1_000_000);
  const owned = { as: project.owner };
  const told = async () => {
    const list = (await administer(server, "GET", PROJECTS)).json as {
      projects: { project_id: string; max_bytes: number | null }[];
    };
    return [
      list.projects.find(({ project_id }) => project_id === project.id)?.max_bytes,
      ((await project.call("GET", "")).json as { max_bytes: number }).max_bytes,
      ((await project.call("GET", "", owned)).json as { max_bytes: number }).max_bytes,
    ];
  };
  assertEquals(await told(), [1_000_000, 1_000_000, 1_000_000]);
  const { disk: _, ...changed } = (await limit(project, 5)).json as { disk: unknown };
  const { disk: __, ...shown } = (await project.call("GET", "")).json as { disk: unknown };
  assertEquals(changed, shown);
  assertEquals(await told(), [5, 5, 5]);
  await limit(project, Number.MAX_SAFE_INTEGER);
  assertEquals((await told())[0], Number.MAX_SAFE_INTEGER);
  await limit(project, null);
  assertEquals(await told(), [null, null, null]);
});

test("Only the administrator sets a limit, and only one that makes sense.", async ({ server }) => {
  const { project } = await limited(server, 1000);
  const body = { max_bytes: 2000 };
  const byOwner = await project.call("PATCH", "", { as: project.owner, body });
  assertErrorAnswer(byOwner.expect(403));
  const bad = [0, -1, 0.5, 2 ** 53, "1000", "10GB", true, [], {}].map((max) => ({
    max_bytes: max,
  }));
  for (const body of [...bad, {}, undefined, { max_bytes: 1, size: "a" }, [], "{"]) {
    const answer = await project.call("PATCH", "", { body });
    assertErrorAnswer(answer.expect(400));
    assertMatch(answer.errors.join(), /"max_bytes"/);
  }
  for (const id of ["unknown", "x".repeat(65), "a_b"]) {
    assertErrorAnswer(
      (await administer(server, "PATCH", `${PROJECTS}/${id}`, { body })).expect(404),
    );
  }
  const shown = (await project.call("GET", "")).json as { max_bytes: number };
  assertEquals(shown.max_bytes, 1000);
  const put = await project.call("PUT", "", { body });
  assertEquals(put.expect(405).header("Allow"), "GET, PATCH, DELETE, HEAD, OPTIONS");
});

test("A file that does not fit is 507, and nothing of it is stored.", async ({ server }) => {
  const { drive } = await limited(server, 1000);
  await drive.put("a", patternBytes(900));
  const advice = assertFull(
    await drive.unchangedBy(() => send(drive, "b", 600)),
    900,
    1000,
    600,
  );
  assertEquals(
    advice,
    "delete files, empty the trash, abort open uploads or ask the administrator for more; nothing was stored",
  );
  assertFull(await drive.unchangedBy(() => send(drive, "a", 1001)), 900, 1000, 101);
  const chunked = new Blob([patternBytes(101)]).stream();
  const path = `/files${query({ name: "b" })}`;
  assertFull(await drive.send("POST", path, { body: chunked }), 900, 1000, 101);
  await drive.put("b", patternBytes(100));
  await drive.put("empty", "");
  await drive.put("a", patternBytes(900, 2));
  assertFull(await send(drive, "c", 1), 1000, 1000, 1);
  await drive.delete(["a"]);
  await drive.put("c", patternBytes(900));
});

test("All drives of a project count, and no other project.", async ({ server }) => {
  const { project, drive } = await limited(server, 1000);
  const other = await limited(server, 1000);
  await drive.put("a", patternBytes(500));
  await project.drive("second").put("a", patternBytes(500));
  assertFull(await send(project.drive("third"), "a", 1), 1000, 1000, 1);
  await other.drive.put("a", patternBytes(1000));
  await project.drive("third").put("empty", "");
  assertEquals((await drives(server, { project: project.id, key: project.key })).size, 3);
});

test("A limit below the current usage deletes nothing and refuses further files.", async ({ server }) => {
  const { project, drive } = await limited(server, null);
  await drive.put("a", patternBytes(600));
  await drive.put("b", patternBytes(400));
  await limit(project, 100);
  assertFull(await send(drive, "c", 1), 1000, 100, 1);
  await drive.put("a", patternBytes(600, 2));
  await drive.put("a", patternBytes(10));
  assertFull(await send(drive, "a", 11), 410, 100, 1);
  await drive.delete(["b"]);
  await drive.put("c", patternBytes(90));
  await limit(project, null);
  await drive.put("d", patternBytes(5000));
  assertEquals(await bytesOf(project), 5100);
});

test("A condition that does not hold is 412, also without room for the file.", async ({ server }) => {
  const { drive } = await limited(server, 100);
  await drive.put("a", patternBytes(100));
  const headers = { "If-None-Match": "*" };
  (await send(drive, "a", 200, headers)).expect(412);
  (await send(drive, "b", 200, { "If-Match": '"x"' })).expect(412);
  (await send(drive, "b", 200, headers)).expect(507);
});

test("A body with too large a Content-Length is refused before its bytes are read.", async ({ server }) => {
  const { project, drive } = await limited(server, 1000);
  const upload = await Upload.start(drive, "large");
  const root = `/v1/${project.id}/drive`;
  const targets = [
    `${root}/files?name=a`,
    `${root}/uploads/${upload.id}/parts?name=large&part=1`,
  ];
  for (const target of targets) {
    const headers = { "X-Api-Key": project.key, "Content-Length": "1001" };
    const answer = await sendRaw(server.port, rawRequest("POST", target, headers));
    assertFull(answer, 0, 1000, 1001);
  }
  const unknownUpload = `${root}/uploads/${"0".repeat(26)}/parts?name=large&part=1`;
  const headers = { "X-Api-Key": project.key, "Content-Length": "1001" };
  (await sendRaw(server.port, rawRequest("POST", unknownUpload, headers))).expect(404);
});

test("Parts count as they arrive, and are refused once they do not fit.", async ({ server }) => {
  const { project, drive } = await limited(server, 15_000_000);
  await drive.put("film", patternBytes(1_000_000));
  const upload = await Upload.start(drive, "film");
  (await upload.send(1, patternBytes(7_000_000))).expect(200);
  (await upload.send(2, patternBytes(7_000_000))).expect(200);
  assertEquals(await usageOf(project), [1_000_000, 14_000_000]);
  assertFull(await upload.send(3, patternBytes(1)), 15_000_000, 15_000_000, 1);
  const chunked = new Blob([patternBytes(10)]).stream();
  assertFull(await upload.send(3, chunked), 15_000_000, 15_000_000, 10);
  assertFull(await send(drive, "other", 1), 15_000_000, 15_000_000, 1);
  (await upload.send(2, patternBytes(6_000_000))).expect(200);
  (await upload.send(3, patternBytes(1_000_000))).expect(200);
  (await upload.complete()).expect(200);
  (await upload.complete()).expect(200);
  assertEquals(await usageOf(project), [14_000_000, 0]);
  await drive.put("more", patternBytes(1_000_000));
  assertFull(await send(drive, "one more", 1), 15_000_000, 15_000_000, 1);
});

test("Open uploads count against the limit, and aborting one frees its bytes.", async ({ server }) => {
  const { project, drive } = await limited(server, 6_000_000);
  const uploads = await Promise.all(
    Array.from({ length: 12 }, (_, i) => Upload.start(drive, `${i}`)),
  );
  const answers = await Promise.all(uploads.map((one) => one.send(1, patternBytes(1_000_000))));
  const taken = uploads.filter((_, i) => answers[i]?.status === 200);
  for (const { status } of answers) assert(status === 200 || status === 507, `${status}`);
  assertEquals([taken.length, await usageOf(project)], [6, [0, 6_000_000]]);
  assertFull(await send(drive, "file", 1), 6_000_000, 6_000_000, 1);
  for (const one of taken) (await one.abort()).expect(200);
  assertEquals(await usageOf(project), [0, 0]);
  await drive.put("file", patternBytes(6_000_000));
});

test("A limit that is set counts what open uploads hold.", async ({ server }) => {
  const { project, drive } = await limited(server, null);
  await drive.put("file", patternBytes(300));
  const upload = await Upload.start(drive, "open");
  (await upload.send(1, patternBytes(700))).expect(200);
  const shown = (await limit(project, 1000)).json as { open_upload_bytes: number };
  assertEquals(shown.open_upload_bytes, 700);
  assertFull(await send(drive, "more", 1), 1000, 1000, 1);
  await limit(project, 500);
  (await upload.complete()).expect(200);
  assertFull(await send(drive, "more", 1), 1000, 500, 1);
});

/** The bytes of a project's files, and of its open uploads. */
async function usageOf(project: Project): Promise<[number, number]> {
  const shown = (await project.call("GET", "")).expect(200).json as {
    bytes: number;
    open_upload_bytes: number;
  };
  return [shown.bytes, shown.open_upload_bytes];
}

test("A drive that is deleted makes room.", async ({ server }) => {
  const { project, drive } = await limited(server, 1000);
  await drive.put("a", patternBytes(1000));
  (await project.call("DELETE", "/drives/drive")).expect(202);
  await project.drive("next").put("a", patternBytes(1000));
  assertFull(await send(project.drive("next"), "b", 1), 1000, 1000, 1);
});

test("Of many files at once exactly as many are stored as fit.", async ({ server }) => {
  const { project, drive } = await limited(server, 20_999);
  const names = Array.from({ length: 64 }, (_, i) => `${i}`);
  const answers = await Promise.all(names.map((name) => send(drive, name, 1000)));
  const statuses = answers.map(({ status }) => status);
  assertEquals(statuses.filter((status) => status === 201).length, 20);
  assertEquals(statuses.filter((status) => status === 507).length, 44);
  assertEquals(await drive.usage(), { files: 20, bytes: 20_000 });
  assertEquals(await bytesOf(project), 20_000);
});

Deno.test("Two servers on one store exceed a limit by what they write at once, and no more.", async () => {
  await using folder = await Folder.make();
  const options = { ...ADMINISTERED, data: folder.path };
  await using first = await TestServer.start(options);
  await using second = await TestServer.start(options);
  const { project } = await limited(first, 100_999);
  const sides = [project, new Project(second, project.id, project.key)].map((one) => {
    return one.drive("drive");
  });
  const side = (i: number) => sides[i % 2] ?? sides[0] as Drive;
  const round = async (prefix: string, size: number) => {
    const names = Array.from({ length: 120 }, (_, i) => `${prefix}${i}`);
    const answers = await Promise.all(names.map((name, i) => send(side(i), name, size)));
    for (const { status } of answers) assert(status === 201 || status === 507, `${status}`);
    return names.filter((_, i) => answers[i]?.status === 201);
  };
  const stored = await round("a", 1000);
  assert(stored.length >= 100, `${stored.length} files were stored`);
  assertEquals(await bytesOf(project), 1000 * stored.length);
  assertEquals(await round("b", 1000), []);
  await Promise.all(stored.map((name, i) => side(i).delete([name])));
  assertEquals(await bytesOf(project), 0);
  const again = await round("c", 2000);
  assert(again.length >= 50, `${again.length} files were stored`);
  const used = await bytesOf(project);
  assertEquals(used, 2000 * again.length);
  await limit(project, used + 999);
  assertFull(await send(side(1), "d", 1000), used, used + 999, 1000);
  (await send(side(0), "d", 999)).expect(201);
  for (const server of [first, second]) {
    assertEquals(/locked|^\s+at .*:\d+:\d+/m.test(server.text), false, server.text);
  }
});

test("Copies beyond the limit are refused one by one, and are no errors of the server.", async ({ server }) => {
  const { drive } = await limited(server, 25);
  (await send(drive, "a", 10)).expect(201);
  const items = ["b", "c", "d"].map((to) => ({ from: "a", to }));
  const { done, failed } = (await drive.send("POST", "/files/copy", {
    body: JSON.stringify({ items }),
  })).expect(200).json as { done: string[]; failed: { error: string }[] };
  assertEquals([done.length, failed.length], [1, 2]);
  for (const { error } of failed) assertMatch(error, /^The project has /);
  assertEquals((await drive.usage())?.bytes, 20);
  assertEquals(server.text.includes("QuotaExceeded"), false, server.text);
});

/** Fails unless an answer is 507 and names how many files there are and may be. */
function assertTooMany(answer: Answer, used: number, max: number): void {
  assertErrorAnswer(answer.expect(507));
  assertEquals(answer.errors.map((text) => text.replace(/; [^;]*$/, "")), [
    `The project has ${used} of its ${max} files, those in the trash included, and cannot take 1 more: ` +
    "delete files, empty the trash or ask the administrator for more",
  ]);
}

/** A project that may have two files, and has one. */
async function almostFull(server: TestServer): Promise<{ project: Project; drive: Drive }> {
  const project = await Project.make(server, { max_files: 2 });
  const drive = project.drive("drive");
  await drive.put("a", "1");
  return { project, drive };
}

/** A call with JSON. */
function post(drive: Drive, path: string, body: object): Promise<Answer> {
  return drive.send("POST", path, { body: JSON.stringify(body) });
}

test("No way to a further file is open beyond the limit of files.", async ({ server }) => {
  const { project, drive } = await almostFull(server);
  await project.drive("other").put("b", "2");
  const upload = await Upload.start(drive, "c");
  assertTooMany(await upload.complete(), 2, 2);
  assertTooMany(await send(drive, "c", 0), 2, 2);
  assertTooMany(await post(drive, "/files/copy", { from: "a", to: "c" }), 2, 2);
  const { failed } = (await post(drive, "/files/copy", { items: [{ from: "a", to: "c" }] }))
    .expect(200).json as { failed: { error: string }[] };
  assertMatch(failed[0]?.error ?? "", /^The project has 2 of its 2 files/);
  const { files, max_files } = (await project.call("GET", "")).json as Record<string, unknown>;
  assertEquals([files, max_files], [2, 2]);
  // Folders are no files. What is there can be written again, moved, and replaced.
  (await post(drive, "/folders", { name: "d/" })).expect(201);
  await drive.put("a", "3");
  (await post(drive, "/files/move", { from: "a", to: "e" })).expect(200);
  (await drive.send("PATCH", `/files${query({ name: "e" })}`, {
    body: JSON.stringify({ content_type: "text/css" }),
  })).expect(200);
  const replacing = await Upload.start(drive, "e");
  (await replacing.complete()).expect(200);
  await drive.delete(["e"]);
  (await upload.complete()).expect(200);
  assertTooMany(await send(drive, "f", 1), 2, 2);
});

test("The trash counts towards the limit of files.", async ({ server }) => {
  const { project, drive } = await almostFull(server);
  (await project.call("PATCH", "", { body: { trash_days: 1 } })).expect(200);
  await drive.delete(["a"]);
  await drive.put("b", "2");
  assertTooMany(await send(drive, "b", 1), 2, 2);
  const { items } = (await drive.send("GET", "/trash")).json as { items: { id: string }[] };
  const ids = items.map(({ id }) => id);
  assertEquals((await post(drive, "/trash/restore", { ids })).expect(200).json, {
    restored: ids,
    failed: [],
  });
  await drive.delete(["a", "b"]);
  assertTooMany(await send(drive, "c", 1), 2, 2);
  (await drive.send("DELETE", "/trash", { body: JSON.stringify({ all: true }) })).expect(200);
  await drive.put("c", "1");
});

test("Of many new files at once exactly as many are stored as are allowed.", async ({ server }) => {
  const project = await Project.make(server, { max_files: 7 });
  const drive = project.drive("drive");
  const names = Array.from({ length: 40 }, (_, i) => `${i}`);
  const answers = await Promise.all(names.map((name) => send(drive, name, 10)));
  assertEquals(answers.filter(({ status }) => status === 201).length, 7);
  assertEquals(answers.filter(({ status }) => status === 507).length, 33);
  (await project.call("PATCH", "", { body: { max_files: 3 } })).expect(200);
  assertTooMany(await send(drive, "new", 1), 7, 3);
  (await project.call("PATCH", "", { body: { max_files: null } })).expect(200);
  await drive.put("new", "1");
});
