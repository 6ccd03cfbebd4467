import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Folder, namesIn, programCommand, spawnProgram } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { canInject } from "./support/io_faults.ts";

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

/** Fails if the store has a second name that looks like an earlier store: both would be changed together. */
async function assertNoSecondName(data: string): Promise<void> {
  const { ino } = await Deno.stat(`${data}/kvdrive.db`);
  for (const name of await namesIn(data)) {
    if (name.includes(".replaced-")) assert((await Deno.stat(`${data}/${name}`)).ino !== ino, name);
  }
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
    await assertNoSecondName(data);
    assertMatch(await commands.text("verify"), /^No problems found: 4 files/);
    const note = await readNote(data);
    assert(note === "new" || note === "old", note);
  }
  assert(killed > 0, "No restore was killed");
  await commands.text("restore", file, "--force");
  assertEquals(
    (await namesIn(data)).filter((name) => /tmp|replacing|wal|shm|journal/.test(name)),
    [],
  );
  assertEquals(await readNote(data), "new");
});

Deno.test("A restore that is killed at its last steps leaves a store under one name.", async () => {
  assert(await canInject(), "These tests need strace and the right to trace a process");
  await using folder = await Folder.make();
  const data = folder.at("data");
  const commands = new StoreCommands(data);
  const file = folder.at("copy.db");
  await putNote(data, "new");
  await commands.text("backup", file);
  for (const call of ["linkat", "rename"]) {
    await putNote(data, "old");
    const { code } = await new Deno.Command("strace", {
      args: [
        ...["--follow-forks", "--output=/dev/null"],
        `--inject=${call}:signal=SIGKILL`,
        ...programCommand(["restore", file, "--force", "--data", data]),
      ],
    }).output();
    assertEquals(code, 137, call);
    await assertNoSecondName(data);
    const note = await readNote(data);
    assert(note === "old" || note === "new", note);
    assertEquals((await Deno.stat(`${data}/kvdrive.db`)).nlink, 1);
    await commands.text("restore", file, "--force");
    assertEquals(await readNote(data), "new");
  }
});
