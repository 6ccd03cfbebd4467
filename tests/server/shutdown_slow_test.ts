import { assert, assertEquals, assertRejects } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { assertSameBytes, MIB, patternBytes, utf8 } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { assertFiles, Drive, Upload } from "../support/drive.ts";
import { GatedBody } from "../support/paced_body.ts";
import { TestServer } from "../support/server.ts";
import {
  beginDownload,
  isUnderWay,
  LARGE,
  SIGNALS,
  SOON,
  storeLarge,
  turnsAway,
} from "../support/shutdown.ts";

const TIMEOUTS: readonly { what: string; args: string[]; env: Record<string, string> }[] = [
  { what: "--shutdown-timeout", args: ["--shutdown-timeout", "1s"], env: {} },
  { what: "KVDRIVE_SHUTDOWN_TIMEOUT", args: [], env: { KVDRIVE_SHUTDOWN_TIMEOUT: "1s" } },
  {
    what: "--shutdown-timeout, which overrides the variable,",
    args: ["--shutdown-timeout", "1s"],
    env: { KVDRIVE_SHUTDOWN_TIMEOUT: "1h" },
  },
];

for (const { what, args, env } of TIMEOUTS) {
  Deno.test(`${what} cuts a download that would take longer.`, async () => {
    await using server = await TestServer.start({ args, env });
    const drive = new Drive(server, "drive");
    await storeLarge(drive);
    const download = await beginDownload(drive);
    server.process.kill("SIGTERM");
    assertEquals((await deadline(server.process.status, SOON)).code, 0);
    // "otherwise its connection breaks short of `Content-Length`: never other bytes"
    await assertRejects(() => download.finish());
  });
}

Deno.test("A download that is not read holds the server for as long as it may.", async () => {
  await using server = await TestServer.start({ args: ["--shutdown-timeout", "1h"] });
  const drive = new Drive(server, "drive");
  await storeLarge(drive);
  const download = await beginDownload(drive);
  server.process.kill("SIGTERM");
  await turnsAway(server);
  const ended = server.process.status.then(() => true);
  assertEquals(await Promise.race([ended, delay(1500).then(() => false)]), false);
  assertSameBytes(await download.finish(), LARGE);
  assertEquals((await deadline(server.process.status, SOON)).code, 0);
});

for (const second of SIGNALS) {
  Deno.test(`A second signal, ${second}, ends the server at once.`, async () => {
    await using folder = await Folder.make();
    {
      const args = ["--shutdown-timeout", "1h"];
      await using server = await TestServer.start({ args, data: folder.path });
      const drive = new Drive(server, "drive");
      await storeLarge(drive);
      const download = await beginDownload(drive);
      server.process.kill("SIGTERM");
      await turnsAway(server);
      server.process.kill(second);
      await deadline(server.process.status, SOON);
      await assertRejects(() => download.finish());
    }
    await using server = await TestServer.start({ data: folder.path });
    await assertFiles(new Drive(server, "drive"), { large: LARGE });
  });
}

Deno.test("Uploads that were cut leave the earlier files, and can be taken up again.", async () => {
  await using folder = await Folder.make();
  const part = patternBytes(6 * MIB, 3);
  let id = "";
  {
    const args = ["--shutdown-timeout", "1s"];
    await using server = await TestServer.start({ args, data: folder.path });
    const drive = new Drive(server, "drive");
    await drive.put("a", "the earlier version");
    const upload = await Upload.start(drive, "parts");
    (await upload.send(1, part)).expect(200);
    id = upload.id;
    const gated = new GatedBody(patternBytes(6 * MIB, 4));
    const sent = drive.send("POST", "/files?name=a", { body: gated.stream });
    const outcome = sent.then(({ status }) => status, () => "cut");
    await isUnderWay(gated, drive);
    server.process.kill("SIGTERM");
    assertEquals((await deadline(server.process.status, SOON)).code, 0);
    gated.breakOff();
    assert(["cut", 400, 503].includes(await outcome), `The upload ended with ${await outcome}`);
  }
  await using server = await TestServer.start({ data: folder.path });
  const drive = new Drive(server, "drive");
  await assertFiles(drive, { a: utf8("the earlier version") });
  (await new Upload(drive, "parts", id).complete()).expect(200);
  await assertFiles(drive, { a: utf8("the earlier version"), parts: part });
});

Deno.test("kill -9 right after an answer loses nothing that was answered.", async () => {
  await using folder = await Folder.make();
  const kept: Record<string, Uint8Array<ArrayBuffer>> = {};
  for (let round = 0; round < 4; round++) {
    await using server = await TestServer.start({ data: folder.path });
    const drive = new Drive(server, "drive");
    await assertHoldsAtLeast(drive, kept);
    await storeUntilKilled(server, drive, round, kept);
  }
  await using server = await TestServer.start({ data: folder.path });
  const drive = new Drive(server, "drive");
  await assertHoldsAtLeast(drive, kept);
  assert(Object.keys(kept).length >= 4 * 12, "Too little was stored to show anything");
});

/** Writers of small and large files at once, and SIGKILL as soon as a dozen answers have come. */
async function storeUntilKilled(
  server: TestServer,
  drive: Drive,
  round: number,
  kept: Record<string, Uint8Array<ArrayBuffer>>,
): Promise<void> {
  let answered = 0;
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let i = 0; answered < 12; i++) {
      const name = `${round}/${writer}/${i}`;
      const bytes = patternBytes(writer % 2 === 0 ? 1000 + i : 300_000 + i, round * 100 + i);
      await drive.put(name, bytes);
      kept[name] = bytes;
      if (++answered === 12) server.process.kill("SIGKILL");
    }
  });
  const ends = await Promise.allSettled(writers);
  for (const end of ends) {
    // The other writers were cut off, and their files may be there or not, but whole.
    if (end.status === "rejected") assert(end.reason instanceof TypeError, String(end.reason));
  }
  await server.process.status;
}

async function assertHoldsAtLeast(
  drive: Drive,
  kept: Readonly<Record<string, Uint8Array>>,
): Promise<void> {
  for (const [name, bytes] of Object.entries(kept)) {
    assertSameBytes((await drive.get(name)).expect(200).bytes, bytes);
  }
  const details = await drive.details();
  const bytes = details.reduce((sum, { size }) => sum + size, 0);
  const counted = await drive.usage() ?? { files: 0, bytes: 0 };
  assertEquals(counted, { files: details.length, bytes });
}
