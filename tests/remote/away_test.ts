import { assert, assertEquals } from "@std/assert";
import type { Answer } from "../support/answer.ts";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Drive, Upload } from "../support/drive.ts";
import { GatedBody } from "../support/paced_body.ts";
import { residentBytes } from "../support/server.ts";
import { assertErrorAnswer } from "../support/suite.ts";
import { SharedStore, SLOWNESS, untilThere } from "./support.ts";

/** When the server gives up a commit, in milliseconds. */
const DEADLINE = 10_000;

/** The answer of a server whose store is away: at the latest in time, and with a time to come back. */
async function assertAway(request: () => Promise<Answer>): Promise<void> {
  const begun = Date.now();
  const answer = await request();
  assertErrorAnswer(answer.expect(503));
  assertEquals(answer.header("Retry-After"), "1");
  assert(Date.now() - begun < DEADLINE + SLOWNESS, `It took ${Date.now() - begun} ms`);
}

for (const how of ["ends", "is cut off", "is silent"] as const) {
  Deno.test(`A store that ${how} is 503 everywhere, and found again by itself.`, async () => {
    await using shared = await SharedStore.start();
    await using server = await shared.serve();
    const drive = new Drive(server, "photos");
    const content = patternBytes(300_000);
    await drive.put("small", "12345");
    await drive.put("large", content);
    const upload = await Upload.start(drive, "film");
    (await upload.send(1, patternBytes(70_000))).expect(200);

    const whileAway = async (): Promise<void> => {
      const calls = [
        () => drive.send("POST", "/files?name=other", { body: "x" }),
        () => drive.send("POST", "/files?name=other2", { body: content }),
        () => drive.get("small"),
        () => drive.get("large"),
        () => drive.send("GET", "/files"),
        () => drive.send("DELETE", "/files?names=none"),
        () => drive.send("POST", "/uploads?name=b"),
        () => upload.send(2, patternBytes(1000)),
        () => upload.complete(),
      ];
      await Promise.all(calls.map((call) => assertAway(call)));
      // From then on no request waits.
      const begun = Date.now();
      for (let i = 0; i < 10; i++) await Promise.all(calls.map((call) => assertAway(call)));
      assert(Date.now() - begun < DEADLINE, "Requests wait for a store that is away");
    };
    if (how === "ends") await shared.restart(whileAway);
    else {
      shared.link.state = how === "is silent" ? "silent" : "cut";
      await whileAway();
      shared.link.state = "whole";
    }

    await untilThere(drive);
    assertEquals(await drive.text("small"), "12345");
    assertEquals((await drive.get("large")).expect(200).bytes, content);
    (await upload.send(1, patternBytes(80_000))).expect(200);
    (await upload.complete()).expect(200);
    assertEquals((await drive.get("film")).expect(200).bytes, patternBytes(80_000));
    const files = await drive.details();
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    assertEquals(await drive.usage(), { files: files.length, bytes });
  });
}

Deno.test("A store that returns in time causes no error, and running uploads continue.", async () => {
  await using shared = await SharedStore.start();
  await using server = await shared.serve();
  const drive = new Drive(server, "photos");
  await drive.put("small", "12345");
  const content = patternBytes(5 * MIB);
  const body = new GatedBody(content, 3 * MIB);
  const running = drive.send("POST", "/files?name=large", { body: body.stream });
  await body.halfSent;
  const asked: Promise<Answer>[] = [];
  await shared.restart(() => {
    asked.push(drive.get("small"), drive.send("POST", "/files?name=other", { body: "x" }));
    body.open();
    return Promise.resolve();
  });
  assertEquals((await Promise.all(asked)).map(({ status }) => status), [200, 201]);
  (await running).expect(201);
  assertEquals((await drive.get("large")).expect(200).bytes, content);
  assertEquals(await drive.usage(), { files: 3, bytes: 6 + content.byteLength });
});

Deno.test("Requests during an outage of the store do not accumulate in memory.", async () => {
  await using shared = await SharedStore.start();
  await using server = await shared.serve();
  const drive = new Drive(server, "photos");
  await drive.put("small", "12345");
  const ask = async (count: number): Promise<void> => {
    const body = patternBytes(60_000);
    for (let i = 0; i < count; i += 20) {
      const calls = Array.from(
        { length: 20 },
        (_, n) => drive.send("POST", `/files?name=${i + n}`, { body }),
      );
      for (const answer of await Promise.all(calls)) answer.expect(503);
    }
  };
  shared.link.state = "silent";
  await ask(200);
  const before = await residentBytes(server.process.pid);
  await ask(2000);
  // 2000 bodies of 60 KB would be 120 MB.
  const after = await residentBytes(server.process.pid);
  assert(after - before < 60 * MIB, `${before} bytes became ${after}`);
  shared.link.state = "whole";
  await untilThere(drive);
});
