import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { basename } from "node:path";
import { deleteFirst, editStore } from "../faults/support/edit_store.ts";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { DRIVE, FILES, makeStock } from "../support/store/stocked_store.ts";
import { byteFileOf, recordFileOf, storeFilesOf } from "../faults/support/store_files.ts";

/** The names in a folder, without the ballast of servers and the marks of killed ones. */
async function namesIn(path: string): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(path), ({ name }) => name);
  return names.filter((name) => !/^kvdrive\.(ballast-|db-mapped-)/.test(name)).sort();
}

/** What a store has under each of these names, read over a server. */
async function readAll(data: string, names: readonly string[]): Promise<(number | string)[]> {
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  const found: (number | string)[] = [];
  for (const name of names) {
    const answer = await drive.get(name);
    found.push(answer.status === 200 ? answer.text : answer.status);
  }
  await server.stop();
  return found;
}

Deno.test("A restored store has what the backup had, and the earlier one is kept whole.", async () => {
  await using folder = await Folder.make();
  const data = folder.at("data");
  const commands = new StoreCommands(data);
  const file = folder.at("copy.db");
  {
    await using server = await TestServer.start({ data });
    const drive = new Drive(server, DRIVE);
    await drive.put("note", "before");
    await commands.text("backup", file);
    await drive.put("note", "after");
    await drive.put("late", "late");
    await commands.refused(1, /stop it first/, "restore", file, "--force");
    assertEquals(await drive.text("note"), "after");
    // What it wrote last is in the log alone.
    await server.stop("SIGKILL");
  }
  await commands.refused(1, /There is a store in .*--force/, "restore", file);
  const restored = await commands.json<{ replaced: string; replaced_bytes: string }>(
    "restore",
    file,
    "--force",
  );
  const { replaced, replaced_bytes } = restored;
  const name = replaced.slice(data.length + 1);
  assertMatch(name, /^kvdrive\.db\.replaced-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/);
  assert(replaced_bytes !== byteFileOf(data), replaced_bytes);
  assertEquals(
    await namesIn(data),
    [byteFileOf(data) ?? "", replaced_bytes, replaced, recordFileOf(data)]
      .map((path) => basename(path)).sort(),
  );
  assertMatch(await commands.text("verify"), /^No problems found: 1 files, 6 bytes/);
  assertEquals(await readAll(data, ["note", "late"]), ["before", 404]);
  const text = await commands.text("restore", replaced, "--force");
  assertMatch(
    text,
    /^Restored .* to .*\.\nThe previous store was kept as .*\.replaced-\S+ and .*kvdrive-bytes-\w+\.db\.\n$/,
  );
  assertEquals(await readAll(data, ["note", "late"]), ["after", "late"]);
});

Deno.test("A restored store returns free space to the disk, as the original does.", async () => {
  await using folder = await Folder.make();
  const first = new StoreCommands(folder.at("first"));
  {
    await using server = await TestServer.start({ data: first.data });
    const drive = new Drive(server, DRIVE);
    for (let i = 0; i < 4; i++) await drive.put(`f${i}`, patternBytes(8 * MIB, i + 1));
    await server.stop();
  }
  await first.text("backup", folder.at("copy.db"));
  const data = folder.at("second");
  await new StoreCommands(data).text("restore", folder.at("copy.db"));
  const sizeOf = async () => {
    const files = await Promise.all(storeFilesOf(data).map((path) => Deno.stat(path)));
    return files.reduce((sum, { size }) => sum + size, 0);
  };
  const before = await sizeOf();
  {
    await using server = await TestServer.start({ data });
    await new Drive(server, DRIVE).delete(["f0", "f1", "f2", "f3"]);
    await server.stop();
  }
  // Bytes that were deleted stay for a minute for those who read them.
  await editStore(data, async (kv) => {
    for await (const { key, value } of kv.list({ prefix: ["garbage"] })) {
      await kv.atomic().delete(key).set(["garbage", 1, String(key[2])], value).commit();
    }
  });
  // Where the disk is short, space is given back at once.
  const args = ["--disk-reserve", String(2 ** 52)];
  await using server = await TestServer.start({ data, args });
  const end = Date.now() + 60_000;
  while (await sizeOf() > before / 2) {
    assert(Date.now() < end, `${await sizeOf()} bytes are left of ${before}`);
    await delay(100);
  }
  assertEquals((await server.stop()).code, 0);
});

Deno.test("An incomplete backup is refused, and nothing changes.", async () => {
  await using stock = await makeStock();
  const data = stock.at("data");
  const commands = new StoreCommands(data);
  const file = stock.at("copy.db");
  await commands.text("backup", file);
  const bytes = await Deno.readFile(file);
  await stock.write("text.db", "This is no database at all. ".repeat(100));
  await stock.write("empty.db", "");
  await stock.write("short.db", bytes.slice(0, bytes.length - 100_000));
  const damaged = bytes.slice();
  damaged.fill(0xaa, 300_000, 310_000);
  await stock.write("damaged.db", damaged);
  await stock.write("logged.db", bytes);
  await stock.write("logged.db-wal", "a log");
  const before = await namesIn(data);
  const refuse = async (says: RegExp, ...args: string[]) => {
    const { code, stderr } = await commands.run("restore", ...args, "--force");
    assertEquals(code, 1, args.join(" "));
    assertMatch(stderr, says);
    assert(!/\bat (file|async|ext):/.test(stderr), stderr);
    assertEquals(await namesIn(data), before);
  };
  await refuse(/is not a backup of a store/, stock.at("text.db"));
  await refuse(/is not a backup of a store/, stock.at("empty.db"));
  await refuse(/not a backup of a store|is damaged/, stock.at("short.db"));
  await refuse(/not a backup of a store|is damaged/, stock.at("damaged.db"));
  await refuse(/damaged|not a backup/, stock.at("damaged.db"), "--damaged");
  await refuse(/not complete without .*logged\.db-wal/, stock.at("logged.db"));
  await refuse(/There is no backup/, stock.at("none.db"));
  const elsewhere = new StoreCommands(stock.at("elsewhere"));
  await elsewhere.refused(1, /There is no backup/, "restore", stock.at("none.db"));
  assert(!await stock.has("elsewhere"));
  await refuse(/is the store itself/, `${data}/kvdrive.db`);
  assertMatch(await commands.text("verify"), /^No problems found: 3 files/);
});

Deno.test("A store that another program has open is not replaced.", async () => {
  await using stock = await makeStock();
  const commands = new StoreCommands(stock.at("data"));
  await commands.text("backup", stock.at("copy.db"));
  await editStore(commands.data, async (kv) => {
    await kv.set(["open"], 1);
    await commands.refused(1, /stop it first/, "restore", stock.at("copy.db"), "--force");
    await kv.delete(["open"]);
  });
  assertMatch(await commands.text("verify"), /^No problems found/);
  await commands.text("restore", stock.at("copy.db"), "--force");
});

Deno.test("A backup with a damaged file is restored with --force.", async () => {
  await using stock = await makeStock();
  const damaged = stock.at("damaged");
  await editStore(stock.at("data"), (kv) => deleteFirst(kv, "content"));
  const copy = stock.at("copy.db.damaged");
  await new StoreCommands(stock.at("data")).refused(
    1,
    /damaged in 1 places.*no backup.*copy\.db\.damaged.*"small".*its content is missing/,
    "backup",
    stock.at("copy.db"),
  );
  assert(!await stock.has("copy.db"));
  const commands = new StoreCommands(damaged);
  const refused = await commands.run("restore", copy);
  assertEquals(refused.code, 1);
  assertMatch(
    refused.stderr,
    /"small".*its content is missing[^]*has 1 problem\. To restore .*--damaged/,
  );
  assert(!await stock.has("damaged/kvdrive.db"));
  assertEquals((await commands.run("restore", copy, "--damaged")).code, 0);
  await using server = await TestServer.start({ data: damaged });
  const large = (await new Drive(server, DRIVE).get("large")).expect(200);
  assertSameBytes(large.bytes, FILES.large);
});
