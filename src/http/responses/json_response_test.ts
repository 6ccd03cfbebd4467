import { assert, assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async/delay";
import { MemoryExhausted } from "../../store/engine/errors.ts";
import { MemoryPart } from "../../store/engine/memory_budget.ts";
import { CHUNK_SIZE } from "../../store/engine/records.ts";
import { boundedJson, pagingOf } from "./json_response.ts";
import { someContext } from "../test_support.ts";

const LIMIT = 100 * CHUNK_SIZE;
const REPEATABLE = { isRepeatable: true };

/** A server with memory for answers, and the number of answers that it built. */
class TestServer {
  readonly json: MemoryPart;
  built = 0;

  constructor(maxWait = 60_000) {
    this.json = new MemoryPart("json", LIMIT, maxWait);
  }

  /** Answers a project with a text of this size. */
  async answer(size: number, project = "p", method = "GET"): Promise<Response> {
    const request = new Request("http://kv.example/", { method });
    const deps = { store: { memory: { json: this.json } }, idleTimeout: 60_000 };
    return await boundedJson({ project, request, context: someContext() }, deps, REPEATABLE, () => {
      this.built++;
      return Promise.resolve("x".repeat(size));
    });
  }
}

Deno.test("a large answer holds memory until it is read, a small one does not", async () => {
  const server = new TestServer();
  const small = await server.answer(CHUNK_SIZE - 2);
  assertEquals(server.json.used, 0);
  assertEquals((await small.json()).length, CHUNK_SIZE - 2);
  const size = 3 * CHUNK_SIZE + 5;
  const large = await server.answer(size);
  assertEquals(large.headers.get("Content-Length"), String(size + 2));
  assertEquals(server.json.used, size + 2);
  assertEquals((await large.json()).length, size);
  assertEquals([server.json.used, server.built], [0, 2]);
});

Deno.test("a large answer releases its memory if the reader disconnects or the method is HEAD", async () => {
  const server = new TestServer();
  const left = await server.answer(3 * CHUNK_SIZE);
  await left.body?.cancel();
  assertEquals(server.json.used, 0);
  const head = await server.answer(3 * CHUNK_SIZE, "p", "HEAD");
  assertEquals(head.headers.get("Content-Length"), String(3 * CHUNK_SIZE + 2));
  assertEquals(server.json.used, 0);
});

Deno.test("an answer without memory is built again when memory is available", async () => {
  const server = new TestServer();
  const first = await server.answer(40 * CHUNK_SIZE);
  const second = server.answer(30 * CHUNK_SIZE);
  await delay(5);
  assertEquals([server.built, server.json.used], [2, 40 * CHUNK_SIZE + 2]);
  // A smaller answer to another project is not blocked.
  assertEquals(
    (await (await server.answer(20 * CHUNK_SIZE, "other")).json()).length,
    20 * CHUNK_SIZE,
  );
  await first.body?.cancel();
  assertEquals((await (await second).json()).length, 30 * CHUNK_SIZE);
  assertEquals([server.built, server.json.used], [4, 0]);
});

Deno.test("an answer larger than the budget counts as half of it and is sent", async () => {
  const server = new TestServer();
  const answer = await server.answer(3 * LIMIT);
  assertEquals(server.json.used, LIMIT / 2);
  assertEquals((await answer.json()).length, 3 * LIMIT);
  assertEquals(server.json.used, 0);
});

Deno.test("a request that gets no memory in time fails, and a failed one holds none", async () => {
  const server = new TestServer(20);
  const held = await server.answer(40 * CHUNK_SIZE);
  await assertRejects(() => server.answer(40 * CHUNK_SIZE), MemoryExhausted);
  await held.body?.cancel();
  const request = new Request("http://kv.example/");
  const deps = { store: { memory: { json: server.json } }, idleTimeout: 60_000 };
  const call = { project: "p", request, context: someContext() };
  const making = { estimate: 1000, isRepeatable: true };
  const fail = () => {
    assert(server.json.used === 1000);
    return Promise.reject(new Error("The store is away"));
  };
  await assertRejects(() => boundedJson(call, deps, making, fail), Error, "away");
  assertEquals(server.json.used, 0);
});

Deno.test("an answer has a paging object if and only if there is a next page", () => {
  assertEquals(pagingOf(["a", "b"], true), { paging: { size: 2, last: "b" } });
  assertEquals(pagingOf([""], true), { paging: { size: 1, last: "" } });
  for (const names of [[], ["a"]]) assertEquals(pagingOf(names, false), {});
  assertEquals(pagingOf([], true), {});
  assertEquals(pagingOf([], true, "b"), { paging: { size: 0, last: "b" } });
  assertEquals(pagingOf([], false, "b"), {});
});
