import { assert, assertEquals } from "@std/assert";
import { concat } from "@std/bytes/concat";
import { MemoryPart } from "../../store/engine/memory_budget.ts";
import { CHUNK_SIZE } from "../../store/engine/records.ts";
import { someContext } from "../test_support.ts";
import { buildBounded, sendBounded } from "./bounded_body.ts";
import { PieceStream } from "./response_stream.ts";

Deno.test("The memory of a large body is free as soon as its last piece is sent", async () => {
  const json = new MemoryPart("json", 100 * CHUNK_SIZE, 1000);
  const bytes = crypto.getRandomValues(new Uint8Array(CHUNK_SIZE)).slice();
  const all = concat([bytes, bytes, bytes.subarray(0, 10)]);
  const request = new Request("http://localhost/");
  const call = { project: "a", request, context: someContext() };
  const resources = { store: { memory: { json } }, idleTimeout: 1000 };
  const options = { isRepeatable: true };
  const build = () => Promise.resolve(all.slice());
  const body = await buildBounded(call, resources, options, build);
  assertEquals(json.used, all.byteLength);
  const stream = sendBounded(body, call, resources);
  assert(stream instanceof PieceStream);
  const sent: Uint8Array<ArrayBuffer>[] = [];
  const buffers = new Set<ArrayBuffer>();
  for (let piece; (piece = await stream.next()) !== undefined;) {
    sent.push(piece.slice());
    buffers.add(piece.buffer);
    stream.release(piece);
  }
  assertEquals(concat(sent), all);
  assertEquals([...buffers].map(({ detached }) => detached), [true]);
  assertEquals(json.used, 0);
});
