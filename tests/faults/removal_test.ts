import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { administer, ADMINISTERED, Project, PROJECTS } from "../support/admin.ts";
import type { Answer } from "../support/answer.ts";
import { MIB, patternBytes } from "../support/bytes.ts";
import { assertFiles, Upload, uploadParts } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { assertNoTraceOf } from "./support/audit/store_audit.ts";

const FULL = Deno.env.get("KVDRIVE_FAULTS") === "full";

/** How long a removal runs before the server is killed, in milliseconds. */
const DELAYS = FULL ? [0, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 100, 150, 250] : [0, 4, 20, 80];

const LARGE = patternBytes(6 * MIB, 1);
const NAMES = Array.from({ length: 900 }, (_, i) => `many/${i}`);

for (const what of ["project", "drive"] as const) {
  for (const time of DELAYS) {
    Deno.test(`The removal of a ${what}, killed after ${time} ms, is completed by the next server.`, async () => {
      const data = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
      try {
        const { doomed, other } = await killDuringRemoval(data, what, time);
        await finishRemoval(data, what, doomed, other);
        await assertNoTraceOf(data, doomed.id, ...(what === "drive" ? ["photos"] : []));
      } finally {
        await Deno.remove(data, { recursive: true });
      }
    });
  }
}

interface Killed {
  doomed: Project;
  other: Project;
}

async function killDuringRemoval(data: string, what: string, time: number): Promise<Killed> {
  await using server = await TestServer.start({ ...ADMINISTERED, data });
  const [doomed, other] = [await Project.make(server), await Project.make(server)];
  for (const project of [doomed, other]) await fill(project);
  const [removal, late] = await Promise.all([
    doomed.call("DELETE", what === "project" ? "" : "/drives/photos"),
    doomed.drive("photos").send("POST", "/uploads?name=late"),
  ]);
  removal.expect(202);
  // It starts before the removal, or is refused.
  assert(late.status < 500, late.text);
  if (time > 0) await delay(time);
  await server.stop("SIGKILL");
  return { doomed, other };
}

/** Creates files of every layout, an open upload, and an application with a key. */
async function fill(project: Project): Promise<void> {
  const drive = project.drive("photos");
  await drive.putAll(NAMES);
  await drive.put("chunks", LARGE);
  await uploadParts(drive, "parts", [LARGE, LARGE]);
  (await (await Upload.start(drive, "open")).send(1, LARGE)).expect(200);
  await project.makeAppKey(await project.makeProtectedApp("notes"), { name: "ci" });
}

/** Asserts that the next server completes the removal, and keeps everything else. */
async function finishRemoval(
  data: string,
  what: string,
  doomed: Project,
  other: Project,
): Promise<void> {
  await using server = await TestServer.start({ ...ADMINISTERED, data });
  const again = new Project(server, doomed.id, doomed.key);
  if (what === "project") {
    (await again.files("GET", "")).expect(401);
    const body = { project_id: doomed.id };
    const answer = await onceRemoved(() => administer(server, "POST", PROJECTS, { body }));
    answer.expect(201);
    (await again.files("GET", "")).expect(401);
    (await again.call("DELETE", "")).expect(202);
  } else {
    assertEquals(await again.drive("photos").names(), []);
    const start = () => again.drive("photos").send("POST", "/uploads?name=probe");
    (await onceRemoved(start)).expect(202);
    assertEquals(await again.drive("photos").usage(), { files: 0, bytes: 0 });
    (await again.call("DELETE", "/drives/photos")).expect(202);
  }
  const whole = new Uint8Array([...LARGE, ...LARGE]);
  await assertFiles(new Project(server, other.id, other.key).drive("photos"), {
    ...Object.fromEntries(NAMES.map((name) => [name, new TextEncoder().encode(name)])),
    chunks: LARGE,
    parts: whole,
  });
  assertEquals((await server.stop()).code, 0);
}

/** Repeats a request until it is not rejected because of a running removal. */
async function onceRemoved(ask: () => Promise<Answer>): Promise<Answer> {
  const end = Date.now() + 90_000;
  for (;;) {
    const answer = await ask();
    if (answer.status !== 409) return answer;
    assert(Date.now() < end, `The removal is still running: ${answer.text}`);
  }
}
