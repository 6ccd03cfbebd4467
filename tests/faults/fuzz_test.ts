import { assert, assertEquals, assertNotMatch } from "@std/assert";
import type { Answer } from "../support/answer.ts";
import { checkRawAnswer } from "../support/openapi/watch.ts";
import { TestServer } from "../support/server.ts";
import { FuzzRandom } from "./support/fuzz/random.ts";
import { type FuzzRequest, makeRequest } from "./support/fuzz/request.ts";
import { assertCorrect, FuzzWorld } from "./support/fuzz/world.ts";
import { Connection } from "./support/peers/connection.ts";
import { chooseSeed } from "./support/random.ts";

const REQUESTS = Deno.env.get("KVDRIVE_FAULTS") === "full" ? 20_000 : 3000;
/** The share of writes for which the state is compared before and after a rejection. */
const COMPARED_SHARE = 0.4;

const seed = chooseSeed();

Deno.test(`${REQUESTS} generated requests get correct responses, seed ${seed}.`, async (t) => {
  await using server = await TestServer.start();
  const world = new FuzzWorld(server);
  await world.prepare();
  await t.step("Every request is answered, and a rejected one changes nothing.", async () => {
    using client = new ReconnectingClient(server.port);
    for (let index = 0; index < REQUESTS; index++) {
      const random = new FuzzRandom(seed + index * 7919);
      const request = await makeRequest(random, world.known);
      try {
        await sendOnce(client, world, request, random.chance(COMPARED_SHARE));
      } catch (cause) {
        const sent = JSON.stringify(new TextDecoder().decode(request.bytes.subarray(0, 3000)));
        throw new Error(`Request ${index} with KVDRIVE_SEED=${seed}: ${sent}`, { cause });
      }
    }
  });
  await t.step("Untouched files are unchanged, and the counts are correct.", () => {
    return world.assertUnchanged();
  });
  await t.step("The log contains no error.", () => {
    assertNotMatch(server.text, /^\s+at .*:\d+:\d+/m);
    assertNotMatch(server.text, /\berror\b/i);
  });
});

async function sendOnce(
  client: ReconnectingClient,
  world: FuzzWorld,
  request: FuzzRequest,
  compares: boolean,
): Promise<void> {
  const { method, upload } = request;
  const reads = method === "GET" || method === "HEAD";
  const before = compares && !reads ? await world.state(upload) : undefined;
  const answer = await client.send(request);
  assertCorrect(request, answer);
  world.record(answer);
  if (before === undefined || answer.status < 400) return;
  assertEquals(await world.state(upload), before, `${answer.status} ${answer.text}`);
}

/** A connection that is opened again after the server closed it. */
class ReconnectingClient implements Disposable {
  private connection: Connection | undefined;

  constructor(private readonly port: number) {}

  async send(request: FuzzRequest): Promise<Answer> {
    const answer = await this.tryOnce(request) ?? await this.tryOnce(request);
    assert(answer !== undefined, "The connection ended without a response");
    await checkRawAnswer(this.port, request.bytes, answer);
    return answer;
  }

  /** Returns `undefined` if the server had closed the connection. */
  private async tryOnce({ bytes, method }: FuzzRequest): Promise<Answer | undefined> {
    this.connection ??= await Connection.open(this.port);
    await this.connection.send(bytes);
    const answer = await this.connection.answer(method === "HEAD");
    if (answer === undefined || this.connection.ended) this.disconnect();
    return answer;
  }

  private disconnect(): void {
    this.connection?.[Symbol.dispose]();
    this.connection = undefined;
  }

  [Symbol.dispose](): void {
    this.disconnect();
  }
}
