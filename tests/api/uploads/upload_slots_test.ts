import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import { beginUpload, Connection } from "../../faults/support/peers/connection.ts";
import { ADMINISTERED, Project } from "../../support/admin.ts";
import { MIB, patternBytes } from "../../support/bytes.ts";
import { PROJECT_ID, TestServer } from "../../support/server.ts";
import { assertErrorAnswer } from "../../support/suite.ts";

/** Slots that one project gets of 64, and uploads of it that wait for one. */
const RUNNING = 48;
const WAITING = 256;

/** Uploads of the tests' project that send one byte and then nothing. */
async function beginSlowUploads(server: TestServer, count: number): Promise<Connection[]> {
  return await Promise.all(Array.from({ length: count }, (_, i) => {
    return beginUpload(server.port, `/v1/${PROJECT_ID}/slow/files?name=${i}`, 1000, "0");
  }));
}

function close(connections: readonly Connection[]): void {
  for (const connection of connections) connection[Symbol.dispose]();
}

Deno.test("Slow uploads of one project keep no other project waiting.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  const drives = [(await Project.make(server)).drive("a"), (await Project.make(server)).drive("b")];
  const slow = await beginSlowUploads(server, 64);
  try {
    const began = performance.now();
    await Promise.all(drives.map(async (drive) => {
      for (let i = 0; i < 5; i++) await drive.put(`${i}`, patternBytes(MIB, i));
    }));
    // They wait for a minute where there is no slot for them.
    assert(performance.now() - began < 15_000);
  } finally {
    close(slow);
  }
});

Deno.test("A project has a limited number of uploads waiting, and others none of that.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  const drive = (await Project.make(server)).drive("a");
  const slow = await beginSlowUploads(server, RUNNING + WAITING + 20);
  try {
    const [refused] = await Promise.race(
      slow.map(async (connection) => [await connection.answer()]),
    );
    assert(refused !== undefined);
    assertErrorAnswer(refused.expect(503));
    assertMatch(refused.header("Retry-After"), /^[1-9]\d*$/);
    const began = performance.now();
    await drive.put("file", patternBytes(MIB));
    assertGreater(15_000, performance.now() - began);
    assertEquals(await drive.names(), ["file"]);
  } finally {
    close(slow);
  }
});
