import { assertEquals, assertMatch } from "@std/assert";
import {
  altered,
  damageBytes,
  type Edit,
  editStore,
  removed,
  shortened,
} from "../faults/support/edit_store.ts";
import { waitUntil } from "../support/cli/client.ts";
import { namesIn } from "../support/command.ts";
import { PROJECT_ID, TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { copyStock, DRIVE, makeStock } from "../support/store/stocked_store.ts";

/** What backups of a server are named. */
const NAMED = /^kvdrive-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/;
const PLACE = [PROJECT_ID, DRIVE] as const;

/** What happens to the bytes of a file behind the server's back. */
const DAMAGES: Record<string, Edit> = {
  "a flipped bit in a large file": (kv) => damageBytes(kv, "chunk", [...PLACE, "large"], altered),
  "a flipped bit in a part": (kv) => damageBytes(kv, "chunk", [...PLACE, "parts"], altered),
  "a flipped bit in a small file": (kv) => damageBytes(kv, "content", [...PLACE, "small"], altered),
  "a flipped bit in checksums": (kv) => damageBytes(kv, "checksums", [...PLACE, "parts"], altered),
  "checksums that are missing": (kv) => damageBytes(kv, "checksums", [...PLACE, "large"], removed),
  "a chunk that is shorter": (kv) => damageBytes(kv, "chunk", [...PLACE, "large"], shortened),
};

Deno.test("The copy of a damaged store replaces no backup.", async (t) => {
  await using stock = await makeStock();
  await new StoreCommands(stock.at("data")).text("backup", stock.at("good.db"));
  const good = await Deno.readFile(stock.at("good.db"));
  for (const [what, damage] of Object.entries(DAMAGES)) {
    await t.step(what, async () => {
      await using folder = await copyStock(stock);
      await Deno.writeFile(folder.at("copy.db"), good);
      await editStore(folder.at("data"), damage);
      await new StoreCommands(folder.at("data")).refused(
        1,
        /damaged in 1 places.*no backup and replaces none.*copy\.db\.damaged.*is damaged/,
        "backup",
        folder.at("copy.db"),
        "--force",
      );
      assertEquals(await Deno.readFile(folder.at("copy.db")), good);
      assertEquals(await namesIn(folder.path), ["copy.db", "copy.db.damaged", "data"]);
    });
  }
});

Deno.test("A server with a damaged store keeps its earlier backups and reports it.", async () => {
  await using stock = await makeStock();
  const backups = stock.at("backups");
  const args = ["--backup-dir", backups, "--every", "1s", "--keep", "1"];
  const options = { data: stock.at("data"), args };
  const made = async () => (await namesIn(backups)).filter((name) => NAMED.test(name));
  {
    await using server = await TestServer.start(options);
    await waitUntil("A backup is made", async () => (await made()).length > 0);
    await server.stop();
  }
  await editStore(stock.at("data"), (kv) => damageBytes(kv, "chunk", [...PLACE, "large"], altered));
  const before = await made();
  await using server = await TestServer.start(options);
  const told = () => server.text.split("no backup and replaces none").length - 1;
  await waitUntil("It is in the log", () => told() >= 2);
  assertMatch(server.text, /kvdrive-damaged\.db.*large.*chunk 0 of 11 does not match its checksum/);
  assertEquals(await made(), before);
  await server.stop();
  assertEquals(await namesIn(backups), ["kvdrive-damaged.db", ...before].sort());
  const restored = new StoreCommands(stock.at("restored"));
  await restored.text("restore", `${backups}/${before[0]}`);
  assertMatch(await restored.text("verify"), /^No problems found: 3 files/);
});
