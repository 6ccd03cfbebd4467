import { assert, assertEquals, assertRejects } from "@std/assert";
import { refused } from "../support/typed_client/client.ts";
import { type Change, connect, type Drive } from "../support/typed_client/package.ts";

const KEY = "p1_0123456789abcdefghijABCDEFGHIJ";

/** What the fake server is asked with, and what it answers to one request after the other. */
class Feed implements AsyncDisposable {
  readonly asked: Record<string, string>[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly drive: Drive;

  constructor(answers: ((request: Request) => Response | Promise<Response>)[]) {
    const last = answers.pop();
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
      const { pathname, searchParams } = new URL(request.url);
      assertEquals(pathname, "/v1/p1/photos/changes");
      this.asked.push(Object.fromEntries(searchParams));
      return (answers.shift() ?? last)?.(request) ?? new Response(null, { status: 404 });
    });
    const url = `http://127.0.0.1:${this.#server.addr.port}`;
    this.drive = connect({ url, key: KEY, retryFor: 0 }).drive("photos");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

function change(id: string): Change {
  return { id, at: "2026-04-22T11:50:08.123Z", type: "put", name: `name ${id}`, size: 5 };
}

function page(ids: string[], last: string, more = false): () => Response {
  return () => Response.json({ changes: ids.map(change), last, more });
}

function refusal(status: number, code: string): () => Response {
  return () =>
    Response.json({ errors: ["No"], code }, { status, headers: { "X-Request-Id": "r1" } });
}

/** An answer that does not come. */
function silence(request: Request): Promise<Response> {
  return new Promise((resolve) => {
    request.signal.addEventListener("abort", () => resolve(new Response(null)));
  });
}

async function take(drive: Drive, count: number, since?: string | number): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of drive.changes({ since })) {
    ids.push(id);
    if (ids.length === count) break;
  }
  return ids;
}

Deno.test("Changes come page by page, and then as they happen", async () => {
  const pages = [page(["1", "2"], "2", true), page(["3"], "3"), page([], "3"), page(["4"], "4")];
  await using feed = new Feed(pages);
  assertEquals(await take(feed.drive, 4, 0), ["1", "2", "3", "4"]);
  assertEquals(feed.asked.map(({ since }) => since), ["0", "2", "3", "3"]);
  assertEquals(feed.asked.map(({ wait }) => wait), ["0", "0", "50", "50"]);
});

Deno.test("Without a cursor they begin now", async () => {
  await using feed = new Feed([page([], "7"), page(["8"], "8")]);
  assertEquals(await take(feed.drive, 1), ["8"]);
  assertEquals(feed.asked.map(({ since }) => since), [undefined, "7"]);
});

Deno.test("A feed goes on after failures, for ever and without a gap", async () => {
  const broken = (_: Request) => {
    const body = new ReadableStream({
      pull(controller) {
        controller.error(new Error("gone"));
      },
    });
    return new Response(body, { headers: { "Content-Type": "application/json" } });
  };
  await using feed = new Feed([
    page(["1"], "1"),
    refusal(503, "shutting_down"),
    broken,
    refusal(502, "upstream_unreachable"),
    page(["2"], "2"),
  ]);
  assertEquals(await take(feed.drive, 2, "0"), ["1", "2"]);
  assertEquals(feed.asked.map(({ since }) => since), ["0", "1", "1", "1", "1"]);
});

Deno.test("What the server refuses for good ends the feed", async () => {
  for (const [status, code] of [[409, "changes_off"], [410, "changes_expired"]] as const) {
    await using feed = new Feed([refusal(status, code)]);
    assertEquals(await refused(() => take(feed.drive, 1, "0")), [status, code]);
  }
});

Deno.test("The signal ends the feed, while it waits and between changes", async () => {
  await using feed = new Feed([page(["1", "2"], "2"), silence]);
  const waiting = new AbortController();
  const ids: string[] = [];
  const signal = waiting.signal;
  for await (const { id } of feed.drive.changes({ since: "0", signal })) {
    ids.push(id);
    if (id === "2") setTimeout(() => waiting.abort(), 50);
  }
  assertEquals(ids, ["1", "2"]);
  await using second = new Feed([page(["1", "2"], "2")]);
  const between = new AbortController();
  for await (const { id } of second.drive.changes({ since: "0", signal: between.signal })) {
    assertEquals(id, "1");
    between.abort();
  }
  const aborted = AbortSignal.abort();
  for await (const _ of second.drive.changes({ signal: aborted })) assert(false);
  assertEquals(second.asked.length, 1);
});

Deno.test("One page can be asked for", async () => {
  await using feed = new Feed([page(["1"], "1", true)]);
  const found = await feed.drive.changePage({ since: "0", limit: 1, wait: 5 });
  assertEquals([found.changes.length, found.last, found.more], [1, "1", true]);
  assertEquals(feed.asked, [{ since: "0", limit: "1", wait: "5" }]);
  const signal = AbortSignal.abort();
  await assertRejects(() => feed.drive.changePage({ signal }), DOMException);
});
