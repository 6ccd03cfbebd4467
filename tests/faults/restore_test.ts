import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Folder, namesIn, spawnProgram } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";

const DRIVE = "drive";

/** Stores a note, and ends the server so that the note is only in the store's log. */
async function putNote(data: string, text: string): Promise<void> {
  await using server = await TestServer.start({ data });
  await new Drive(server, DRIVE).put("note", text);
  await server.stop("SIGKILL");
}

async function readNote(data: string): Promise<string> {
  await using server = await TestServer.start({ data });
  const text = await new Drive(server, DRIVE).text("note");
  await server.stop();
  return text;
}

Deno.test("A restore that is killed leaves the previous store or the new one.", async () => {
  await using folder = await Folder.make();
  const data = folder.at("data");
  const commands = new StoreCommands(data);
  const file = folder.at("copy.db");
  {
    await using server = await TestServer.start({ data });
    const drive = new Drive(server, DRIVE);
    for (let i = 0; i < 3; i++) await drive.put(`f${i}`, patternBytes(8 * MIB, i + 1));
    await drive.put("note", "new");
    await commands.text("backup", file);
    await drive.put("note", "old");
    await server.stop("SIGKILL");
  }
  const restore = () => spawnProgram(["restore", file, "--force", "--data", data], {});
  const started = Date.now();
  assertEquals((await restore().output()).code, 0);
  const takes = Date.now() - started;
  let killed = 0;
  for (let round = 0; round < 10; round++) {
    await putNote(data, "old");
    const process = restore();
    // Files are renamed in the last steps.
    await delay(takes * (0.3 + 0.08 * round));
    try {
      process.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    if ((await process.output()).code === 137) killed++;
    assertEquals((await Deno.stat(`${data}/kvdrive.db`)).isFile, true);
    assertMatch(await commands.text("verify"), /^No problems found: 4 files/);
    const note = await readNote(data);
    assert(note === "new" || note === "old", note);
  }
  assert(killed > 0, "No restore was killed");
  await commands.text("restore", file, "--force");
  assertEquals((await namesIn(data)).filter((name) => /restoring|wal|shm|journal/.test(name)), []);
  assertEquals(await readNote(data), "new");
});
