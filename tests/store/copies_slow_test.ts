import { assertEquals, assertMatch } from "@std/assert";
import { auditStore } from "../faults/support/audit/store_audit.ts";
import { sweepStore } from "../faults/support/crash.ts";
import { administer, ADMINISTERED, PROJECTS, withKey } from "../support/admin.ts";
import { assertSameBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive, uploadParts } from "../support/drive.ts";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { DRIVE, FILES } from "../support/store/stocked_store.ts";

const HALF = 5_000_001;

async function copy(drive: Drive, from: string, to: string): Promise<void> {
  const body = JSON.stringify({ from, to });
  (await drive.send("POST", "/files/copy", { body })).expect(201);
}

/** Stores a file of each layout and two copies of each. */
async function storeCopies(drive: Drive): Promise<void> {
  await drive.put("small", FILES.small);
  await drive.put("large", FILES.large);
  await uploadParts(drive, "parts", [FILES.parts.slice(0, HALF), FILES.parts.slice(HALF)]);
  for (const name of Object.keys(FILES)) {
    await copy(drive, name, `${name}-1`);
    await copy(drive, `${name}-1`, `${name}-2`);
  }
}

/** Deletes and replaces files of a store with copies. */
const USES: Record<string, (drive: Drive) => Promise<unknown>> = {
  "copied": () => Promise.resolve(),
  "copied and deleted": (drive) => drive.delete(Object.keys(FILES)),
  "copied and replaced": async (drive) => {
    for (const name of Object.keys(FILES)) await drive.put(name, "new");
  },
  "copied and deleted with the trash": async (drive) => {
    const options = { body: { trash_days: 30 }, as: withKey(PROJECT_KEY) };
    (await administer(drive.server, "PATCH", `${PROJECTS}/${PROJECT_ID}`, options)).expect(200);
    await drive.delete(Object.keys(FILES));
    for (const name of Object.keys(FILES)) await drive.put(`${name}-1`, "new");
  },
};

for (const [what, use] of Object.entries(USES)) {
  Deno.test(`Every entry of a store has an owner after files were ${what}.`, async () => {
    await using folder = await Folder.make();
    const commands = new StoreCommands(folder.path);
    const options = { ...ADMINISTERED, data: folder.path };
    {
      await using server = await TestServer.start(options);
      const drive = new Drive(server, DRIVE);
      await storeCopies(drive);
      await use(drive);
      await server.stop();
    }
    await auditStore(folder.path, false);
    assertMatch(await commands.text("verify"), /^No problems found: [69] files/);
    // The first sweep releases the references, the second what the last of them has left.
    for (let i = 0; i < 2; i++) await sweepStore(folder.path);
    await auditStore(folder.path, true);
    assertMatch(await commands.text("verify"), /^No problems found/);
    await using server = await TestServer.start(options);
    const drive = new Drive(server, DRIVE);
    for (const [name, bytes] of Object.entries(FILES)) {
      assertSameBytes((await drive.get(`${name}-2`)).expect(200).bytes, bytes, name);
    }
  });
}

Deno.test("Nothing is left of copies that were all deleted.", async () => {
  await using folder = await Folder.make();
  {
    await using server = await TestServer.start({ data: folder.path });
    const drive = new Drive(server, DRIVE);
    await storeCopies(drive);
    await drive.delete(await drive.names());
    await server.stop();
  }
  await auditStore(folder.path, false);
  for (let i = 0; i < 2; i++) await sweepStore(folder.path);
  await auditStore(folder.path, true);
  assertEquals(
    await new StoreCommands(folder.path).text("verify"),
    "No problems found: 0 files, 0 bytes.\n",
  );
});
