import { delay } from "@std/async/delay";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { editStore } from "../faults/support/edit_store.ts";
import { WRONGS } from "../faults/support/store_faults.ts";
import { assertSameBytes, patternBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive, uploadParts } from "../support/drive.ts";
import { PROJECT_ID, TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { copyStock, DRIVE, FILES, makeStock } from "../support/store/stocked_store.ts";

const PLACE = [PROJECT_ID, DRIVE];

Deno.test("Repair removes orphans and corrects counters and lists.", async (t) => {
  await using stock = await makeStock();
  for (const [what, { damage, says }] of Object.entries(WRONGS)) {
    await t.step(what, async () => {
      await using folder = await copyStock(stock);
      const commands = new StoreCommands(folder.at("data"));
      await editStore(commands.data, damage);
      const { code, stdout, stderr } = await commands.run("verify");
      assertEquals(code, 1, stdout);
      assertMatch(stdout, says);
      assertMatch(stderr, /--repair corrects \d+/);
      const repaired = await commands.text("verify", "--repair");
      assertMatch(repaired, says);
      assertMatch(repaired, /No problems found: 3 files/);
      assertMatch(await commands.text("verify"), /^No problems found: 3 files/);
    });
  }
});

Deno.test("After all repairs every file is what it was.", async () => {
  await using stock = await makeStock();
  const data = stock.at("data");
  for (const { damage } of Object.values(WRONGS)) await editStore(data, damage);
  const commands = new StoreCommands(data);
  await commands.text("verify", "--repair");
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  for (const [name, bytes] of Object.entries(FILES)) {
    assertSameBytes((await drive.get(name)).expect(200).bytes, bytes, name);
  }
  assertEquals(await drive.usage(), { files: 3, bytes: 10_703_001 });
});

/** Clients that write, replace, delete and upload in parts until they are told to stop. */
function hammer(drive: Drive, isOver: () => boolean): Promise<unknown> {
  const part = patternBytes(5_000_000, 9);
  const writer = async (own: number) => {
    for (let i = 0; !isOver(); i++) {
      const name = `h${own}-${i % 7}`;
      await drive.put(name, patternBytes([10, 70_000, 300_000][i % 3] ?? 0, i + 1));
      if (i % 4 === 3) await drive.delete([name]);
      if (i % 11 === 5) await uploadParts(drive, `p${own}`, [part, part.slice(0, 100)]);
    }
  };
  return Promise.all([0, 1, 2].map(writer));
}

async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 60_000;
  while (!isSo()) {
    assert(Date.now() < end, "It never happened");
    await delay(20);
  }
}

Deno.test("Beside a busy server there is no false alarm.", async () => {
  await using server = await TestServer.start();
  const commands = new StoreCommands(server.data);
  let over = false;
  const load = hammer(new Drive(server, DRIVE), () => over);
  try {
    for (let i = 0; i < 6; i++) {
      const { code, stdout, stderr } = await commands.run("verify");
      assertEquals([code, stderr], [0, ""], stdout);
    }
  } finally {
    over = true;
    await load;
  }
  assertMatch(await commands.text("verify"), /^No problems found/);
});

Deno.test("The state after a killed server is valid, and repairing it changes nothing.", async () => {
  await using folder = await Folder.make();
  const commands = new StoreCommands(folder.path);
  for (let round = 0; round < 3; round++) {
    await using server = await TestServer.start({ data: folder.path });
    let over = false;
    const drive = new Drive(server, DRIVE);
    let turns = 0;
    const load = hammer(drive, () => ++turns > 0 && over).catch(() => "killed");
    await until(() => turns > 20);
    await server.stop("SIGKILL");
    over = true;
    await load;
    const text = await commands.text("verify");
    assertMatch(text, /^No problems found/);
    assertEquals(await commands.text("verify", "--repair"), text);
  }
});

Deno.test("Beside a busy server everything is put right, and no write is lost.", async () => {
  await using server = await TestServer.start();
  const commands = new StoreCommands(server.data);
  const drive = new Drive(server, DRIVE);
  await drive.put("large", FILES.large);
  let over = false;
  const load = hammer(drive, () => over);
  try {
    await editStore(server.data, async (kv) => {
      await kv.atomic().sum(["usage", ...PLACE, "files"], 100n).sum(
        ["usage", ...PLACE, "bytes"],
        5n,
      )
        .commit();
      await kv.set(["chunk", "01AAAAAAAAAAAAAAAAAAAAAAAA", 0], new Uint8Array(9));
    });
    const { code, stdout } = await commands.run("verify", "--repair");
    assertEquals(code, 0, stdout);
    assertMatch(stdout, /The counters were corrected/);
    assertMatch(stdout, /The chunks were removed/);
  } finally {
    over = true;
    await load;
  }
  const details = await drive.details();
  const bytes = details.reduce((sum, { size }) => sum + size, 0);
  assertEquals(await drive.usage(), { files: details.length, bytes });
  assertSameBytes((await drive.get("large")).expect(200).bytes, FILES.large);
  assertMatch(await commands.text("verify"), /^No problems found/);
});
