import { assert, assertEquals, assertGreater, assertMatch, assertNotMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, administrator, PROJECTS } from "../support/admin.ts";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { assertRefused, Folder, namesIn, runCommand, spawnProgram } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { DRIVE, makeStock } from "../support/store/stocked_store.ts";
import { runOnTerminal } from "../support/terminal.ts";

/** What backups of a server are named. */
const NAMED = /^kvdrive-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/;
const PATIENCE = 90_000;

async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!await isSo()) {
    assert(Date.now() < end, `It never happened: ${what}`);
    await delay(20);
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await Deno.stat(path)).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

Deno.test("A backup of a busy store is the store of one moment.", async () => {
  await using folder = await Folder.make();
  await using server = await TestServer.start({ data: folder.at("data") });
  const commands = new StoreCommands(server.data);
  const drive = new Drive(server, DRIVE);
  await drive.put("ballast", patternBytes(10 * MIB, 1));
  let over = false;
  // The second file of a pair is written when the first is there.
  const load = Promise.all([0, 1, 2].map(async (own) => {
    for (let i = 0; !over; i++) {
      await drive.put(`first-${own}-${i}`, patternBytes(100_000, i + 1));
      await drive.put(`second-${own}-${i}`, patternBytes(100, i + 1));
      if (i > 20) await drive.delete([`second-${own}-${i - 20}`, `first-${own}-${i - 20}`]);
    }
  }));
  const files = ["one.db", "two.db", "three.db"].map((name) => folder.at(name));
  try {
    for (const file of files) {
      assertMatch(await commands.text("backup", file), /^The backup .* has \d+ bytes\.\n$/);
    }
  } finally {
    over = true;
    await load;
  }
  for (const file of files) await assertConsistent(folder, file);
  assertEquals(
    (await namesIn(folder.path)).filter((name) => /tmp|wal|shm|journal/.test(name)),
    [],
  );
});

/** Restores a backup, serves it, and reads all that it has. */
async function assertConsistent(folder: Folder, file: string): Promise<void> {
  const data = `${file}.data`;
  const restored = new StoreCommands(data);
  await restored.text("restore", file);
  assertMatch(await restored.text("verify"), /^No problems found/);
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  const names = new Set(await drive.names());
  assertGreater(names.size, 1);
  for (const name of names) {
    const [which, own, i] = name.split("-");
    if (which === "second") assert(names.has(`first-${own}-${i}`), `${name} is without its first`);
    if (which === "ballast") continue;
    const bytes = patternBytes(which === "first" ? 100_000 : 100, Number(i) + 1);
    assertSameBytes((await drive.get(name)).expect(200).bytes, bytes, name);
  }
  assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
  assert(!await folder.has("data-wal"));
}

Deno.test("A store without a server is backed up, and existing files are not overwritten.", async () => {
  await using stock = await makeStock();
  const commands = new StoreCommands(stock.at("data"));
  const file = stock.at("copy.db");
  const { size } = await commands.json<{ file: string; size: number }>("backup", file);
  assertEquals(size, await sizeOf(file));
  await commands.refused(1, /copy\.db already exists.*--force/, "backup", file);
  await Deno.writeTextFile(file, "something else");
  await commands.refused(1, /already exists/, "backup", file);
  assertEquals(await Deno.readTextFile(file), "something else");
  await commands.text("backup", file, "--force");
  assertEquals(await sizeOf(file), size);
  await commands.refused(
    1,
    /is the store itself/,
    "backup",
    stock.at("data/kvdrive.db"),
    "--force",
  );
  await commands.refused(1, /Cannot create the backup/, "backup", stock.at("nowhere/copy.db"));
  await commands.refused(2, /FILE is missing/, "backup");
  const none = new StoreCommands(stock.at("none"));
  await none.refused(1, /There is no store/, "backup", stock.at("other.db"));
  assertEquals(await namesIn(stock.path), ["copy.db", "data"]);
});

Deno.test("The permissions that the tasks grant are enough.", async () => {
  await using stock = await makeStock(await Folder.makeOnDisk());
  const runtime = ["--no-prompt", "--allow-net", "--allow-read", "--allow-write", "--allow-env"];
  const data = ["--data", stock.at("data")];
  const calls = [["backup", stock.at("b.db")], ["restore", stock.at("b.db"), "--force"], [
    "verify",
  ]];
  for (const call of calls) {
    const { code, stderr } = await runCommand([...call, ...data], {}, [...runtime, "--allow-sys"]);
    assertEquals([code, stderr], [0, ""], call.join(" "));
  }
});

/** A store that takes a moment to copy. */
async function makeHeavy(): Promise<Folder> {
  const folder = await Folder.make();
  await using server = await TestServer.start({ data: folder.at("data") });
  const drive = new Drive(server, DRIVE);
  for (let i = 0; i < 8; i++) await drive.put(`f${i}`, patternBytes(10 * MIB, i + 1));
  await server.stop();
  return folder;
}

/** The bytes of an unfinished copy in a folder. */
async function sizeOfCopy(path: string): Promise<number> {
  const name = (await namesIn(path)).find((it) => /^\.kvdrive-[0-9a-f-]{36}\.tmp$/.test(it));
  return name === undefined ? 0 : await sizeOf(`${path}/${name}`);
}

Deno.test("A backup that is ended before its end leaves nothing under its name.", async () => {
  await using folder = await makeHeavy();
  const file = folder.at("copy.db");
  for (
    const [signal, leaves] of [["SIGINT", false], ["SIGTERM", false], ["SIGKILL", true]] as const
  ) {
    const process = spawnProgram(["backup", file, "--data", folder.at("data")], {});
    await until("The copy is being made", async () => await sizeOfCopy(folder.path) > 2 * MIB);
    process.kill(signal);
    const { code } = await process.output();
    assertEquals(code, { SIGKILL: 137, SIGINT: 130, SIGTERM: 143 }[signal]);
    assert(!await folder.has("copy.db"), "Half a copy has its name");
    assertEquals(await sizeOfCopy(folder.path) > 0, leaves);
  }
  const commands = new StoreCommands(folder.at("data"));
  await commands.text("backup", file);
  assertEquals(await namesIn(folder.path), ["copy.db", "data"]);
  assertMatch(await commands.text("verify"), /^No problems found: 8 files/);
});

Deno.test("On a terminal it shows how far it is.", async () => {
  await using folder = await makeHeavy();
  const args = ["backup", folder.at("copy.db"), "--data", folder.at("data")];
  const { code, text } = await runOnTerminal(args, { env: { TERM: "xterm" } });
  assertEquals(code, 0, text);
  assertMatch(text, /Backup/);
  assertMatch(text, /The backup .*copy\.db has \d+ bytes/);
});

Deno.test("A server makes backups by itself and keeps the newest.", async () => {
  await using folder = await Folder.make();
  const backups = folder.at("backups");
  await Deno.mkdir(backups);
  await folder.write("backups/kvdrive-notes.db", "mine");
  await folder.write("backups/kvdrive-2020-01-01T00-00-00Z.db.old", "mine");
  await folder.write("backups/kvdrive-2020-01-01T00-00-00Z.db", "an old one");
  const args = ["--backup-dir", backups, "--every", "1s", "--keep", "2"];
  await using server = await TestServer.start({ data: folder.at("data"), args });
  await new Drive(server, DRIVE).put("a", "a");
  const made = new Set<string>();
  await until("Four backups are made", async () => {
    for (const name of await namesIn(backups)) if (NAMED.test(name)) made.add(name);
    return made.size >= 5;
  });
  assertEquals((await server.stop()).code, 0);
  const names = await namesIn(backups);
  assertEquals(names.filter((name) => NAMED.test(name)).length, 2);
  assertEquals(names.filter((name) => !NAMED.test(name)), [
    "kvdrive-2020-01-01T00-00-00Z.db.old",
    "kvdrive-notes.db",
  ]);
  const newest = names.filter((name) => NAMED.test(name)).at(-1);
  const restored = new StoreCommands(folder.at("restored"));
  await restored.text("restore", `${backups}/${newest}`);
  assertMatch(await restored.text("verify"), /^No problems found: 1 files/);
});

Deno.test("Neither a restart nor a second server makes a backup that is not due.", async () => {
  await using folder = await Folder.make();
  const backups = folder.at("backups");
  const options = { data: folder.at("data"), args: ["--backup-dir", backups, "--every", "1h"] };
  const made = async () => (await namesIn(backups)).filter((name) => NAMED.test(name));
  {
    const starts = [TestServer.start(options), TestServer.start(options)];
    await using first = await starts[0]!;
    await using second = await starts[1]!;
    await until("A backup is made", async () => (await made()).length > 0);
    assertEquals([(await first.stop()).code, (await second.stop()).code], [0, 0]);
  }
  const once = await made();
  assertEquals(once.length, 1);
  await using again = await TestServer.start(options);
  await new Drive(again, DRIVE).put("a", "a");
  assertEquals((await again.stop()).code, 0);
  assertEquals(await namesIn(backups), once);
});

Deno.test("A failed backup is reported, and the server keeps running.", async () => {
  await using folder = await Folder.make();
  const backups = folder.at("backups");
  const args = ["--backup-dir", backups, "--every", "1s"];
  await using server = await TestServer.start({ data: folder.at("data"), args });
  await until(
    "A backup is made",
    async () => (await namesIn(backups)).some((it) => NAMED.test(it)),
  );
  await Deno.rename(backups, folder.at("elsewhere"));
  await until("The failure is in the log", () => /"level":"error".*backups/.test(server.text));
  await new Drive(server, DRIVE).put("a", "a");
  const { length } = await namesIn(folder.at("elsewhere"));
  await Deno.rename(folder.at("elsewhere"), backups);
  await until("It goes on", async () => {
    const names = await namesIn(backups);
    return names.length > length || names.length === 7;
  });
  assertEquals((await server.stop()).code, 0);
});

Deno.test("Beside a backup of the future the newest of now is kept, and made once.", async () => {
  await using folder = await Folder.make();
  const backups = folder.at("backups");
  await Deno.mkdir(backups);
  const future = "kvdrive-2099-01-01T00-00-00Z.db";
  await folder.write(`backups/${future}`, "SQLite format 3\0");
  const args = ["--backup-dir", backups, "--every", "1h", "--keep", "1"];
  await using server = await TestServer.start({ data: folder.at("data"), args });
  const made = async () => (await namesIn(backups)).filter((it) => NAMED.test(it) && it !== future);
  await until("A backup is made", async () => (await made()).length > 0);
  const first = await made();
  // A loop would make the next one within its second.
  await delay(1500);
  assertEquals(await made(), first);
  assertEquals((await server.stop()).code, 0);
  assertEquals(await namesIn(backups), [...first, future]);
});

Deno.test("A server takes over the backups when the holder of their lock is killed.", async () => {
  await using folder = await Folder.make();
  const backups = folder.at("backups");
  await Deno.mkdir(backups);
  const part = await folder.write("backups/kvdrive-backup.part", "");
  const holder = await holdLock(part);
  const args = ["--backup-dir", backups, "--every", "1s"];
  await using server = await TestServer.start({ data: folder.at("data"), args });
  await until("The lock is reported", () => /"level":"error".*another process/.test(server.text));
  assertEquals((await namesIn(backups)).filter((it) => NAMED.test(it)), []);
  holder.kill("SIGKILL");
  await holder.status;
  await until(
    "A backup is made",
    async () => (await namesIn(backups)).some((it) => NAMED.test(it)),
  );
  assertEquals((await server.stop()).code, 0);
});

/** Holds the lock on a file in a process of its own, as a backup that hangs does. */
async function holdLock(path: string): Promise<Deno.ChildProcess> {
  const code = `const file = await Deno.open(${JSON.stringify(path)}, { write: true });
    await file.lock(true); console.log("held"); await new Promise((done) => setTimeout(done, 120_000));`;
  const process = new Deno.Command(Deno.execPath(), {
    args: ["eval", code],
    stdout: "piped",
    env: { NO_COLOR: "1" },
  }).spawn();
  const reader = process.stdout.getReader();
  await reader.read();
  reader.releaseLock();
  await process.stdout.cancel();
  return process;
}

Deno.test("Failing backups are in the metrics and in the administrator's answer.", async () => {
  await using folder = await Folder.make();
  const backups = folder.at("backups");
  const args = ["--backup-dir", backups, "--every", "1s"];
  await using server = await TestServer.start({ ...ADMINISTERED, data: folder.at("data"), args });
  const ask = async (path: string) => {
    const answer = await fetch(server.origin + path, { headers: administrator });
    assertEquals(answer.status, 200);
    return await answer.text();
  };
  const status = async () => JSON.parse(await ask(PROJECTS)).backups;
  const figure = async (name: string) =>
    Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await ask("/metrics"))?.[1]);
  // On a slow machine a backup is overdue sometimes.
  const becomes = async (problem: RegExp) => {
    let last = await status();
    await until(`The problem is ${problem}`, async () => {
      last = await status();
      return last.newest !== null && problem.test(String(last.problem));
    });
    return last;
  };
  const { newest, ...rest } = await becomes(/^null$/);
  assertEquals(rest, { every: 1, failures: 0, problem: null });
  const age = Date.now() / 1000 - await figure("kvdrive_backup_last_success_timestamp_seconds");
  assert(age >= 0 && age < 30, `${newest} is ${age} seconds ago`);
  assertEquals(await figure("kvdrive_backup_failures_total"), 0);
  await Deno.rename(backups, folder.at("elsewhere"));
  await becomes(/The last backup failed/);
  assertGreater(await figure("kvdrive_backup_failures_total"), 0);
  await Deno.rename(folder.at("elsewhere"), backups);
  await becomes(/^null$/);
});

Deno.test("A server without backups does not mention them.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  const answer = await fetch(server.origin + PROJECTS, { headers: administrator });
  assertEquals("backups" in await answer.json(), false);
  const metrics = await fetch(`${server.origin}/metrics`, { headers: administrator });
  assertNotMatch(await metrics.text(), /kvdrive_backup/);
});

Deno.test("verify warns of backups that are missing or too old, and is content with a new one.", async () => {
  await using stock = await makeStock();
  const commands = new StoreCommands(stock.at("data"));
  const folder = stock.at("backups");
  await Deno.mkdir(folder);
  const verify = async (...args: string[]) =>
    await commands.run("verify", "--backup-dir", folder, ...args);
  const none = await verify("--json");
  assertEquals([none.code, JSON.parse(none.stdout).backups.newest], [0, null]);
  assertMatch(none.stderr, /^Warning: There is no complete backup in .*backups\.\n$/);
  await commands.text("backup", `${folder}/kvdrive-2020-01-01T00-00-00Z.db`);
  assertMatch((await verify("--every", "7d")).stderr, /newest backup .* is of 2020-01-01/);
  const now = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  await commands.text("backup", `${folder}/kvdrive-${now}Z.db`);
  assertEquals((await verify()).stderr, "");
  assertRefused(await verify("--every", "soon"), 2, /Bad value "soon" of --every/);
});

Deno.test("Invalid backup options are refused at the start.", async () => {
  await using folder = await Folder.make();
  const serve = (...args: string[]) =>
    runCommand(["serve", "--port", "0", "--data", folder.at("data"), ...args]);
  assertRefused(await serve("--every", "1h"), 2, /--every needs a backup folder.*--backup-dir/);
  assertRefused(await serve("--keep", "3"), 2, /--keep needs a backup folder.*--backup-dir/);
  const dir = ["--backup-dir", folder.at("backups")];
  assertRefused(await serve(...dir, "--every", "soon"), 2, /--every/);
  assertRefused(await serve(...dir, "--every", "10ms"), 2, /--every/);
  assertRefused(await serve(...dir, "--keep", "0"), 2, /--keep/);
  const file = await folder.write("file", "no folder");
  assertRefused(
    await serve("--backup-dir", file),
    1,
    /Cannot use .*, the folder of --backup-dir: File exists/,
  );
});
