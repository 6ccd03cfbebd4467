import { assert, assertEquals, assertLess } from "@std/assert";
import { delay } from "@std/async/delay";
import { lookup } from "node:dns/promises";
import { ADMINISTERED } from "../support/admin.ts";
import { suite } from "../support/suite.ts";
import { feedProject, makeWebhook, Receiver, until, webhookOf } from "../support/store/webhooks.ts";

const test = suite("Hostile receivers of webhooks", {
  ...ADMINISTERED,
  args: ["--allow-webhook", "127.0.0.1"],
});

/** A receiver that does with each connection what it wants, until it is disposed of. */
class RawReceiver implements Disposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #connections = new Set<Deno.Conn>();
  count = 0;

  readonly #end = new AbortController();

  constructor(
    private readonly serve: (connection: Deno.Conn, signal: AbortSignal) => Promise<void>,
  ) {
    void this.#accept();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}/`;
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) {
      this.count++;
      this.#connections.add(connection);
      this.serve(connection, this.#end.signal).catch(() => {});
    }
  }

  [Symbol.dispose](): void {
    this.#end.abort();
    this.#listener.close();
    for (const connection of this.#connections) {
      try {
        connection.close();
      } catch {
        // It was closed before.
      }
    }
  }
}

const encoder = new TextEncoder();

async function answer(connection: Deno.Conn, text: string): Promise<void> {
  await connection.read(new Uint8Array(65_536));
  await connection.write(encoder.encode(text));
}

test("One that never answers is given up after 10 s, and delays no other.", async ({ server }) => {
  const project = await feedProject(server);
  using silent = new RawReceiver(() => new Promise(() => {}));
  const slow = await makeWebhook(project, silent.url);
  await using prompt = new Receiver();
  await makeWebhook(project, prompt.url);
  const drive = project.drive("photos");
  const began = performance.now();
  await drive.put("a", "1");
  await until(() => prompt.names.length === 1, "the other is told");
  assertLess(performance.now() - began, 9000);
  const shown = await until(async () => {
    const answer = (await project.call("GET", "/webhooks")).json as {
      webhooks: Awaited<ReturnType<typeof webhookOf>>[];
    };
    const one = answer.webhooks.find(({ id }) => id === slow.id);
    return one !== undefined && one.failing_since !== null && one;
  }, "it is given up");
  const took = performance.now() - began;
  assert(took > 9500 && took < 30_000, String(took));
  assertEquals([shown.last_status, shown.last_error], [null, "did not answer within 10 s"]);
});

const MANY = "x".repeat(65_536);

/** What receivers answer, and the status that counts. */
const CASES: [string, number, (connection: Deno.Conn, signal: AbortSignal) => Promise<void>][] = [
  ["a body of 100 MB", 200, async (connection) => {
    await answer(connection, "HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n");
    for (let i = 0; i < 1600; i++) await connection.write(encoder.encode(MANY));
  }],
  ["a body of one byte a second", 201, async (connection, signal) => {
    await answer(connection, "HTTP/1.1 201 Created\r\nContent-Length: 1000\r\n\r\n");
    for (let i = 0; i < 1000; i++) {
      await connection.write(encoder.encode("x"));
      await delay(1000, { signal });
    }
  }],
  ["a body that is cut", 200, async (connection) => {
    await answer(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    connection.close();
  }],
  [
    "a chunked body that makes no sense",
    200,
    (connection) =>
      answer(connection, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
  ],
  [
    "interim responses",
    204,
    (connection) =>
      answer(connection, "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"),
  ],
];

for (const [what, status, serve] of CASES) {
  test(`The status counts, whatever follows: ${what}.`, async ({ server }) => {
    const project = await feedProject(server);
    using receiver = new RawReceiver(serve);
    const { id } = await makeWebhook(project, receiver.url);
    await project.drive("photos").put("a", "1");
    const shown = await until(async () => {
      const webhook = await webhookOf(project);
      return webhook.last_delivery !== null && webhook;
    }, "delivered");
    assertEquals([shown.last_status, shown.failing_since, shown.pending], [status, null, 0]);
    const tested = (await project.call("POST", `/webhooks/${id}/test`)).expect(200).json as {
      status: number;
      body: string;
    };
    assertEquals(tested.status, status);
    assertLess(tested.body.length, 4097);
  });
}

const REFUSED: [string, (connection: Deno.Conn) => Promise<void>][] = [
  ["no HTTP", (connection) => answer(connection, "SSH-2.0-OpenSSH_9\r\n\r\n")],
  ["a head without an end", async (connection) => {
    await answer(connection, "HTTP/1.1 200 OK\r\n");
    for (let i = 0; i < 100; i++) await connection.write(encoder.encode(`X-${i}: ${MANY}\r\n`));
  }],
  ["nothing", (connection) => Promise.resolve(connection.close())],
  [
    "interim responses only",
    (connection) => answer(connection, "HTTP/1.1 100 Continue\r\n\r\n".repeat(100)),
  ],
];

for (const [what, serve] of REFUSED) {
  test(`It counts as a failure to answer ${what}.`, async ({ server }) => {
    const project = await feedProject(server);
    using receiver = new RawReceiver(serve);
    await makeWebhook(project, receiver.url);
    await project.drive("photos").put("a", "1");
    const shown = await until(async () => {
      const webhook = await webhookOf(project);
      return webhook.failing_since !== null && webhook;
    }, "failing");
    assertEquals([shown.last_status, shown.pending], [null, 1]);
    assert((shown.last_error ?? "") !== "");
  });
}

test("A name that leads to this machine is not called, whatever its text is.", async ({ server }) => {
  const project = await feedProject(server);
  // What the list of hosts of most machines has, beside localhost.
  const found = await Promise.all(["ip6-loopback", Deno.hostname()].map(async (name) => {
    const addresses = await lookup(name, { all: true }).catch(() => []);
    const isPrivate = addresses.length > 0 &&
      addresses.every(({ address }) => /^(::1$|10\.|127\.0\.1\.|172\.|192\.168\.)/.test(address));
    return isPrivate ? [name] : [];
  }));
  for (const name of found.flat()) {
    const { id } = await makeWebhook(project, `http://${name}:9/`);
    const tested = (await project.call("POST", `/webhooks/${id}/test`)).expect(200).json as {
      error: string;
    };
    assert(tested.error.includes("--allow-webhook"), `${name}: ${tested.error}`);
  }
});
