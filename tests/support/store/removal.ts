import { assertEquals } from "@std/assert";
import { assertNoTraceOf } from "../../faults/support/audit/store_audit.ts";
import { ADMINISTERED, Project } from "../admin.ts";
import type { Answer } from "../answer.ts";
import { KIB, MIB, patternBytes } from "../bytes.ts";
import { assertFiles, Upload, uploadParts } from "../drive.ts";
import { TestServer } from "../server.ts";
import { assertErrorAnswer } from "../suite.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

export const LARGE = patternBytes(25 * MIB, 1);

export const MIDDLE = patternBytes(5 * MIB, 2);

export const SMALL = patternBytes(5 * KIB, 3);

/** A project with files of every layout, an open upload, an application and its keys. */
export async function fill(project: Project): Promise<void> {
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
export async function onTwoProjects(
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
export async function onceRemoved(ask: () => Promise<Answer>): Promise<Answer> {
  const end = Date.now() + 90_000;
  for (;;) {
    const answer = await ask();
    if (answer.status !== 409 || Date.now() > end) return answer;
    assertErrorAnswer(answer);
  }
}
