import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { Folder, namesIn, programCommand, spawnProgram } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { canInject } from "./support/io_faults.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const DRIVE = "drive";

/** Restores that are killed at a random call. */
const KILLS = isFull() ? 60 : 12;

/** Calls at which they are killed, and about how often a restore makes them. */
const LAST_CALLS = [["rename", 3], ["linkat", 1], ["unlink", 29], ["fsync", 60]] as const;

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
  let takes = Date.now() - started;
  let killed = 0;
  for (let round = 0; round < 10; round++) {
    await putNote(data, "old");
    const process = restore();
    const began = Date.now();
    const ended = process.output();
    // Files are renamed in the last steps.
    await delay(takes * (0.3 + 0.08 * round));
    try {
      process.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    if ((await ended).code === 137) killed++;
    // The first one may have had other work beside it.
    else takes = Math.min(takes, Date.now() - began);
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

/** Bytes that only the store with this note has. */
function largeOf(note: string): Uint8Array<ArrayBuffer> {
  return patternBytes(3 * MIB, note === "old" ? 1 : 2);
}

/** Stores a note and the file that belongs to it, both only in the logs of a store without a server. */
async function putPair(data: string, note: string): Promise<void> {
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  await drive.put("note", note);
  await drive.put("large", largeOf(note));
  await server.stop("SIGKILL");
}

/** Returns the note of a store, whose other file must belong to it. */
async function readPair(data: string): Promise<string> {
  assertMatch(await new StoreCommands(data).text("verify"), /^No problems found: 2 files/);
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  const note = await drive.text("note");
  assertSameBytes((await drive.get("large")).expect(200).bytes, largeOf(note), note);
  await server.stop();
  return note;
}

Deno.test("A restore that is killed at any of its calls leaves the records and the bytes of one store.", async () => {
  assert(await canInject(), "These tests need strace and the right to trace a process");
  const random = new Random(announceSeed());
  await using folder = await Folder.make();
  const original = folder.at("original");
  await putPair(original, "new");
  const file = folder.at("copy.db");
  await new StoreCommands(original).text("backup", file);
  const found = new Set<string>();
  for (let round = 0; round < KILLS; round++) {
    const data = folder.at(`data-${round}`);
    await putPair(data, "old");
    // Half of them end at one of the last steps, which replace the store and separate the new one.
    const [call, most] = round % 2 === 0 ? ["pwrite64", 600] as const : random.pick(LAST_CALLS);
    const { code } = await new Deno.Command("strace", {
      args: [
        ...["--follow-forks", "--output=/dev/null", `--trace=${call}`],
        `--inject=${call}:signal=SIGKILL:when=${1 + random.below(most)}`,
        ...programCommand(["restore", file, "--force", "--data", data]),
      ],
    }).output();
    const note = code === 0 ? "new" : await readPair(data);
    if (code === 0) assertEquals(await readPair(data), "new");
    found.add(note);
    // Each store that is kept beside has its own bytes.
    for (const name of await namesIn(data)) {
      if (!name.includes(".replaced-")) continue;
      await Deno.rename(`${data}/kvdrive.db`, folder.at("aside.db"));
      await Deno.rename(`${data}/${name}`, `${data}/kvdrive.db`);
      assertEquals(await readPair(data), "old");
      await Deno.rename(`${data}/kvdrive.db`, `${data}/${name}`);
      await Deno.rename(folder.at("aside.db"), `${data}/kvdrive.db`);
      assertEquals(await readPair(data), note);
    }
    await Deno.remove(data, { recursive: true });
  }
  assertEquals([...found].sort(), ["new", "old"]);
});
