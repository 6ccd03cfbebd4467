import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Drive } from "../support/drive.ts";
import { GatedBody } from "../support/paced_body.ts";
import { TestServer } from "../support/server.ts";
import { StoreLock } from "./support/store_file.ts";

/** Milliseconds in which each of many uploads is answered: the lock is waited for 5 s, once for all of them. */
const ANSWER_TIME = 30_000;

Deno.test("Uploads that are under way are all answered soon when another process keeps the lock.", async () => {
  await using server = await TestServer.start();
  const drive = new Drive(server, "locked");
  const gates = Array.from({ length: 32 }, (_, i) => {
    return new GatedBody(patternBytes(3 * MIB, i), MIB);
  });
  const answers = gates.map(({ stream }, i) => {
    return drive.send("POST", `/files?name=f${i}`, { body: stream });
  });
  // Their first chunks are in the store by then, or soon after: both ways they are answered.
  await delay(2000);
  {
    using _lock = new StoreLock(server.data);
    const began = performance.now();
    for (const gate of gates) gate.open();
    for (const { status, text } of await Promise.all(answers)) assertEquals(status, 503, text);
    const lasted = performance.now() - began;
    assert(lasted < ANSWER_TIME, `The last answer came after ${lasted} ms`);
  }
  const bytes = patternBytes(MIB, 99);
  (await drive.send("POST", "/files?name=after", { body: bytes })).expect(201);
});
