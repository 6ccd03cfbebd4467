import { assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, type NewProject, Project, waitForRunning } from "../../support/admin.ts";
import type { Answer } from "../../support/answer.ts";
import { MIB, patternBytes } from "../../support/bytes.ts";
import { Folder } from "../../support/command.ts";
import { type Drive, query, Upload } from "../../support/drive.ts";
import { GatedBody } from "../../support/paced_body.ts";
import { TestServer } from "../../support/server.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Uploads whose key is revoked before they end", ADMINISTERED);

/** Within five seconds another process notices that a key was revoked. */
const NOTICED = 5000;

/** Files of one value and of many chunks, and a part: each stops half-way. */
class Uploads {
  private constructor(
    readonly upload: Upload,
    readonly answers: Promise<Answer[]>,
    readonly bodies: readonly GatedBody[],
  ) {}

  static async begin(drive: Drive, key: string): Promise<Uploads> {
    const upload = await Upload.start(drive, "parts");
    const bodies = [2000, MIB, MIB].map((size, i) => new GatedBody(patternBytes(size, i)));
    const paths = [
      `/files${query({ name: "small" })}`,
      `/files${query({ name: "large" })}`,
      `${upload.path}/parts${query({ name: "parts", part: 1 })}`,
    ];
    const answers = Promise.all(
      bodies.map(({ stream }, i) => drive.send("POST", paths[i] ?? "", { body: stream, key })),
    );
    await Promise.all(bodies.map(({ halfSent }) => halfSent));
    // A body that the client has sent may still wait for a busy server.
    await waitForRunning(drive.server, "upload", bodies.length);
    return new Uploads(upload, answers, bodies);
  }

  /** Sends the rest. */
  async end(): Promise<Answer[]> {
    for (const body of this.bodies) body.open();
    return await this.answers;
  }
}

async function newKey(project: Project): Promise<{ key: string; prefix: string }> {
  const made = (await project.call("POST", "/keys")).expect(201).json as NewProject;
  return { key: made.project_key, prefix: made.prefix };
}

async function assertRefused(uploads: Uploads, drive: Drive): Promise<void> {
  for (const answer of await uploads.end()) {
    assertErrorAnswer(answer.expect(401));
    assertEquals(answer.errors, [
      "The key in X-Api-Key was revoked while the body was received: nothing was stored, send another key",
    ]);
  }
  assertEquals(await drive.names(), []);
  assertEquals(await uploads.upload.as({ drive }).parts(), []);
}

test("A key that is revoked while a body comes stores nothing.", async ({ server }) => {
  const project = await Project.make(server);
  const { key, prefix } = await newKey(project);
  const drive = project.drive("drive");
  const uploads = await Uploads.begin(drive, key);
  (await project.call("DELETE", `/keys/${prefix}`)).expect(200);
  await assertRefused(uploads, drive);
  const others = await Uploads.begin(drive, project.key);
  assertEquals((await others.end()).map(({ status }) => status), [201, 201, 200]);
});

test("A project that is deleted while a body comes stores nothing.", async ({ server }) => {
  const project = await Project.make(server);
  const uploads = await Uploads.begin(project.drive("drive"), project.key);
  (await project.call("DELETE", "")).expect(202);
  for (const answer of await uploads.end()) assertErrorAnswer(answer.expect(401));
});

Deno.test("A key that another process revoked 5 s before stores nothing.", async () => {
  await using folder = await Folder.make();
  const options = { ...ADMINISTERED, data: folder.path };
  await using first = await TestServer.start(options);
  await using second = await TestServer.start(options);
  const project = await Project.make(first);
  const { key, prefix } = await newKey(project);
  const drive = project.drive("drive");
  const uploads = await Uploads.begin(drive, key);
  const elsewhere = new Project(second, project.id, project.key);
  (await elsewhere.call("DELETE", `/keys/${prefix}`)).expect(200);
  // The promise is one about time.
  await delay(NOTICED);
  await assertRefused(uploads, drive);
});
