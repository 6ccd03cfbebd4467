import { delay } from "@std/async/delay";
import { assert, assertEquals, assertGreater, assertNotMatch } from "@std/assert";
import { assertHolds } from "../support/bookkeeping.ts";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { GatedBody } from "../support/paced_body.ts";
import { TestServer } from "../support/server.ts";
import { Upload, uploadParts } from "../support/upload.ts";
import { fillDisk, SmallDisk } from "./support/disk_small.ts";
import { assertFull, type Files, fill, uploadAsSoonAsPossible } from "./support/disk_steps.ts";

const RESERVE = ["--disk-reserve", String(8 * MIB)];
const MORE_THAN_ANY_DISK = ["--disk-reserve", String(2 ** 52)];
const STACK_TRACE = /^\s+at .*:\d+:\d+/m;

Deno.test("Below its reserve the server takes no uploads, and all else goes on.", async () => {
  await using folder = await Folder.make();
  const files: Files = { small: patternBytes(100, 1), large: patternBytes(MIB, 2) };
  let id = "";
  {
    await using server = await TestServer.start({ data: folder.path });
    const drive = new Drive(server, "disk");
    for (const [name, bytes] of Object.entries(files)) await drive.put(name, bytes);
    const upload = await Upload.start(drive, "open");
    (await upload.send(1, patternBytes(10))).expect(200);
    id = upload.id;
  }
  await using server = await TestServer.start({ data: folder.path, args: MORE_THAN_ANY_DISK });
  const drive = new Drive(server, "disk");
  const upload = new Upload(drive, "open", id);
  for (const size of [0, 1, 100_000, 5 * MIB]) await assertFull(drive, upload, patternBytes(size));
  await assertHolds(drive, files);
  assertEquals(await upload.parts(), [{ part: 1, size: 10 }]);
  (await upload.abort()).expect(200);
  await drive.delete(["large"]);
  await assertHolds(drive, { small: files["small"] ?? new Uint8Array() });
  assertNotMatch(server.text, STACK_TRACE);
});

/** Runs a test on a small disk of its own; where there can be none, the test above has to do. */
async function onSmallDisk(run: (data: string) => Promise<void>): Promise<void> {
  await using disk = await SmallDisk.mount();
  if (disk !== undefined) await run(`${disk.path}/data`);
}

for (const size of [100_000, MIB]) {
  Deno.test(`A disk filled with files of ${size} bytes loses none of them.`, () => {
    return onSmallDisk(async (data) => {
      let files: Files;
      {
        await using server = await TestServer.start({ data, args: RESERVE });
        files = await fillAndEmpty(new Drive(server, "disk"), size);
        assertNotMatch(server.text, STACK_TRACE);
      }
      await using server = await TestServer.start({ data, args: RESERVE });
      await assertHolds(new Drive(server, "disk"), files);
    });
  });
}

/** Fills the disk, sees that only uploads suffer, and makes room; gives what must be there. */
async function fillAndEmpty(drive: Drive, size: number): Promise<Files> {
  const upload = await Upload.start(drive, "open");
  (await upload.send(1, patternBytes(10))).expect(200);
  const files = await fill(drive, size);
  const names = Object.keys(files);
  assertGreater(names.length * size, 20 * MIB);
  await assertFull(drive, upload, patternBytes(5 * MIB));
  await assertHolds(drive, files);
  const gone = names.filter((_, index) => index % 2 === 0);
  assertEquals(await drive.delete(gone), { deleted: gone, failed: [] });
  for (const name of gone) delete files[name];
  await assertHolds(drive, files);
  const bytes = patternBytes(5 * MIB, 9);
  await uploadAsSoonAsPossible(drive, "new", bytes);
  (await upload.send(1, patternBytes(5))).expect(200);
  (await upload.complete()).expect(200);
  return { ...files, new: bytes, open: patternBytes(5) };
}

Deno.test("Parts that find no room are refused, and an abort makes room again.", () => {
  return onSmallDisk(async (data) => {
    await using server = await TestServer.start({ data, args: RESERVE });
    const drive = new Drive(server, "disk");
    const kept = patternBytes(2 * MIB, 4);
    await drive.put("kept", kept);
    const upload = await Upload.start(drive, "parts");
    let stored = 0;
    while ((await upload.send(stored + 1, patternBytes(5 * MIB, stored))).status === 200) stored++;
    assertGreater(stored, 3);
    (await upload.send(stored + 1, patternBytes(5 * MIB))).expect(507);
    assertEquals((await upload.parts()).length, stored);
    (await upload.abort()).expect(200);
    const parts = Array.from({ length: 3 }, (_, i) => patternBytes(5 * MIB, 40 + i));
    await uploadAsSoonAsPossible(drive, "probe", patternBytes(10 * MIB, 5));
    await drive.delete(["probe"]);
    await uploadAsSoonAsPossible(drive, "probe", new Uint8Array());
    await uploadParts(drive, "whole", parts);
    assertSameBytes((await drive.get("kept")).expect(200).bytes, kept);
  });
});

Deno.test("Slow uploads side by side never take the last of the disk.", () => {
  return onSmallDisk(async (data) => {
    await using server = await TestServer.start({ data, args: RESERVE });
    const drive = new Drive(server, "disk");
    const kept: Files = { kept: patternBytes(MIB, 1) };
    await drive.put("kept", kept["kept"] ?? new Uint8Array());
    const bodies = Array.from({ length: 8 }, (_, i) => patternBytes(10 * MIB, i));
    const gates = bodies.map((bytes) => new GatedBody(bytes, 128 * 1024));
    const answers = gates.map(({ stream }, i) => {
      return drive.send("POST", `/files?name=slow-${i}`, { body: stream });
    });
    // Longer than the server may believe what it knew of the disk.
    await delay(2500);
    for (const gate of gates) gate.open();
    for (const [i, answer] of (await Promise.all(answers)).entries()) {
      assert([201, 507].includes(answer.status), `The status ${answer.status}: ${answer.text}`);
      const bytes = bodies[i];
      if (answer.status === 201 && bytes !== undefined) kept[`slow-${i}`] = bytes;
    }
    await assertHolds(drive, kept);
    const gone = Object.keys(kept).filter((name) => name !== "kept");
    if (gone.length > 0) {
      assertEquals(await drive.delete(gone), { deleted: gone, failed: [] });
    }
    const again = patternBytes(2 * MIB, 99);
    await uploadAsSoonAsPossible(drive, "again", again);
    await assertHolds(drive, { kept: patternBytes(MIB, 1), again });
    assertNotMatch(server.text, STACK_TRACE);
  });
});

Deno.test("A disk that somebody else has filled works again once there is room.", () => {
  return onSmallDisk(async (data) => {
    const files: Files = { small: patternBytes(100, 1), large: patternBytes(MIB, 2) };
    {
      await using server = await TestServer.start({ data, args: ["--disk-reserve", "0"] });
      const drive = new Drive(server, "disk");
      for (const [name, bytes] of Object.entries(files)) await drive.put(name, bytes);
      const ballast = `${data}/../ballast`;
      await fillDisk(ballast);
      for (const size of [10_000, MIB, 10 * MIB]) {
        const answer = await drive.send("POST", "/files?name=new", { body: patternBytes(size) });
        // What is small may still find a place in the store's file.
        assert(answer.status === 507 || size < MIB && answer.status === 201, answer.text);
        if (answer.status === 201) files["new"] = patternBytes(size);
      }
      await assertHolds(drive, files);
      await Deno.remove(ballast);
      files["new"] = patternBytes(2 * MIB, 3);
      await uploadAsSoonAsPossible(drive, "new", files["new"]);
      await assertHolds(drive, files);
      assertNotMatch(server.text, STACK_TRACE);
    }
    await using server = await TestServer.start({ data });
    await assertHolds(new Drive(server, "disk"), files);
  });
});
