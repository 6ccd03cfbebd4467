import { assertEquals, assertMatch } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { assertSameBytes, MIB, patternBytes, utf8 } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { assertFiles, Drive } from "../support/drive.ts";
import { readZip } from "../support/archive/zip_reader.ts";
import { GatedBody, PacedDownload } from "../support/paced_body.ts";
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

for (const signal of SIGNALS) {
  Deno.test(`${signal} ends an idle server with success, and its data stays.`, async () => {
    await using folder = await Folder.make();
    {
      await using server = await TestServer.start({ data: folder.path });
      await new Drive(server, "drive").put("a", "what was stored");
      assertEquals(await server.stop(signal), { success: true, code: 0, signal: null });
    }
    await using server = await TestServer.start({ data: folder.path });
    await assertFiles(new Drive(server, "drive"), { a: utf8("what was stored") });
  });

  Deno.test(`${signal} lets a running download finish.`, async () => {
    await using server = await TestServer.start();
    const drive = new Drive(server, "drive");
    await storeLarge(drive);
    const download = await beginDownload(drive);
    server.process.kill(signal);
    await turnsAway(server);
    assertSameBytes(await download.finish(), LARGE);
    assertEquals((await deadline(server.process.status, SOON)).code, 0);
  });

  Deno.test(`${signal} lets a running archive finish.`, async () => {
    await using server = await TestServer.start();
    const drive = new Drive(server, "drive");
    await storeLarge(drive);
    await drive.put("small", "small");
    const body = JSON.stringify({ prefixes: [""] });
    const archive = await PacedDownload.begin(
      await server.fetch("drive", "/archive", { method: "POST", body: utf8(body) }),
    );
    server.process.kill(signal);
    await turnsAway(server);
    const entries = readZip(await archive.finish());
    assertEquals(entries.map(({ path }) => path), ["large", "small"]);
    for (const { path, bytes } of entries) {
      assertSameBytes(bytes, path === "large" ? LARGE : utf8("small"));
    }
    assertEquals((await deadline(server.process.status, SOON)).code, 0);
  });

  Deno.test(`${signal} lets a running upload finish.`, async () => {
    await using folder = await Folder.make();
    const body = patternBytes(6 * MIB, 2);
    {
      await using server = await TestServer.start({ data: folder.path });
      const gated = new GatedBody(body);
      const drive = new Drive(server, "drive");
      const pending = drive.send("POST", "/files?name=a", { body: gated.stream });
      await isUnderWay(gated, drive);
      server.process.kill(signal);
      await turnsAway(server);
      while (!/Finishing 1 running request, for at most 10 s\. A second/.test(server.text)) {
        await delay(10);
      }
      gated.open();
      (await pending).expect(201);
      assertEquals((await deadline(server.process.status, SOON)).code, 0);
    }
    await using server = await TestServer.start({ data: folder.path });
    await assertFiles(new Drive(server, "drive"), { a: body });
  });
}

Deno.test("During shutdown, other requests get 503 with Retry-After while an upload finishes", async () => {
  await using server = await TestServer.start();
  const drive = new Drive(server, "drive");
  const gated = new GatedBody(patternBytes(6 * MIB, 5));
  const pending = drive.send("POST", "/files?name=a", { body: gated.stream });
  await isUnderWay(gated, drive);
  server.process.kill("SIGTERM");
  await turnsAway(server);
  const refused = await server.fetch("drive", "/files");
  assertEquals(refused.status, 503);
  assertMatch(refused.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  assertMatch(
    await refused.text(),
    /^\{"errors":\[".*shutting down.*"\],"code":"shutting_down"\}$/,
  );
  gated.open();
  (await pending).expect(201);
  assertEquals((await deadline(server.process.status, SOON)).code, 0);
});
