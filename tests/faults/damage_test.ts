import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { Folder, runCommand } from "../support/command.ts";
import { Drive, joinBytes, query, uploadParts } from "../support/drive.ts";
import { rawRequest } from "../support/raw.ts";
import { PROJECT_ID, TestServer } from "../support/server.ts";
import { assertErrorAnswer } from "../support/suite.ts";
import { altered, removed, shortened, StoppedStore } from "./support/edit_store.ts";
import { Connection } from "./support/peers/connection.ts";
import { waitFor } from "../support/log.ts";

const DAMAGES = { removed, shortened, altered };
const DRIVE = "damage";
const SMALL = patternBytes(3000, 1);
const LARGE = patternBytes(3 * MIB, 2);
const PARTS = [patternBytes(5 * MIB, 3), patternBytes(5 * MIB, 4), patternBytes(100_000, 5)];
const WHOLE = joinBytes(PARTS);
/** The chunk of a large file that is damaged: the third from its end. */
const CHUNK = -3;

/** Stores files with a server, stops it, damages the store, and starts another server. */
async function withDamage(
  store: (drive: Drive) => Promise<unknown>,
  damage: (store: StoppedStore) => Promise<void> | void,
  run: (drive: Drive) => Promise<void>,
): Promise<void> {
  await using folder = await Folder.make();
  {
    await using server = await TestServer.start({ data: folder.path });
    const drive = new Drive(server, DRIVE);
    await drive.put("fine-small", SMALL);
    await drive.put("fine-large", LARGE);
    await store(drive);
    await server.stop();
  }
  {
    using stopped = await StoppedStore.open(folder.path, DRIVE);
    await damage(stopped);
  }
  await using server = await TestServer.start({ data: folder.path });
  const drive = new Drive(server, DRIVE);
  await run(drive);
  assertSameBytes((await drive.get("fine-small")).expect(200).bytes, SMALL);
  assertSameBytes((await drive.get("fine-large")).expect(200).bytes, LARGE);
  assertNotMatch(server.text, /^\s+at .*:\d+:\d+/m);
}

/** Waits for a line of the log: the answer may come first. */
async function isLogged({ server }: Drive, line: RegExp): Promise<void> {
  await waitFor(`a line ${line}`, () => line.test(server.text) || undefined);
}

/** Asserts that the log names the file, and that it can be replaced and deleted. */
async function assertRepairable(drive: Drive, name: string): Promise<void> {
  await isLogged(drive, new RegExp(name));
  await drive.put(name, LARGE);
  assertSameBytes((await drive.get(name)).expect(200).bytes, LARGE);
  assertEquals(await drive.delete([name]), { deleted: [name], failed: [] });
  assertEquals(await drive.usage(), { files: 2, bytes: SMALL.length + LARGE.length });
}

/**
 * Downloads a damaged file. Returns the bytes that arrived: fewer than Content-Length, and none after a status of 500.
 */
async function readBroken(
  drive: Drive,
  name: string,
  range?: string,
): Promise<Uint8Array<ArrayBuffer>> {
  using connection = await Connection.open(drive.server.port);
  const path = `/v1/${PROJECT_ID}/${DRIVE}/files/download${query({ name })}`;
  await connection.send(rawRequest("GET", path, range === undefined ? {} : { Range: range }));
  const answer = await connection.answer();
  assert(answer !== undefined, "The connection ended without a response");
  if (answer.status === 500) {
    assertErrorAnswer(answer);
    return new Uint8Array();
  }
  const { bytes } = answer.expect(range === undefined ? 200 : 206);
  assert(
    bytes.length < Number(answer.header("Content-Length")),
    "All bytes of Content-Length arrived",
  );
  return bytes;
}

for (const [what, damage] of Object.entries(DAMAGES)) {
  Deno.test(`A small file whose content was ${what} is not sent.`, async () => {
    const name = `small-${what}`;
    await withDamage(
      (drive) => drive.put(name, SMALL),
      (store) => store.damageContent(name, damage),
      async (drive) => {
        for (const headers of [{}, { Range: "bytes=100-199" }]) {
          assertErrorAnswer((await drive.get(name, headers)).expect(500));
        }
        assertEquals((await drive.names()).includes(name), true);
        await assertRepairable(drive, name);
      },
    );
  });
}

for (const [what, damage] of Object.entries(DAMAGES)) {
  Deno.test(`A large file with a chunk that was ${what} breaks before that chunk.`, async () => {
    const name = `large-${what}`;
    await withDamage(
      (drive) => drive.put(name, LARGE),
      (store) => store.damageChunk(name, CHUNK, damage),
      async (drive) => {
        const bytes = await readBroken(drive, name);
        assertSameBytes(bytes, LARGE.slice(0, bytes.length));
        const range = await drive.get(name, { Range: "bytes=1000-70000" });
        assertSameBytes(range.expect(206).bytes, LARGE.slice(1000, 70_001));
        await assertRepairable(drive, name);
      },
    );
  });

  Deno.test(`A multipart file with a chunk that was ${what} breaks before that chunk.`, async () => {
    const name = `parts-${what}`;
    await withDamage(
      (drive) => uploadParts(drive, name, PARTS),
      (store) => store.damageChunk(name, CHUNK, damage),
      async (drive) => {
        const bytes = await readBroken(drive, name);
        assertSameBytes(bytes, WHOLE.slice(0, bytes.length));
        const range = await drive.get(name, { Range: "bytes=5000000-5300000" });
        assertSameBytes(range.expect(206).bytes, WHOLE.slice(5_000_000, 5_300_001));
        await assertRepairable(drive, name);
      },
    );
  });
}

for (const [what, damage] of Object.entries(DAMAGES)) {
  Deno.test(`A file whose checksums were ${what} is not sent.`, async () => {
    const name = `checksums-${what}`;
    await withDamage(
      (drive) => drive.put(name, LARGE),
      (store) => store.damageChecksums(name, damage),
      async (drive) => {
        assertSameBytes(await readBroken(drive, name), new Uint8Array());
        assertSameBytes(await readBroken(drive, name, "bytes=1000-70000"), new Uint8Array());
        await assertRepairable(drive, name);
      },
    );
  });
}

Deno.test("A file whose record cannot be read is damaged, missing in lists, and can be replaced and deleted.", async () => {
  const names = ["fine-large", "fine-small"];
  await withDamage(
    async (drive) => {
      await drive.put("broken-1", SMALL);
      await drive.put("broken-2", LARGE);
    },
    (store) => {
      store.breakRecord("broken-1");
      store.breakRecord("broken-2");
    },
    async (drive) => {
      assertEquals(await drive.names(), names);
      for (const name of ["broken-1", "broken-2"]) {
        const { errors } = (await drive.get(name)).expect(500);
        assertMatch(String(errors[0]), /^The file is damaged: restore it from a backup/);
        await isLogged(drive, new RegExp(name));
      }
      await drive.put("broken-1", LARGE);
      assertSameBytes((await drive.get("broken-1")).expect(200).bytes, LARGE);
      assertEquals(await drive.names(), ["broken-1", ...names]);
      const both = ["broken-1", "broken-2"];
      assertEquals(await drive.delete(both), { deleted: both, failed: [] });
      (await drive.get("broken-2")).expect(404);
      assertEquals((await drive.usage())?.files, names.length);
    },
  );
});

Deno.test("A damaged counter ends no server: writes to its drive fail until verify corrects it.", async () => {
  await withDamage(
    (drive) => drive.put("before", SMALL),
    (store) => store.breakCounters(),
    async (drive) => {
      for (let i = 0; i < 2; i++) {
        const body = patternBytes(10);
        const answer = await drive.send("POST", "/files?name=after", { body });
        assertErrorAnswer(answer.expect(500));
      }
      await isLogged(drive, /The entry .*usage.* cannot be read/);
      assertSameBytes((await drive.get("before")).expect(200).bytes, SMALL);
      await drive.another("other").put("a", SMALL);
      const repair = ["verify", "--repair", "--data", drive.server.data];
      const { code, stdout } = await runCommand(repair);
      assertEquals(code, 0, stdout);
      await drive.put("after", LARGE);
      assertEquals(await drive.usage(), {
        files: 4,
        bytes: 2 * SMALL.length + 2 * LARGE.length,
      });
    },
  );
});
