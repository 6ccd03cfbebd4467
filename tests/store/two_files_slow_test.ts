import { assert, assertEquals, assertMatch } from "@std/assert";
import { basename } from "node:path";
import { assertSameBytes, MIB, patternBytes, sha256Hex } from "../support/bytes.ts";
import { assertRefused, Folder, namesIn, runCommand } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { DRIVE, FILES, makeStock } from "../support/store/stocked_store.ts";
import {
  byteFileOf,
  entriesIn,
  recordFileOf,
  storeFilesOf,
} from "../faults/support/store_files.ts";

/** The file with the chunks of a store. */
function bytesOf(data: string): string {
  const path = byteFileOf(data);
  assert(path !== undefined, `${data} has one file`);
  return path;
}

/** Stores a large file and a small one. */
async function putBoth(data: string, seed: number): Promise<void> {
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  await drive.put("note", `note ${seed}`);
  await drive.put("large", patternBytes(3 * MIB, seed));
  await server.stop();
}

async function assertBoth(data: string, seed: number): Promise<void> {
  assertMatch(await new StoreCommands(data).text("verify"), /^No problems found: 2 files/);
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  assertEquals(await drive.text("note"), `note ${seed}`);
  assertSameBytes((await drive.get("large")).expect(200).bytes, patternBytes(3 * MIB, seed));
  await server.stop();
}

Deno.test("A replaced store keeps its own bytes, and is whole again when its file is moved back.", async () => {
  await using folder = await Folder.make();
  const data = folder.at("data");
  const commands = new StoreCommands(data);
  await putBoth(data, 1);
  await commands.text("backup", folder.at("first.db"));
  await putBoth(data, 2);
  const secondBytes = bytesOf(data);
  const { replaced, replaced_bytes } = await commands.json<
    { replaced: string; replaced_bytes: string }
  >("restore", folder.at("first.db"), "--force");
  assertEquals(replaced_bytes, secondBytes);
  await assertBoth(data, 1);
  // The restored store is used, and removes what it replaces.
  await putBoth(data, 3);
  const current = recordFileOf(data);
  const thirdBytes = bytesOf(data);
  await Deno.rename(current, folder.at("third.db"));
  await Deno.rename(replaced, current);
  assertEquals(bytesOf(data), secondBytes);
  await assertBoth(data, 2);
  await Deno.rename(current, replaced);
  await Deno.rename(folder.at("third.db"), current);
  assertEquals(bytesOf(data), thirdBytes);
  await assertBoth(data, 3);
});

Deno.test("A replaced store that is restored again shares no file with the one that is kept.", async () => {
  await using folder = await Folder.make();
  const data = folder.at("data");
  const commands = new StoreCommands(data);
  await putBoth(data, 1);
  await commands.text("backup", folder.at("first.db"));
  await putBoth(data, 2);
  const { replaced, replaced_bytes } = await commands.json<
    { replaced: string; replaced_bytes: string }
  >("restore", folder.at("first.db"), "--force");
  const kept = await Promise.all([replaced, replaced_bytes].map((path) => Deno.readFile(path)));
  await commands.text("restore", replaced, "--force");
  assert(bytesOf(data) !== replaced_bytes);
  await assertBoth(data, 2);
  await putBoth(data, 3);
  for (const [i, path] of [replaced, replaced_bytes].entries()) {
    assertSameBytes(await Deno.readFile(path), kept[i] ?? new Uint8Array(), path);
  }
});

Deno.test("A store of which a file is missing, or is that of another store, is refused and not changed.", async () => {
  await using stock = await makeStock();
  const data = stock.at("data");
  const [records, bytes] = [recordFileOf(data), bytesOf(data)];
  await using other = await Folder.make();
  await putBoth(other.at("data"), 1);
  const otherBytes = bytesOf(other.at("data"));
  const aside = stock.at("aside.db");
  const refuse = async (says: RegExp) => {
    const names = await namesIn(data);
    // SQLite may rewrite the header of a file that it opens.
    const contents = () =>
      Promise.all(names.map(async (name) => {
        const path = `${data}/${name}`;
        return path === records ? entriesIn(path) : await sha256Hex(await Deno.readFile(path));
      }));
    const before = await contents();
    const commands = new StoreCommands(data);
    for (
      const words of [["verify"], ["backup", stock.at("copy.db")], ["project", "list"], [
        "serve",
        "--port",
        "0",
      ]]
    ) {
      const run = await commands.run(...words);
      assertRefused(run, 1, says);
      assert(!await stock.has("copy.db"));
    }
    assertEquals(await namesIn(data), names);
    assertEquals(await contents(), before);
  };
  const missing = new RegExp(`${basename(bytes)}, which is missing; put the file back`);
  const foreign = new RegExp(`${basename(bytes)}, which is empty or the file of another store`);
  await Deno.rename(bytes, aside);
  await refuse(missing);
  await Deno.copyFile(otherBytes, `${data}/${basename(otherBytes)}`);
  await refuse(missing);
  await Deno.remove(`${data}/${basename(otherBytes)}`);
  await Deno.copyFile(otherBytes, bytes);
  await refuse(foreign);
  await Deno.writeFile(bytes, new Uint8Array());
  await refuse(foreign);
  await Deno.rename(aside, bytes);
  await Deno.copyFile(records, aside);
  // The records alone are no backup either.
  const restored = ["restore", aside, "--data", stock.at("restored")];
  assertRefused(await runCommand(restored), 1, /is missing; put the file back/);
  await using server = await TestServer.start({ data });
  const large = (await new Drive(server, DRIVE).get("large")).expect(200);
  assertSameBytes(large.bytes, FILES.large);
});

Deno.test("The file of the chunks without that of the records is no store.", async () => {
  await using stock = await makeStock();
  const data = stock.at("data");
  const commands = new StoreCommands(data);
  await Deno.rename(recordFileOf(data), stock.at("aside.db"));
  for (const words of [["verify"], ["backup", stock.at("copy.db")], ["project", "list"]]) {
    await commands.refused(1, /There is no store/, ...words);
  }
  const serve = await runCommand(["serve", "--port", "0", "--data", data]);
  assertRefused(
    serve,
    1,
    /kvdrive-bytes-\w+\.db has the bytes of a store, but .*kvdrive\.db is missing or empty; put the file back/,
  );
  await Deno.rename(stock.at("aside.db"), recordFileOf(data));
  assertMatch(await commands.text("verify"), /^No problems found/);
});

Deno.test("A backup replaces no file with the chunks of a store.", async () => {
  await using stock = await makeStock();
  const data = stock.at("data");
  const commands = new StoreCommands(data);
  await commands.text("backup", stock.at("copy.db"));
  await commands.text("restore", stock.at("copy.db"), "--force");
  const files = (await namesIn(data)).filter((name) => name.startsWith("kvdrive-bytes-"));
  assertEquals(files.length, 2);
  for (const name of files) {
    const before = await Deno.readFile(`${data}/${name}`);
    const says = /is the store itself|belongs to the store/;
    await commands.refused(1, says, "backup", `${data}/${name}`, "--force");
    assertSameBytes(await Deno.readFile(`${data}/${name}`), before, name);
  }
  assertEquals(storeFilesOf(data).length, 2);
});
