import { assert, assertEquals, assertMatch } from "@std/assert";
import { deleteFirst, editStore } from "../faults/support/edit_store.ts";
import { ClientWorkspace } from "../support/cli/client.ts";
import { Folder, namesIn } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { DRIVE, makeStock } from "../support/store/stocked_store.ts";

/** Links a folder to `data` and returns other names of the files in it. */
async function aliasesOf(folder: Folder): Promise<string[]> {
  await Deno.symlink(folder.at("data"), folder.at("linked"));
  await Deno.symlink(folder.at("data/kvdrive.db"), folder.at("link.db"));
  await Deno.link(folder.at("data/kvdrive.db"), folder.at("hard.db"));
  return [
    "data/kvdrive.db",
    "data/../data/kvdrive.db",
    "linked/kvdrive.db",
    "link.db",
    "hard.db",
    "data/kvdrive.db-wal",
    "linked/kvdrive.db-shm",
    "data/kvdrive.db-journal",
  ].map((name) => folder.at(name));
}

Deno.test("A backup never replaces the store that it copies, under no name.", async () => {
  await using folder = await Folder.make();
  const data = folder.at("data");
  const commands = new StoreCommands(data);
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  await drive.put("before", "before");
  for (const target of await aliasesOf(folder)) {
    await commands.refused(1, /the store itself|symbolic link/, "backup", target, "--force");
    await drive.put(`after ${target}`, "acknowledged");
  }
  const names = await drive.names();
  await server.stop("SIGKILL");
  await Deno.remove(folder.at("hard.db"));
  assertMatch(
    await commands.text("verify"),
    new RegExp(`^No problems found: ${names.length} files`),
  );
});

Deno.test("A backup replaces no other file of the data folder.", async () => {
  await using stock = await makeStock();
  const commands = new StoreCommands(stock.at("data"));
  await stock.write("data/s3.key", "a key");
  await Deno.mkdir(stock.at("data/tls"));
  await stock.write("data/tls/account.json", "{}");
  for (const name of ["s3.key", "tls/account.json"]) {
    const target = stock.at(`data/${name}`);
    await commands.refused(1, /belongs to the store/, "backup", target, "--force");
  }
  assertEquals(await Deno.readTextFile(stock.at("data/s3.key")), "a key");
  await commands.text("backup", stock.at("data/today.db"));
  await commands.text("backup", stock.at("data/today.db"), "--force");
});

Deno.test("A backup beside files of SQLite that belong to its target is refused.", async () => {
  await using stock = await makeStock();
  const commands = new StoreCommands(stock.at("data"));
  for (const ending of ["-wal", "-shm", "-journal"]) {
    const companion = await stock.write(`copy.db${ending}`, "stale");
    await commands.refused(1, new RegExp(`copy\\.db${ending}`), "backup", stock.at("copy.db"));
    await stock.write("copy.db", "an earlier one");
    const says = new RegExp(`copy\\.db${ending}`);
    await commands.refused(1, says, "backup", stock.at("copy.db"), "--force");
    assertEquals(await Deno.readTextFile(stock.at("copy.db")), "an earlier one");
    assertEquals(await Deno.readTextFile(companion), "stale");
    await Deno.remove(companion);
    await Deno.remove(stock.at("copy.db"));
  }
  const other = stock.at("other");
  await using server = await TestServer.start({ data: other });
  await new Drive(server, DRIVE).put("a", "a");
  await commands.refused(1, /kvdrive\.db-/, "backup", `${other}/kvdrive.db`, "--force");
  assertEquals(await new Drive(server, DRIVE).text("a"), "a");
});

Deno.test("A backup replaces regular files only.", async () => {
  await using stock = await makeStock();
  const commands = new StoreCommands(stock.at("data"));
  await Deno.mkdir(stock.at("folder"));
  await stock.write("file", "mine");
  await Deno.symlink(stock.at("file"), stock.at("link"));
  await Deno.symlink(stock.at("nowhere"), stock.at("dangling"));
  const says = /is not a regular file|symbolic link/;
  for (const name of ["folder", "folder/", "link", "dangling"]) {
    await commands.refused(1, says, "backup", stock.at(name), "--force");
  }
  assertEquals(await Deno.readTextFile(stock.at("file")), "mine");
  assert((await Deno.lstat(stock.at("dangling"))).isSymlink);
  assertEquals(await namesIn(stock.at("folder")), []);
});

Deno.test("A backup and a restore leave unrelated files beside them as they are.", async () => {
  await using stock = await makeStock();
  const commands = new StoreCommands(stock.at("data"));
  const names = ["copy.db.part", "copy.db.part-wal", "copy.db.tmp", "data/kvdrive.db.restoring"];
  for (const name of names) await stock.write(name, name);
  await commands.text("backup", stock.at("copy.db"));
  await commands.text("restore", stock.at("copy.db"), "--force");
  for (const name of names) assertEquals(await Deno.readTextFile(stock.at(name)), name);
});

Deno.test("A restore leaves the backup that it is given as it is, whatever its name.", async () => {
  await using stock = await makeStock();
  const data = stock.at("data");
  const commands = new StoreCommands(data);
  await commands.text("backup", stock.at("copy.db"));
  const copy = await Deno.readFile(stock.at("copy.db"));
  const hidden = ".kvdrive-00000000-0000-4000-8000-000000000000.tmp";
  for (const name of ["kvdrive.db.restoring", "kvdrive.db.replaced-x", "backup.db", hidden]) {
    await stock.write(`data/${name}`, copy);
    await commands.text("restore", `${data}/${name}`, "--force");
    assertEquals(await Deno.readFile(`${data}/${name}`), copy, name);
  }
  for (const alias of await aliasesOf(stock)) {
    if (/-(wal|shm|journal)$/.test(alias)) continue;
    await commands.refused(1, /the store itself/, "restore", alias, "--force");
  }
  await stock.write("copy.db-journal", "a journal");
  const says = /not complete without .*copy\.db-journal/;
  await commands.refused(1, says, "restore", stock.at("copy.db"), "--force");
});

Deno.test("The copy of a damaged store replaces no other file.", async () => {
  await using stock = await makeStock();
  const commands = new StoreCommands(stock.at("data"));
  await editStore(stock.at("data"), (kv) => deleteFirst(kv, "content"));
  await stock.write("copy.db.damaged", "mine");
  await commands.refused(1, /it is .*copy\.db\.damaged-2/, "backup", stock.at("copy.db"));
  assertEquals(await Deno.readTextFile(stock.at("copy.db.damaged")), "mine");
  assertEquals(await namesIn(stock.path), ["copy.db.damaged", "copy.db.damaged-2", "data"]);
});

Deno.test("A scheduled backup leaves unrelated files as they are.", async () => {
  await using folder = await Folder.make();
  const backups = folder.at("backups");
  await Deno.mkdir(backups);
  await folder.write("backups/kvdrive-backup.part", "mine");
  await folder.write("backups/kvdrive-backup.part-wal", "mine");
  const args = ["--backup-dir", backups, "--every", "1s"];
  await using server = await TestServer.start({ data: folder.at("data"), args });
  while (!(await namesIn(backups)).some((name) => /Z\.db$/.test(name))) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assertEquals((await server.stop()).code, 0);
  for (const name of ["kvdrive-backup.part", "kvdrive-backup.part-wal"]) {
    assertEquals(await Deno.readTextFile(`${backups}/${name}`), "mine");
  }
});

Deno.test("An export to an archive replaces nothing but an archive.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "a", "content");
  const at = (name: string) => desk.folder.at(name);
  for (const name of ["out.zip.part", "out.zip.part.jsonl"]) {
    await desk.folder.write(name, "mine");
    const run = await desk.run(["export", "out.zip"]);
    assertEquals(run.code, 1, run.stdout);
    assertMatch(run.stderr, /out\.zip\.part.* is no unfinished export/);
    assertEquals(await Deno.readTextFile(at(name)), "mine");
    await Deno.remove(at(name));
  }
  await desk.folder.write("notes.zip", "not an archive");
  const run = await desk.run(["export", "notes.zip", "--force"]);
  assertEquals(run.code, 1, run.stdout);
  assertMatch(run.stderr, /notes\.zip is no zip archive/);
  assertEquals(await Deno.readTextFile(at("notes.zip")), "not an archive");
  await desk.text("export", "out.zip");
  await desk.text("export", "out.zip", "--force");
  assertEquals((await namesIn(desk.folder.path)).filter((name) => /part/.test(name)), []);
});
