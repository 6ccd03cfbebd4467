import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { altered, damageBytes, type Edit, editStore } from "../faults/support/edit_store.ts";
import { administer, ADMINISTERED, administrator, PROJECTS, SECONDS } from "../support/admin.ts";
import { assertSameBytes, digestField, MIB, patternBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive, uploadParts } from "../support/drive.ts";
import { PROJECT_ID, TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { copyStock, DRIVE, FILES, makeStock } from "../support/store/stocked_store.ts";
import { assertErrorAnswer } from "../support/suite.ts";

const PLACE = [PROJECT_ID, DRIVE] as const;
const PATIENCE = 90_000;
const OFTEN = { ...ADMINISTERED, args: ["--scrub-every", "200ms"] };

interface Integrity {
  damaged_files: number;
  damaged: { name: string; problem: string; found: string }[];
  last_check_began: string | null;
  last_check_ended: string | null;
  progress: number;
}

async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!await isSo()) {
    assert(Date.now() < end, `It never happened: ${what}`);
    await delay(20);
  }
}

async function integrityOf(server: TestServer): Promise<Integrity> {
  const answer = await administer(server, "GET", PROJECTS);
  return (answer.expect(200).json as { integrity: Integrity }).integrity;
}

async function metricsOf(server: TestServer): Promise<string> {
  const answer = await fetch(`${server.origin}/metrics`, { headers: administrator });
  return await answer.text();
}

async function digestOf(drive: Drive, name: string): Promise<string | null> {
  return (await drive.get(name, { Range: "bytes=0-0" })).headers.get("Repr-Digest");
}

/** Waits until a pass has ended that began from now on. */
async function checkAll(server: TestServer): Promise<Integrity> {
  const passes = async () =>
    Number(
      /^kvdrive_scrub_runs_total\{outcome="done"\} (\d+)$/m.exec(await metricsOf(server))?.[1],
    );
  const before = await passes();
  await until("All files are checked", async () => await passes() >= before + 2);
  return await integrityOf(server);
}

/** Removes the digest of the file of several parts, and the journal entry that asks for it. */
const dropDigest: Edit = async (kv) => {
  for await (const { key } of kv.list({ prefix: ["undigested"] })) await kv.delete(key);
  interface FileValue {
    sha256?: string;
    layout: { kind: string };
  }
  for await (const { key, value } of kv.list<FileValue>({ prefix: ["file"] })) {
    if (value.layout.kind === "manifest") delete value.sha256;
    await kv.set(key, value);
  }
};

Deno.test("A file made of parts has its digest soon, and nothing else of it changes.", async () => {
  await using server = await TestServer.start();
  const drive = new Drive(server, DRIVE);
  const parts = [patternBytes(5 * MIB, 1), patternBytes(100, 2)];
  await uploadParts(drive, "a", parts);
  const whole = new Uint8Array(await new Blob(parts).arrayBuffer());
  const { headers } = (await drive.get("a")).expect(200);
  const wanted = await digestField(whole);
  await until("The digest is there", async () => await digestOf(drive, "a") === wanted);
  const after = (await drive.get("a")).expect(200);
  assertEquals(after.header("Repr-Digest"), wanted);
  for (const name of ["ETag", "Last-Modified", "Content-Type"]) {
    assertEquals(after.header(name), headers.get(name));
  }
  assertSameBytes(after.bytes, whole);
  for (const [name, parts] of [["one", [patternBytes(100_000, 3)]], ["none", []]] as const) {
    await uploadParts(drive, name, parts);
    const answer = (await drive.get(name)).expect(200);
    assertEquals(answer.header("Repr-Digest"), await digestField(answer.bytes), name);
  }
});

Deno.test("A digest that was not computed at the end of a server is by the next one.", async () => {
  await using folder = await Folder.make();
  const parts = Array.from({ length: 3 }, (_, i) => patternBytes(8 * MIB, i + 1));
  const wanted = await digestField(new Uint8Array(await new Blob(parts).arrayBuffer()));
  {
    await using server = await TestServer.start({ data: folder.path });
    await uploadParts(new Drive(server, DRIVE), "a", parts);
    await server.stop("SIGKILL");
  }
  await using server = await TestServer.start({ data: folder.path });
  const drive = new Drive(server, DRIVE);
  await until("The digest is there", async () => await digestOf(drive, "a") === wanted);
});

/** What happens to a file on the disk, and what is said of it. */
const DAMAGES: Record<string, { name: string; edit: Edit; says: RegExp }> = {
  "a flipped bit in a chunk": {
    name: "large",
    edit: (kv) => damageBytes(kv, "chunk", [...PLACE, "large"], altered),
    says: /^chunk 0 of 11 does not match its checksum$/,
  },
  "a flipped bit in a part": {
    name: "parts",
    edit: (kv) => damageBytes(kv, "chunk", [...PLACE, "parts"], altered),
    says: /^of its part 1, chunk 0 of 77 does not match its checksum$/,
  },
  "a flipped bit in a small file": {
    name: "small",
    edit: (kv) => damageBytes(kv, "content", [...PLACE, "small"], altered),
    says: /SHA-256/,
  },
};

Deno.test("The scrub finds what the disk lost, and forgets it when the file is replaced.", async (t) => {
  await using stock = await makeStock();
  for (const [what, { name, edit, says }] of Object.entries(DAMAGES)) {
    await t.step(what, async () => {
      await using folder = await copyStock(stock);
      await editStore(folder.at("data"), edit);
      await using server = await TestServer.start({ ...OFTEN, data: folder.at("data") });
      await until("It is found", async () => (await integrityOf(server)).damaged_files > 0);
      const { damaged, damaged_files, last_check_began } = await checkAll(server);
      assertEquals([damaged_files, damaged.map((it) => it.name)], [1, [name]]);
      assertMatch(damaged[0]?.problem ?? "", says);
      assertMatch(damaged[0]?.found ?? "", SECONDS);
      assertMatch(last_check_began ?? "", SECONDS);
      const end = /The scrub has checked 3 files of 10703001 bytes: 1 are damaged/;
      await until("It is logged", () => end.test(server.text));
      const errors = server.text.split("\n").filter((line) => line.includes('"level":"error"'));
      assertEquals(errors.length, 1, "What is known is not told again");
      assert(errors[0]?.includes(`\\"${name}\\" in drive`) && errors[0].includes("is damaged"));
      await until(
        "It is a figure",
        async () => /^kvdrive_damaged_files 1$/m.test(await metricsOf(server)),
      );
      await new Drive(server, DRIVE).put(name, "new");
      assertEquals((await integrityOf(server)).damaged_files, 0);
      assertEquals((await checkAll(server)).damaged, []);
    });
  }
});

Deno.test("Known damage survives a restart without a scrub.", async () => {
  await using stock = await makeStock();
  const data = stock.at("data");
  await editStore(data, (kv) => damageBytes(kv, "chunk", [...PLACE, "large"], altered));
  const args = ["--scrub-every", "off"];
  {
    await using server = await TestServer.start({ ...ADMINISTERED, args, data });
    assertEquals((await integrityOf(server)).damaged_files, 0);
    // A download is what finds it here.
    assertErrorAnswer((await new Drive(server, DRIVE).get("large")).expect(500));
    await until("It is known", async () => (await integrityOf(server)).damaged_files === 1);
    assertMatch(await metricsOf(server), /^kvdrive_damaged_reads_total 1$/m);
    await server.stop();
  }
  await using server = await TestServer.start({ ...ADMINISTERED, args, data });
  const { damaged, last_check_began } = await integrityOf(server);
  assertEquals(damaged.map((it) => it.name), ["large"]);
  assertEquals(last_check_began, null);
});

Deno.test("The scrub adds a digest that is missing.", async () => {
  await using stock = await makeStock();
  const data = stock.at("data");
  const commands = new StoreCommands(data);
  await editStore(data, dropDigest);
  assertMatch(
    await commands.text("verify"),
    /^No problems found: 3 files, \d+ bytes\.\nNot checked: 1 files have no digest/,
  );
  await using server = await TestServer.start({ ...OFTEN, data });
  const drive = new Drive(server, DRIVE);
  for (const [name, bytes] of Object.entries(FILES)) {
    assertSameBytes((await drive.get(name)).expect(200).bytes, bytes, name);
  }
  await checkAll(server);
  for (const [name, bytes] of Object.entries(FILES)) {
    const answer = (await drive.get(name)).expect(200);
    assertSameBytes(answer.bytes, bytes, name);
    assertEquals(answer.header("Repr-Digest"), await digestField(bytes));
  }
  assertMatch(await metricsOf(server), /^kvdrive_scrub_files_total\{outcome="converted"\} 1$/m);
  await server.stop();
  assertMatch(await commands.text("verify"), /^No problems found: 3 files, \d+ bytes\.\n$/);
  await editStore(data, (kv) => damageBytes(kv, "chunk", [...PLACE, "parts"], altered));
  const { code, stdout } = await commands.run("verify");
  assertEquals(code, 1);
  assertMatch(stdout, /of its part 1, chunk 0 of 77 does not match its checksum/);
});
