import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, Project } from "../support/admin.ts";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Drive, Upload } from "../support/drive.ts";
import { GatedBody } from "../support/paced_body.ts";
import { TestServer } from "../support/server.ts";
import { pagesIn } from "./support/store_files.ts";

/** "Replaced bytes are reclaimed at most 90 s after they were replaced", in milliseconds. */
const RECLAIMED_WITHIN = 90_000;

/** "Removing a small drive takes at most 5 s", in milliseconds. */
const REMOVED_WITHIN = 5000;

/** Longer than a dead process's lease and the next sweep, in milliseconds. */
const LONG_PAUSE = 150_000;

/** Waits until a number of pages is free. */
async function untilFreed(data: string, pages: number): Promise<void> {
  const end = performance.now() + 60_000;
  while (pagesIn(data).free < pages) {
    assert(performance.now() < end, "Too few pages were reclaimed");
    await delay(10);
  }
}

/** Uploads parts and aborts: the next sweep reclaims their bytes. */
async function abortUpload(drive: Drive, parts: number): Promise<void> {
  const upload = await Upload.start(drive, "aborted");
  const bytes = patternBytes(10 * MIB, 1);
  for (let part = 1; part <= parts; part++) (await upload.send(part, bytes)).expect(200);
  (await upload.abort()).expect(200);
}

Deno.test("Under full load replaced bytes are reclaimed within 90 s, and a paused upload is stored.", async () => {
  await using server = await TestServer.start({ args: ["--idle-timeout", "10m"] });
  const began = performance.now();
  const paused = new GatedBody(patternBytes(MIB, 3));
  const slow = new Drive(server, "slow").send("POST", "/files?name=a", { body: paused.stream });
  await paused.halfSent;
  const [drive, busy] = [new Drive(server, "replaced"), new Drive(server, "busy")];
  const bytes = patternBytes(100_000, 1);
  const versions = 1000;
  let end = Infinity;
  const load = Array.from({ length: 8 }, async (_, i) => {
    // New names, so that nothing of this load is reclaimed.
    for (let n = 0; performance.now() < end; n++) {
      await busy.put(`${i}/${n}`, bytes);
      if (n % 20 === 0) await delay(20);
    }
  });
  for (let i = 0; i < versions; i += 8) {
    await Promise.all(Array.from({ length: 8 }, (_, k) => drive.put(`${k}`, bytes)));
  }
  end = performance.now() + RECLAIMED_WITHIN;
  await Promise.all(load);
  const files = (await busy.usage())?.files ?? 0;
  assert(files > 500, `Only ${files} writes`);
  // A chunk of 64 KiB takes 17 pages, the last one of a file as many as it needs.
  const { total, free } = pagesIn(server.data);
  const pagesOfFiles = (files + 8) * Math.ceil(bytes.length / 4096 + 2);
  const kept = total - free - pagesOfFiles;
  assert(kept < 0.1 * versions * 25, `${kept} pages of replaced versions are left`);
  await delay(Math.max(0, LONG_PAUSE - (performance.now() - began)));
  paused.open();
  (await slow).expect(201);
});

Deno.test("A small drive is removed within 5 s while much else is reclaimed.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  const [large, project] = [await Project.make(server), await Project.make(server)];
  await large.drive("many").putAll(Array.from({ length: 8000 }, (_, i) => `${i}`));
  await project.drive("first").put("a", "a");
  await project.drive("second").put("a", "a");
  await abortUpload(project.drive("aborted"), 40);
  await untilFreed(server.data, 1000);
  (await large.call("DELETE", "")).expect(202);
  await removeWithin(project, "first");
  // The same while the rest is reclaimed.
  await untilFreed(server.data, 90_000);
  await removeWithin(project, "second");
});

async function removeWithin(project: Project, name: string): Promise<void> {
  const drive = project.drive(name);
  const began = performance.now();
  (await project.call("DELETE", `/drives/${name}`)).expect(202);
  // Writes to a drive that is being removed get 409.
  while ((await drive.send("POST", "/files?name=b", { body: "b" })).status === 409) await delay(20);
  const took = performance.now() - began;
  assert(took < REMOVED_WITHIN, `It took ${took} ms`);
  assertEquals(await drive.names(), ["b"]);
}

Deno.test("A server that is reclaiming a large upload stops at once.", async () => {
  const args = ["--shutdown-timeout", "1s"];
  await using server = await TestServer.start({ args });
  await abortUpload(new Drive(server, "aborted"), 60);
  await untilFreed(server.data, 1000);
  const began = performance.now();
  assertEquals((await server.stop("SIGTERM")).code, 0);
  const took = performance.now() - began;
  const { free } = pagesIn(server.data);
  assert(free < 140_000, "Everything was reclaimed before the server was stopped");
  // A slow machine needs most of it to close the files.
  assert(took < 10_000, `It took ${took} ms`);
});
