import { assert, assertEquals } from "@std/assert";
import { ClientError, RetriesExhausted, TemporaryFailure, Unreachable } from "./errors.ts";
import { Retrier } from "./retrier.ts";

/** A clock that advances with each pause. */
function setUp(retryFor = 60_000) {
  const pauses: number[] = [];
  const sentences: string[] = [];
  let time = 0;
  const retrier = new Retrier({
    retryFor,
    now: () => time,
    random: () => 1,
    onWait: (sentence) => sentences.push(sentence),
    pause: (milliseconds) => {
      pauses.push(milliseconds);
      time += milliseconds;
      return Promise.resolve();
    },
  });
  return { retrier, pauses, sentences };
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail");
}

Deno.test("Pauses double, and are at least as long as the server asks", async () => {
  const { retrier, pauses, sentences } = setUp();
  const waits = [0, 0, 5000, 0, 0, 0, 0];
  const result = await retrier.run(() => {
    const wait = waits.shift();
    if (wait !== undefined) return Promise.reject(new TemporaryFailure("busy", wait));
    return Promise.resolve("done");
  });
  assertEquals(result, "done");
  assertEquals(pauses, [250, 500, 5000, 2000, 4000, 8000, 10000]);
  assertEquals(sentences, ["busy. Retrying for up to 60 seconds"]);
});

Deno.test("Progress restarts the time limit", async () => {
  const { retrier, pauses } = setUp(1000);
  let tries = 0;
  await retrier.run((onProgress) => {
    tries++;
    if (tries % 2 === 0) onProgress();
    return tries < 20 ? Promise.reject(new TemporaryFailure("broke")) : Promise.resolve();
  });
  assert(pauses.reduce((sum, pause) => sum + pause, 0) > 5000, String(pauses));
});

Deno.test("Retries end after the time limit, and sooner if the server was never reached", async () => {
  const busy = setUp();
  const error = await failureOf(
    busy.retrier.run(() => Promise.reject(new TemporaryFailure("busy"))),
  );
  assert(error instanceof RetriesExhausted && error.message.includes("run the same command again"));
  const total = busy.pauses.reduce((sum, pause) => sum + pause, 0);
  assert(total > 45_000 && total <= 60_000, String(total));
  const absent = setUp();
  const lost = await failureOf(
    absent.retrier.run(() => Promise.reject(new Unreachable("no connection"))),
  );
  assert(lost instanceof RetriesExhausted && lost.message.includes("Is the server running?"));
  assertEquals(absent.pauses, [250, 500, 1000]);
  assertEquals(absent.sentences, []);
});

Deno.test("A permanent failure is thrown immediately", async () => {
  const { retrier, pauses } = setUp();
  const error = new ClientError("no");
  assertEquals(await failureOf(retrier.run(() => Promise.reject(error))), error);
  assertEquals(pauses, []);
});
