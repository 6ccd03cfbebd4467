import { assertEquals, assertNotMatch, assertRejects } from "@std/assert";
import { join } from "@std/path/join";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";

const DRIVE = "reads";
const SMALL = patternBytes(3000, 1);
const LARGE = patternBytes(9 * MIB, 2);
const NOTICE = /was killed or crashed.*without a memory map/;

/** Stores a small and a large file, and ends the server so that all of them is in the store's file. */
async function fill(data: string): Promise<void> {
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  await drive.put("small", SMALL);
  await drive.put("large", LARGE);
  await server.stop();
}

async function assertReadable(server: TestServer): Promise<void> {
  const drive = new Drive(server, DRIVE);
  assertSameBytes((await drive.get("small")).expect(200).bytes, SMALL);
  assertSameBytes((await drive.get("large")).expect(200).bytes, LARGE);
  assertEquals((await drive.list()).names, ["large", "small"]);
}

Deno.test("A store is read in every way, and keeps no mark of it", async (t) => {
  await using folder = await Folder.make();
  await fill(folder.path);
  for (const way of ["mapped", "direct", "kv"]) {
    await t.step(way, async () => {
      await using server = await TestServer.start({ data: folder.path, args: ["--reads", way] });
      await assertReadable(server);
      await server.stop();
      assertNotMatch(server.text, NOTICE);
      assertEquals(await marksIn(folder.path), []);
    });
  }
});

Deno.test("After a server that was killed the next one reads without a map, and the one after that with it", async () => {
  await using folder = await Folder.make();
  await fill(folder.path);
  {
    await using killed = await TestServer.start({ data: folder.path });
    await assertReadable(killed);
    killed.process.kill("SIGKILL");
    await killed.process.status;
  }
  for (const isFirst of [true, false]) {
    await using server = await TestServer.start({ data: folder.path });
    await assertReadable(server);
    await server.stop();
    assertEquals(NOTICE.test(server.text), isFirst, server.text);
  }
});

Deno.test("A file that another program truncates may end a server, and loses nothing once it is restored", async () => {
  await using folder = await Folder.make();
  await fill(folder.path);
  const path = join(folder.path, "kvdrive.db");
  const whole = await Deno.readFile(path);
  {
    await using server = await TestServer.start({ data: folder.path });
    const drive = new Drive(server, DRIVE);
    assertSameBytes((await drive.get("small")).expect(200).bytes, SMALL);
    await Deno.truncate(path, Math.floor(whole.length / 2));
    await assertRejects(async () => (await drive.get("large")).expect(200));
    // The system ends a process that reads a page of a map which the file does not have.
    await Promise.race([server.process.status, server.stop()]);
  }
  await assertRejects(() => TestServer.start({ data: folder.path }), Error, "restore a backup");
  await Deno.writeFile(path, whole);
  await using server = await TestServer.start({ data: folder.path });
  await assertReadable(server);
  await server.stop();
});

async function marksIn(path: string): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(path), ({ name }) => name);
  return names.filter((name) => name.includes("-mapped-"));
}
