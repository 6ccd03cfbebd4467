import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Drive } from "../support/drive.ts";
import { GatedBody } from "../support/paced_body.ts";
import { TestServer } from "../support/server.ts";
import { StoreLock } from "./support/store_files.ts";

/** Time for the responses to all uploads, in milliseconds. They share one wait of 5 s for the lock. */
const ANSWER_TIME = 30_000;

Deno.test("Running uploads are answered in time while another process holds the lock.", async () => {
  await using server = await TestServer.start();
  const drive = new Drive(server, "locked");
  const gates = Array.from({ length: 32 }, (_, i) => {
    return new GatedBody(patternBytes(3 * MIB, i), MIB);
  });
  const answers = gates.map(({ stream }, i) => {
    return drive.send("POST", `/files?name=f${i}`, { body: stream });
  });
  // By now the first chunks are stored, or about to be. Both cases must be answered.
  await delay(2000);
  {
    using _lock = new StoreLock(server.data);
    const began = performance.now();
    for (const gate of gates) gate.open();
    for (const { status, text } of await Promise.all(answers)) assertEquals(status, 503, text);
    const lasted = performance.now() - began;
    assert(lasted < ANSWER_TIME, `The last response took ${lasted} ms`);
  }
  const bytes = patternBytes(MIB, 99);
  (await drive.send("POST", "/files?name=after", { body: bytes })).expect(201);
});
