import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { equals } from "@std/bytes/equals";
import { assertNoTraceOf } from "../../faults/support/audit/store_audit.ts";
import { administer, ADMINISTERED, Project, PROJECTS, withKey } from "../../support/admin.ts";
import type { Answer } from "../../support/answer.ts";
import { assertSameBytes, KIB, MIB, patternBytes, utf8 } from "../../support/bytes.ts";
import { assertFiles, type Drive, query, Upload, uploadParts } from "../../support/drive.ts";
import { GatedBody, PacedDownload } from "../../support/paced_body.ts";
import { TestServer } from "../../support/server.ts";
import { assertErrorAnswer } from "../../support/suite.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const LARGE = patternBytes(25 * MIB, 1);
const MIDDLE = patternBytes(5 * MIB, 2);
const SMALL = patternBytes(5 * KIB, 3);

/** A project with files of every layout, an open upload, an application and its keys. */
async function fill(project: Project): Promise<void> {
  const drive = project.drive("photos");
  await drive.put("small", SMALL);
  await drive.put("middle", MIDDLE);
  await uploadParts(
    drive,
    "large",
    [0, 10, 20].map((at) => LARGE.slice(at * MIB, (at + 10) * MIB)),
  );
  await drive.putAll(Array.from({ length: 40 }, (_, i) => `many/${i}`));
  const upload = await Upload.start(drive, "open");
  (await upload.send(1, MIDDLE)).expect(200);
  const app = await project.makeProtectedApp("notes");
  (await project.call("PATCH", app, { body: { host: `${project.id}.example` } })).expect(200);
  await project.makeAppKey(app, { name: "ci" });
  (await project.call("POST", "/keys", { body: { name: "second" } })).expect(201);
}

/** Does a thing to a server on which a second project has the same, which must stay as it is; and then no trace. */
async function onTwoProjects(
  test: (project: Project) => Promise<void>,
  ...traces: string[]
): Promise<void> {
  await using server = await TestServer.start(ADMINISTERED);
  const [doomed, other] = [await Project.make(server), await Project.make(server)];
  await fill(doomed);
  const kept = other.drive("photos");
  await kept.put("small", SMALL);
  await kept.put("middle", MIDDLE);
  const stays = await kept.state();
  await test(doomed);
  assertEquals(await kept.state(), stays);
  await assertFiles(kept, { small: SMALL, middle: MIDDLE });
  assertEquals((await server.stop()).code, 0);
  await assertNoTraceOf(server.data, doomed.id, ...traces);
}

/** Asks again while the answer is that something is being removed. */
async function onceRemoved(ask: () => Promise<Answer>): Promise<Answer> {
  const end = Date.now() + 30_000;
  for (;;) {
    const answer = await ask();
    if (answer.status !== 409 || Date.now() > end) return answer;
    assertErrorAnswer(answer);
  }
}

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

Deno.test("A project of the same id can be made once all is removed, and has nothing of the earlier one.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
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

for (const what of ["project", "drive"] as const) {
  const path = what === "project" ? "" : "/drives/photos";
  const traces = what === "project" ? [] : ["photos"];

  Deno.test(`Downloads that run while their ${what} is deleted end with the right bytes.`, async () => {
    await onTwoProjects(async (project) => {
      const drive = project.drive("photos");
      const running: [PacedDownload, Bytes][] = [
        [await begin(drive, "large"), LARGE],
        [await begin(drive, "middle"), MIDDLE],
        [await begin(drive, "large", { Range: "bytes=20000000-" }), LARGE.subarray(20_000_000)],
      ];
      (await project.call("DELETE", path)).expect(202);
      for (const [download, bytes] of running) assertSameBytes(await download.finish(), bytes);
    }, ...traces);
  });
}

/** Three uploads that are half-way when something is deleted; gives the statuses of a file, a part and a small file. */
async function uploadWhile(project: Project, path: string): Promise<number[]> {
  const drive = project.drive("photos");
  const upload = await Upload.start(drive, "parts");
  const bodies = [new GatedBody(MIDDLE), new GatedBody(MIDDLE), new GatedBody(SMALL)] as const;
  const running = [
    drive.send("POST", "/files?name=new", { body: bodies[0].stream }),
    upload.send(1, bodies[1].stream),
    drive.send("POST", "/files?name=small", { body: bodies[2].stream }),
  ];
  await Promise.all(bodies.map(({ halfSent }) => halfSent));
  (await project.call("DELETE", path)).expect(202);
  for (const body of bodies) body.open();
  return (await Promise.all(running)).map((answer) => {
    if (answer.status !== 201) assertErrorAnswer(answer);
    return answer.status;
  });
}

Deno.test("Uploads that run while their project is deleted are refused and leave nothing.", async () => {
  await onTwoProjects(async (project) => {
    assertEquals(await uploadWhile(project, ""), [401, 401, 401]);
  });
});

Deno.test("Uploads that run while their drive is deleted are refused, or create the drive again.", async () => {
  await onTwoProjects(async (project) => {
    const [file, part, small] = await uploadWhile(project, "/drives/photos");
    assert(part === 404 || part === 409, `${part}`);
    for (const status of [file, small]) assert(status === 201 || status === 409, `${status}`);
    const drive = project.drive("photos");
    await onceRemoved(() => drive.send("POST", "/uploads?name=probe"));
    await assertFiles(drive, {
      ...(file === 201 ? { new: MIDDLE } : {}),
      ...(small === 201 ? { small: SMALL } : {}),
    });
    await onceRemoved(() => project.call("DELETE", "/drives/photos"));
  }, "photos");
});

Deno.test("A deleted drive is gone at once, the others stay, and it can be written to again.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
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

Deno.test("A drive that there is not is 404, and deleting one again is not.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
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

Deno.test("Writers beside the deletion of their drive leave it whole: each file is there or refused.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  const project = await Project.make(server);
  const drive = project.drive("photos");
  await fill(project);
  let deleted = false;
  const stored = new Map<string, Bytes>();
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let i = 0; i < 25; i++) {
      const [name, body] = [`${writer}/${i}`, patternBytes(writer === 0 ? 200 * KIB : 100, i)];
      const before = deleted;
      const { status } = await drive.send("POST", `/files${query({ name })}`, { body });
      assert(status === 201 || status === 409, `${status}`);
      // What was stored before the deletion was answered may be gone with it.
      if (status === 201 && before) stored.set(name, body);
    }
  });
  (await project.call("DELETE", "/drives/photos")).expect(202);
  deleted = true;
  await Promise.all(writers);
  for (const [name, body] of stored) {
    assertSameBytes((await drive.get(name)).expect(200).bytes, body);
  }
  const held = Object.fromEntries(
    await Promise.all(
      (await drive.names()).map(async (name) => [name, (await drive.get(name)).bytes] as const),
    ),
  );
  await assertFiles(drive, held);
});

Deno.test("Another process on the store sees revocations and deletions within five seconds.", async () => {
  await using first = await TestServer.start(ADMINISTERED);
  await using second = await TestServer.start({ ...ADMINISTERED, data: first.data });
  const [one, two] = [await Project.make(first), await Project.make(first)];
  const { project_key, prefix } = (await one.call("POST", "/keys")).json as {
    project_key: string;
    prefix: string;
  };
  await one.drive("photos").put("a", "x");
  const asks: [string, string][] = [[one.id, project_key], [one.id, one.key], [two.id, two.key]];
  const ask = async () => {
    const statuses: number[] = [];
    for (const [id, key] of asks) {
      const answer = await administer(second, "GET", `/v1/${id}`, { as: withKey(key) });
      statuses.push(answer.status);
    }
    return statuses;
  };
  assertEquals(await ask(), [200, 200, 200]);
  (await one.call("DELETE", `/keys/${prefix}`)).expect(200);
  (await two.call("DELETE", "")).expect(202);
  const end = Date.now() + 5500;
  let statuses = await ask();
  while (statuses.includes(200) && statuses.join() !== "401,200,401" && Date.now() < end) {
    // One key may be known as revoked for a while before the other: 20 wrong ones in a minute are too many.
    await delay(100);
    statuses = await ask();
  }
  assertEquals(statuses, [401, 200, 401]);
});

Deno.test("A download from another process ends with the right bytes, or breaks short.", async () => {
  await using first = await TestServer.start(ADMINISTERED);
  await using second = await TestServer.start({ ...ADMINISTERED, data: first.data });
  const project = await Project.make(first);
  await fill(project);
  const remote = new Project(second, project.id, project.key).drive("photos");
  const download = await begin(remote, "large");
  (await project.call("DELETE", "")).expect(202);
  const { bytes, whole } = await download.finish().then(
    (bytes) => ({ bytes, whole: true }),
    () => ({ bytes: new Uint8Array(), whole: false }),
  );
  assert(!whole || equals(bytes, LARGE), `${bytes.length} other bytes`);
});

async function begin(
  drive: Drive,
  name: string,
  headers: Record<string, string> = {},
): Promise<PacedDownload> {
  const path = `/files/download${query({ name })}`;
  const { project, key } = drive.owner;
  return await PacedDownload.begin(
    await drive.server.fetch(drive.name, path, { headers, project, key }),
  );
}
