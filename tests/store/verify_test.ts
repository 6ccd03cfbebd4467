import { assert, assertEquals, assertMatch } from "@std/assert";
import { deleteFirst, editStore } from "../faults/support/edit_store.ts";
import { DAMAGES } from "../faults/support/store_faults.ts";
import { Drive, Upload } from "../support/drive.ts";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { copyStock, DRIVE, FILES, makeStock } from "../support/store/stocked_store.ts";
import { runOnTerminal } from "../support/terminal.ts";
import { verdictOf } from "../support/store/verdict.ts";

Deno.test("A store to which nothing has happened is well.", async () => {
  await using stock = await makeStock();
  const commands = new StoreCommands(stock.at("data"));
  const text = await commands.text("verify");
  assertEquals(text, "No problems found: 3 files, 11403001 bytes.\n");
  const { code, problems } = await verdictOf(commands, "--repair");
  assertEquals([code, problems], [0, []]);
});

Deno.test("Damage is listed and not changed.", async (t) => {
  await using stock = await makeStock();
  for (const [what, { damage, says, name, kind }] of Object.entries(DAMAGES)) {
    await t.step(what, async () => {
      await using folder = await copyStock(stock);
      const commands = new StoreCommands(folder.at("data"));
      await editStore(commands.data, damage);
      const found = await verdictOf(commands, "--repair");
      assertEquals(found.code, 1);
      assertEquals(found.problems.map((it) => [it.kind, it.name, it.repairable]), [[
        kind,
        name,
        false,
      ]]);
      assertEquals(found.repaired, []);
      const { code, stdout, stderr } = await commands.run("verify");
      assertEquals(code, 1);
      assertMatch(stdout, says);
      assertMatch(stderr, /^kvdrive: The store has 1 problem that --repair cannot correct/);
    });
  }
});

Deno.test("Drives and projects that are being removed are not wrong.", async () => {
  await using server = await TestServer.start();
  const commands = new StoreCommands(server.data);
  await commands.text("project", "create", "--id", "other");
  for (let round = 0; round < 3; round++) {
    const drive = new Drive(server, `gone-${round}`);
    await drive.putAll(Array.from({ length: 200 }, (_, i) => `f${i}`));
    await drive.put("large", FILES.large);
    await Upload.start(drive, "open");
    const path = `/admin/v1/projects/${PROJECT_ID}/drives/gone-${round}`;
    const headers = { "X-Api-Key": PROJECT_KEY };
    const answer = await fetch(server.origin + path, { method: "DELETE", headers });
    assertEquals(answer.status, 202, await answer.text());
    for (let i = 0; i < 3; i++) {
      const { code, stdout } = await commands.run("verify");
      assertEquals(code, 0, stdout);
    }
  }
  await server.stop();
  // This deletion is not resumed before the next start.
  await commands.text("project", "delete", PROJECT_ID, "--yes");
  assertMatch(await commands.text("verify"), /^No problems found/);
});

Deno.test("Names in the list do nothing to a terminal.", async () => {
  await using server = await TestServer.start();
  const name = "a\u001b[31m\nb";
  await new Drive(server, DRIVE).put(name, FILES.small);
  await server.stop();
  await editStore(server.data, (kv) => deleteFirst(kv, "content"));
  const { code, stdout } = await new StoreCommands(server.data).run("verify");
  assertEquals(code, 1);
  assert(!stdout.includes("\u001b"), stdout);
  assertEquals(stdout.trimEnd().split("\n").length, 1);
});

Deno.test("On a terminal it shows how far it is.", async () => {
  await using stock = await makeStock();
  const env = { TERM: "xterm" };
  const { code, text } = await runOnTerminal(["verify", "--data", stock.at("data")], { env });
  assertEquals(code, 0, text);
  assertMatch(text, /Verify/);
  assertMatch(text, /No problems found/);
});
