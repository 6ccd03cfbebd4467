import { assert } from "@std/assert";
import { delay } from "@std/async/delay";
import { equals } from "@std/bytes/equals";
import { ADMINISTERED, Project } from "../support/admin.ts";
import { type Drive, query } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { imageBytes } from "../support/sharing/thumbnails.ts";
import { auditStore } from "./support/audit/store_audit.ts";
import { sweepStore } from "./support/crash.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const ROUNDS = isFull() ? 12 : 4;

/** Clients that write at the same time, and the names that they write to. */
const WRITERS = 6;
const NAMES = ["a/1", "a/2", "a/3", "b/1", "b/2", "c"];

/** The longest time until the server is killed, in milliseconds. */
const MAX_LOAD_TIME = 1500;

/** Thumbnails by their size, which no two of them have in common. */
const IMAGES = Array.from({ length: 40 }, (_, i) => imageBytes(100 + 777 * i, "image/png", i));

Deno.test("Thumbnails, copies and moved folders survive kill -9, and no byte is lost or left", async () => {
  const random = new Random(announceSeed());
  const data = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  try {
    let owner: { id: string; key: string } | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      await using server = await TestServer.start({ ...ADMINISTERED, data });
      const made: Project = owner === undefined
        ? await Project.make(server)
        : new Project(server, owner.id, owner.key);
      owner ??= made;
      const project = new Project(server, owner.id, owner.key);
      (await project.call("PATCH", "", { body: { trash_days: round % 2 } })).expect(200);
      const drive = project.drive("photos");
      await assertThumbnails(drive);
      const after = random.below(MAX_LOAD_TIME);
      const writers = Array.from({ length: WRITERS }, () => write(drive, random));
      await delay(after);
      await server.stop("SIGKILL");
      await Promise.all(writers);
      await auditStore(data, false);
    }
    await using server = await TestServer.start({ ...ADMINISTERED, data });
    const project = new Project(server, owner?.id ?? "", owner?.key ?? "");
    await assertThumbnails(project.drive("photos"));
    (await project.call("PATCH", "", { body: { trash_days: 0 } })).expect(200);
    const body = JSON.stringify({ all: true });
    (await project.drive("photos").send("DELETE", "/trash", { body })).expect(200);
    await server.stop();
    await sweepStore(data);
    await auditStore(data, true);
  } finally {
    await Deno.remove(data, { recursive: true });
  }
});

/** Sends random changes until the server is gone. */
async function write(drive: Drive, random: Random): Promise<void> {
  for (;;) {
    const [from, to] = [random.pick(NAMES), random.pick(NAMES)];
    const json = (body: unknown) => ({ body: JSON.stringify(body) });
    const step = random.pick([
      () => drive.send("POST", `/files${query({ name: from })}`, { body: `${random.below(99)}` }),
      () =>
        drive.send("PUT", `/files/thumbnail${query({ name: from })}`, {
          body: random.pick(IMAGES),
        }),
      () =>
        drive.send("PUT", `/files/thumbnail${query({ name: to })}`, { body: random.pick(IMAGES) }),
      () => drive.send("POST", "/files/copy", json({ from, to, overwrite: true })),
      () => drive.send("POST", "/files/move", json({ from, to, overwrite: true })),
      () =>
        drive.send(
          "POST",
          "/files/move",
          json({
            from_prefix: "a/",
            to_prefix: "b/",
            overwrite: true,
          }),
        ),
      () => drive.send("POST", "/files/copy", json({ from_prefix: "b/", to_prefix: "a/" })),
      () => drive.send("DELETE", "/files", json({ names: [to] })),
    ]);
    try {
      const { status, text } = await step();
      assert(status !== 500, text);
    } catch (error) {
      // The server was killed.
      if (error instanceof TypeError) return;
      throw error;
    }
  }
}

/** Asserts that the files that say so have a thumbnail that was sent, and the others none. */
async function assertThumbnails(drive: Drive): Promise<void> {
  for (const { name, thumbnail } of await drive.details()) {
    const answer = await drive.send("GET", `/files/thumbnail${query({ name })}`);
    answer.expect(thumbnail === true ? 200 : 404);
    if (thumbnail !== true) continue;
    assert(IMAGES.some((image) => equals(image, answer.bytes)), `${name} has another thumbnail`);
  }
}
