import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { Drive } from "../support/drive.ts";
import { rawRequest } from "../support/raw.ts";
import { PROJECT_ID, TestServer } from "../support/server.ts";
import { assertErrorAnswer } from "../support/suite.ts";
import { Connection } from "./support/peers/connection.ts";

/** How long an upload may stay below the minimum rate, and the time for a JSON body, in milliseconds. */
const GRACE = 30_000;
const JSON_TIME = 60_000;

/** Time between two pieces, in milliseconds: less than the idle timeout. */
const PAUSE = 500;

/** Starts to send a body in pieces. */
async function begin(
  server: TestServer,
  method: string,
  query: string,
  pieces: readonly string[],
): Promise<{ connection: Connection; began: number; sending: Promise<void> }> {
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const connection = await Connection.open(server.port);
  const headers = { "Content-Length": String(size) };
  const target = `/v1/${PROJECT_ID}/slow/files${query}`;
  await connection.send(rawRequest(method, target, headers, ""));
  const sending = async () => {
    for (const piece of pieces) {
      await delay(PAUSE);
      if (!await connection.send(piece)) return;
    }
  };
  return { connection, began: performance.now(), sending: sending() };
}

async function assertTooSlow(
  { connection, began, sending }: Awaited<ReturnType<typeof begin>>,
  time: number,
): Promise<void> {
  await delay(time - 5000);
  const answer = await connection.answer();
  assert(answer !== undefined);
  assertErrorAnswer(answer.expect(408));
  assertEquals(answer.errors, ["The body came too slowly: nothing was stored, send it again"]);
  const took = performance.now() - began;
  assert(took > time - 1000, `The response took ${took} ms`);
  connection[Symbol.dispose]();
  await sending.catch(() => {});
}

async function checkWithoutMinimumRate(): Promise<void> {
  const args = ["--idle-timeout", "6s", "--min-upload-rate", "0"];
  await using server = await TestServer.start({ args });
  const pieces = Array.from({ length: 66 }, () => "x");
  const { connection, sending } = await begin(server, "POST", "?name=slow", pieces);
  await sending;
  assertEquals((await connection.answer())?.status, 201);
  connection[Symbol.dispose]();
}

async function checkWithMinimumRate(): Promise<void> {
  const args = ["--idle-timeout", "6s", "--min-upload-rate", "1000"];
  await using server = await TestServer.start({ args });
  const drive = new Drive(server, "slow");
  const bytes = Array.from({ length: 200 }, () => "x");
  const [, , fast] = await Promise.all([
    begin(server, "POST", "?name=slow", bytes).then((it) => assertTooSlow(it, GRACE)),
    begin(server, "DELETE", "", bytes).then((it) => assertTooSlow(it, JSON_TIME)),
    // Twice the minimum rate, for longer than the grace period.
    begin(server, "POST", "?name=fast", Array.from({ length: 80 }, () => "x".repeat(1000))),
  ]);
  await fast.sending;
  assertEquals((await fast.connection.answer())?.status, 201);
  fast.connection[Symbol.dispose]();
  assertEquals(await drive.names(), ["fast"]);
}

Deno.test("A sender below the minimum rate is disconnected.", async () => {
  await Promise.all([checkWithMinimumRate(), checkWithoutMinimumRate()]);
});
