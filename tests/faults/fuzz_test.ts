import { assert, assertEquals, assertNotMatch } from "@std/assert";
import type { Answer } from "../support/answer.ts";
import { checkRawAnswer } from "../support/openapi/watch.ts";
import { TestServer } from "../support/server.ts";
import { chooseSeed, Random } from "./support/fuzz/random.ts";
import { type FuzzRequest, makeRequest } from "./support/fuzz/request.ts";
import { FuzzWorld, judge } from "./support/fuzz/world.ts";
import { Connection } from "./support/peers/connection.ts";

const REQUESTS = Deno.env.get("KVDRIVE_FAULTS") === "full" ? 20_000 : 3000;
/** Which share of the writes is watched for what it leaves behind where it is refused. */
const WATCHED = 0.4;

const seed = chooseSeed();

Deno.test(`${REQUESTS} generated requests are answered well, seed ${seed}.`, async (t) => {
  await using server = await TestServer.start();
  const world = new FuzzWorld(server);
  await world.prepare();
  await t.step("Each gets its answer, and no refused one changes anything.", async () => {
    using line = new Line(server.port);
    for (let index = 0; index < REQUESTS; index++) {
      const random = new Random(seed + index * 7919);
      const request = await makeRequest(random, world.known);
      try {
        await askOnce(line, world, request, random.chance(WATCHED));
      } catch (cause) {
        const sent = JSON.stringify(new TextDecoder().decode(request.bytes.subarray(0, 3000)));
        throw new Error(`Request ${index} with KVDRIVE_SEED=${seed}: ${sent}`, { cause });
      }
    }
  });
  await t.step("The files that none was about are as they were, and the counts are right.", () => {
    return world.assertSound();
  });
  await t.step("The log tells of no failure.", () => {
    assertNotMatch(server.text, /^\s+at .*:\d+:\d+/m);
    assertNotMatch(server.text, /\berror\b/i);
  });
});

async function askOnce(
  line: Line,
  world: FuzzWorld,
  request: FuzzRequest,
  watched: boolean,
): Promise<void> {
  const { method, upload } = request;
  const reads = method === "GET" || method === "HEAD";
  const before = watched && !reads ? await world.state(upload) : undefined;
  const answer = await line.ask(request);
  judge(request, answer);
  world.learn(answer);
  if (before === undefined || answer.status < 400) return;
  assertEquals(await world.state(upload), before, `${answer.status} ${answer.text}`);
}

/** A connection that is opened again whenever the server has ended it. */
class Line implements Disposable {
  private connection: Connection | undefined;

  constructor(private readonly port: number) {}

  async ask(request: FuzzRequest): Promise<Answer> {
    const answer = await this.tryOnce(request) ?? await this.tryOnce(request);
    assert(answer !== undefined, "The connection ended without an answer");
    await checkRawAnswer(this.port, request.bytes, answer);
    return answer;
  }

  /** Gives nothing where a connection that was open before turns out to have ended. */
  private async tryOnce({ bytes, method }: FuzzRequest): Promise<Answer | undefined> {
    this.connection ??= await Connection.open(this.port);
    await this.connection.send(bytes);
    const answer = await this.connection.answer(method === "HEAD");
    if (answer === undefined || this.connection.ended) this.hangUp();
    return answer;
  }

  private hangUp(): void {
    this.connection?.[Symbol.dispose]();
    this.connection = undefined;
  }

  [Symbol.dispose](): void {
    this.hangUp();
  }
}
