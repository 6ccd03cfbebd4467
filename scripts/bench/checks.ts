import { equals } from "@std/bytes/equals";
import { randomBytes } from "./random.ts";
import { type Server, target } from "./server.ts";

/** Stores a file and makes sure that what comes back is the same. */
export async function storeAndCheck(server: Server, name: string, size: number): Promise<void> {
  const bytes = randomBytes(size);
  await server.call(201, "POST", target.file(name), bytes);
  const answer = await server.call(200, "GET", target.download(name));
  assert(equals(answer, bytes), `${name} comes back with ${answer.byteLength} bytes, or others`);
}

/** @throws with the message unless it is so. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Wrong answer: ${message}`);
}
