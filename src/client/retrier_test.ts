import { assert, assertEquals } from "@std/assert";
import { ClientError, KvdriveError } from "./errors.ts";
import { commandRetrier } from "./connection.ts";

/** A clock that advances with each pause. */
function setUp(retryFor = 60_000) {
  const pauses: number[] = [];
  const sentences: string[] = [];
  let time = 0;
  const retrier = commandRetrier({
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

function busy(retryAfter = 0): KvdriveError {
  return new KvdriveError("busy", { status: 503, code: "store_unavailable", retryAfter });
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
  retrier.noteAnswer();
  const waits = [0, 0, 5000, 0, 0, 0, 0];
  const result = await retrier.run(() => {
    const wait = waits.shift();
    if (wait !== undefined) return Promise.reject(busy(wait));
    return Promise.resolve("done");
  });
  assertEquals(result, "done");
  assertEquals(pauses, [250, 500, 5000, 2000, 4000, 8000, 10000]);
  assertEquals(sentences, ["busy. Retrying for up to 60 seconds"]);
});

Deno.test("Retries end after the time limit, and sooner if the server was never reached", async () => {
  const late = setUp();
  late.retrier.noteAnswer();
  const error = await failureOf(
    late.retrier.run(() => Promise.reject(busy())),
  );
  assert(error instanceof KvdriveError && error.message.includes("run the same command again"));
  const total = late.pauses.reduce((sum, pause) => sum + pause, 0);
  assert(total > 45_000 && total <= 60_000, String(total));
  const absent = setUp();
  const lost = await failureOf(
    absent.retrier.run(() =>
      Promise.reject(new KvdriveError("no connection", { code: "unreachable" }))
    ),
  );
  assert(lost instanceof KvdriveError && lost.message.includes("Is the server running?"));
  assertEquals(absent.pauses, [250, 500, 1000]);
  assertEquals(absent.sentences, []);
});

Deno.test("A permanent failure is thrown immediately", async () => {
  const { retrier, pauses } = setUp();
  const error = new ClientError("no");
  assertEquals(await failureOf(retrier.run(() => Promise.reject(error))), error);
  assertEquals(pauses, []);
});

Deno.test("A wrong key is not sent again, as that prolongs the wait of others", async () => {
  const { retrier, pauses } = setUp();
  const error = new KvdriveError("wait", { status: 429, code: "too_many_wrong_keys" });
  assertEquals(await failureOf(retrier.run(() => Promise.reject(error))), error);
  assertEquals(pauses, []);
});
