import { assert, assertEquals, assertGreater, assertNotMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { assertFiles, Drive, Upload, uploadParts } from "../support/drive.ts";
import { GatedBody } from "../support/paced_body.ts";
import { TestServer } from "../support/server.ts";
import {
  assertFull,
  type Files,
  fill,
  fillDisk,
  LongReader,
  SmallDisk,
  untilFull,
  uploadOnceAccepted,
} from "./support/disk.ts";

const RESERVE = ["--disk-reserve", String(8 * MIB)];
const MORE_THAN_ANY_DISK = ["--disk-reserve", String(2 ** 52)];
const STACK_TRACE = /^\s+at .*:\d+:\d+/m;

Deno.test("Below the disk reserve only uploads are rejected.", async () => {
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
  await assertFiles(drive, files);
  assertEquals(await upload.parts(), [{ part: 1, size: 10 }]);
  (await upload.abort()).expect(200);
  await drive.delete(["large"]);
  await assertFiles(drive, { small: files["small"] ?? new Uint8Array() });
  assertNotMatch(server.text, STACK_TRACE);
});

/** Runs a test on a small disk. Without the right to mount one, only the test above runs. */
async function onSmallDisk(
  run: (data: string, disk: SmallDisk) => Promise<void>,
  size?: number,
): Promise<void> {
  await using disk = await SmallDisk.mount(size);
  if (disk !== undefined) await run(`${disk.path}/data`, disk);
}

for (const size of [100_000, MIB]) {
  Deno.test(`A disk filled with files of ${size} bytes keeps all of them.`, () => {
    return onSmallDisk(async (data) => {
      let files: Files;
      {
        await using server = await TestServer.start({ data, args: RESERVE });
        files = await fillAndEmpty(new Drive(server, "disk"), size);
        assertNotMatch(server.text, STACK_TRACE);
      }
      await using server = await TestServer.start({ data, args: RESERVE });
      await assertFiles(new Drive(server, "disk"), files);
    });
  });
}

/** Fills the disk, asserts that only uploads fail, and makes room. Returns the expected files. */
async function fillAndEmpty(drive: Drive, size: number): Promise<Files> {
  const upload = await Upload.start(drive, "open");
  (await upload.send(1, patternBytes(10))).expect(200);
  const files = await fill(drive, size);
  const names = Object.keys(files);
  assertGreater(names.length * size, 20 * MIB);
  await assertFull(drive, upload, patternBytes(5 * MIB));
  await assertFiles(drive, files);
  const gone = names.filter((_, index) => index % 2 === 0);
  assertEquals(await drive.delete(gone), { deleted: gone, failed: [] });
  for (const name of gone) delete files[name];
  await assertFiles(drive, files);
  const bytes = patternBytes(5 * MIB, 9);
  await uploadOnceAccepted(drive, "new", bytes);
  (await upload.send(1, patternBytes(5))).expect(200);
  (await upload.complete()).expect(200);
  return { ...files, new: bytes, open: patternBytes(5) };
}

Deno.test("Parts without room are rejected, and an abort makes room.", () => {
  return onSmallDisk(async (data) => {
    await using server = await TestServer.start({ data, args: RESERVE });
    const drive = new Drive(server, "disk");
    const kept = patternBytes(2 * MIB, 4);
    await drive.put("kept", kept);
    const upload = await Upload.start(drive, "parts");
    let stored = 0;
    await untilFull(async () => {
      const answer = await upload.send(stored + 1, patternBytes(5 * MIB, stored));
      if (answer.status === 200) stored++;
      return answer;
    }, 200);
    assertGreater(stored, 3);
    assertEquals((await upload.parts()).length, stored);
    (await upload.abort()).expect(200);
    const parts = Array.from({ length: 3 }, (_, i) => patternBytes(5 * MIB, 40 + i));
    await uploadOnceAccepted(drive, "probe", patternBytes(10 * MIB, 5));
    await drive.delete(["probe"]);
    await uploadOnceAccepted(drive, "probe", new Uint8Array());
    await uploadParts(drive, "whole", parts);
    assertSameBytes((await drive.get("kept")).expect(200).bytes, kept);
  }, 128 * MIB);
});

Deno.test("Concurrent slow uploads leave the disk reserve free.", () => {
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
    // Longer than the server caches the free space.
    await delay(2500);
    for (const gate of gates) gate.open();
    for (const [i, answer] of (await Promise.all(answers)).entries()) {
      assert([201, 507].includes(answer.status), `Status ${answer.status}: ${answer.text}`);
      const bytes = bodies[i];
      if (answer.status === 201 && bytes !== undefined) kept[`slow-${i}`] = bytes;
    }
    await assertFiles(drive, kept);
    const gone = Object.keys(kept).filter((name) => name !== "kept");
    if (gone.length > 0) {
      assertEquals(await drive.delete(gone), { deleted: gone, failed: [] });
    }
    const again = patternBytes(2 * MIB, 99);
    await uploadOnceAccepted(drive, "again", again);
    await assertFiles(drive, { kept: patternBytes(MIB, 1), again });
    assertNotMatch(server.text, STACK_TRACE);
  });
});

Deno.test("A store on a full disk works again when there is room.", () => {
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
        // Small files may fit into free pages of the store's file.
        assert(answer.status === 507 || size < MIB && answer.status === 201, answer.text);
        if (answer.status === 201) files["new"] = patternBytes(size);
      }
      await assertFiles(drive, files);
      await Deno.remove(ballast);
      files["new"] = patternBytes(2 * MIB, 3);
      await uploadOnceAccepted(drive, "new", files["new"]);
      await assertFiles(drive, files);
      assertNotMatch(server.text, STACK_TRACE);
    }
    await using server = await TestServer.start({ data });
    await assertFiles(new Drive(server, "disk"), files);
  });
});

/** Time for a response to an upload on a full disk, in milliseconds. */
const ANSWER_TIME = 90_000;

/** Uploads eight files at a time, each answered in time. Returns the accepted ones. */
async function uploadMany(drive: Drive, count: number, size: number): Promise<Files> {
  const files: Files = {};
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const name = `many-${next}`;
      const bytes = patternBytes(size, next++);
      const began = performance.now();
      const answer = await drive.send("POST", `/files?name=${name}`, { body: bytes });
      assert(performance.now() - began < ANSWER_TIME, `${name} was answered too late`);
      assert([201, 507].includes(answer.status), `Status ${answer.status}: ${answer.text}`);
      if (answer.status === 201) files[name] = bytes;
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return files;
}

const READER_CASES = [
  { disk: 64, count: 60, size: MIB },
  { disk: 300, count: 60, size: 10 * MIB },
  { disk: 300, count: 1500, size: 100_000 },
];

for (const { disk, count, size } of READER_CASES) {
  Deno.test(`On a disk of ${disk} MiB, files of ${size} bytes leave room for a checkpoint after a long read.`, () => {
    return onSmallDisk(async (data, { path }) => {
      let kept: Files;
      {
        await using server = await TestServer.start({ data, args: RESERVE });
        const drive = new Drive(server, "disk");
        await drive.put("first", patternBytes(100));
        await untilBallastIsComplete(data);
        {
          await using _reader = await LongReader.open(data);
          kept = await uploadMany(drive, count, size);
          assertGreater(Object.keys(kept).length, 1);
        }
        const gone = Object.keys(kept).slice(1);
        // Commits make SQLite checkpoint the whole log, for which there must be room.
        for (const name of gone) {
          assertEquals(await drive.delete([name]), { deleted: [name], failed: [] });
          delete kept[name];
        }
        kept["first"] = patternBytes(100);
        await assertFiles(drive, kept);
        kept["new"] = patternBytes(5 * MIB, 7);
        await uploadOnceAccepted(drive, "new", kept["new"]);
        assertNotMatch(server.text, STACK_TRACE);
      }
      await using server = await TestServer.start({ data, args: RESERVE });
      await assertFiles(new Drive(server, "disk"), kept);
      assertEquals((await Deno.stat(path)).isDirectory, true);
    }, disk * MIB);
  });
}

const BALLAST = 16 * MIB;

/** Returns the disk space that the ballast uses, in bytes. */
async function ballastSize(data: string): Promise<number> {
  let size = 0;
  for (const path of await ballastFiles(data)) {
    try {
      const { blocks, mode } = await Deno.stat(path);
      assertEquals((mode ?? 0) & 0o777, 0o600);
      size += (blocks ?? 0) * 512;
    } catch (error) {
      // The server replaces an incomplete piece.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return size;
}

/** The pieces of the ballast, without the space of the next checkpoint. */
async function ballastFiles(data: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(data), ({ name }) => `${data}/${name}`);
  return entries.filter((path) => /\/kvdrive\.ballast-\d+$/.test(path));
}

async function untilBallastIsComplete(data: string): Promise<void> {
  const until = performance.now() + 90_000;
  while (await ballastSize(data) < BALLAST) {
    assert(performance.now() < until, "The ballast was not restored");
    await delay(50);
  }
}

Deno.test("Deletions work on a full disk, also after kill -9.", () => {
  return onSmallDisk(async (data, disk) => {
    const files: Files = {};
    const foreign = `${disk.path}/foreign`;
    const remove = async (drive: Drive, names: readonly string[]): Promise<void> => {
      for (const name of names) {
        assertEquals(await drive.delete([name]), { deleted: [name], failed: [] });
        delete files[name];
      }
    };
    {
      await using server = await TestServer.start({ data, args: RESERVE });
      const drive = new Drive(server, "disk");
      for (let i = 0; i < 25; i++) {
        await drive.put(`f${i}`, files[`f${i}`] = patternBytes(MIB, i));
      }
      await untilBallastIsComplete(data);
      await fillDisk(foreign);
      await remove(drive, ["f0", "f1", "f2"]);
      await fillDisk(`${foreign}-2`);
      await remove(drive, ["f3", "f4"]);
      let fills = 2;
      await untilFull(async () => {
        await fillDisk(`${foreign}-${++fills}`);
        // Longer than the server caches the free space.
        await delay(1500);
        const body = new Uint8Array(9);
        const answer = await drive.send("POST", "/files?name=new", { body });
        if (answer.status === 201) files["new"] = body;
        return answer;
      }, 201);
      assertNotMatch(server.text, STACK_TRACE);
      server.process.kill("SIGKILL");
      await server.process.status;
    }
    await fillDisk(`${foreign}-last`);
    await using server = await TestServer.start({ data, args: RESERVE });
    const drive = new Drive(server, "disk");
    await assertFiles(drive, files);
    await remove(drive, Object.keys(files).slice(0, 3));
    await Deno.remove(foreign);
    await uploadOnceAccepted(drive, "new", files["new"] = patternBytes(2 * MIB, 99));
    await untilBallastIsComplete(data);
    await assertFiles(drive, files);
    assertNotMatch(server.text, STACK_TRACE);
  }, 100 * MIB);
});

Deno.test("Deletions make room on a disk that another program keeps full.", () => {
  return onSmallDisk(async (data, disk) => {
    await using server = await TestServer.start({ data, args: RESERVE });
    const drive = new Drive(server, "disk");
    const files: Files = {};
    for (let i = 0; i < 60; i++) await drive.put(`f${i}`, files[`f${i}`] = patternBytes(MIB, i));
    await untilBallastIsComplete(data);
    await fillDisk(`${disk.path}/foreign`);
    for (let i = 0; i < 50; i++) {
      assertEquals(await drive.delete([`f${i}`]), { deleted: [`f${i}`], failed: [] });
      delete files[`f${i}`];
    }
    await uploadOnceAccepted(drive, "new", files["new"] = patternBytes(2 * MIB, 99));
    await untilBallastIsComplete(data);
    await assertFiles(drive, files);
  }, 150 * MIB);
});

Deno.test("A disk filled by another program during a long read leaves room for a checkpoint.", () => {
  return onSmallDisk(async (data, disk) => {
    await using server = await TestServer.start({ data, args: RESERVE });
    const drive = new Drive(server, "disk");
    const files: Files = {};
    await untilBallastIsComplete(data);
    {
      await using _reader = await LongReader.open(data);
      for (let i = 0; i < 60; i++) await drive.put(`f${i}`, files[`f${i}`] = patternBytes(MIB, i));
      const growth = `${data}/kvdrive.ballast-growth`;
      await until(async () => (await Deno.stat(growth)).size > 55 * MIB);
      assertEquals((await Deno.stat(growth)).mode! & 0o777, 0o600);
      await fillDisk(`${disk.path}/foreign`);
      assertEquals(await drive.delete(["f0"]), { deleted: ["f0"], failed: [] });
      delete files["f0"];
      await fillDisk(`${disk.path}/foreign-2`);
      assertGreater((await Deno.stat(growth)).size, 55 * MIB);
    }
    for (let i = 1; i < 50; i++) {
      assertEquals(await drive.delete([`f${i}`]), { deleted: [`f${i}`], failed: [] });
      delete files[`f${i}`];
    }
    await uploadOnceAccepted(drive, "new", files["new"] = patternBytes(2 * MIB, 99));
    await untilBallastIsComplete(data);
    await assertFiles(drive, files);
  }, 300 * MIB);
});

Deno.test("Deleted, truncated or read-only ballast is restored.", () => {
  return onSmallDisk(async (data) => {
    await using server = await TestServer.start({ data, args: RESERVE });
    await untilBallastIsComplete(data);
    for (const path of await ballastFiles(data)) await Deno.remove(path);
    await untilBallastIsComplete(data);
    await Deno.truncate(`${data}/kvdrive.ballast-3`, 10);
    await Deno.chmod(`${data}/kvdrive.ballast-3`, 0o400);
    await until(async () => (await Deno.stat(`${data}/kvdrive.ballast-3`)).size > 10);
    await untilBallastIsComplete(data);
    assertEquals((await server.stop()).code, 0);
  });
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 90_000;
  while (!await condition().catch(() => false)) {
    assert(performance.now() < end, "The condition was not met in time");
    await delay(50);
  }
}
