import { assertEquals } from "@std/assert";
import type { ClientConnection } from "./client_connection.ts";
import type { MessagePart } from "./connection.ts";
import { writeResponse } from "./response_writer.ts";

/** Larger than what is sent together with the head. */
const SIZE = 200_000;

/** Sends a response of several pieces. Returns the bytes that were sent, and the sizes of the pieces after that. */
async function send(ownsPieces: boolean): Promise<{ sent: number[]; left: number[] }> {
  const pieces = [1, 2, 3].map((n) => new Uint8Array(SIZE).fill(n));
  const sent: number[] = [];
  const client = {
    send: async ({ piece }: MessagePart) => {
      await Promise.resolve();
      if (piece.length > 0) sent.push(piece[0] ?? -1, piece[SIZE - 1] ?? -1);
    },
  } as unknown as ClientConnection;
  const response = new Response(ReadableStream.from(pieces), {
    headers: { "Content-Length": String(3 * SIZE) },
  });
  const owned = Object.assign(response, { ownsPieces });
  await writeResponse(client, owned, { method: "GET", minor: 1, closes: false });
  return { sent, left: pieces.map(({ length }) => length) };
}

Deno.test("The memory of pieces is released after they are sent, if nothing else uses them", async () => {
  const sent = [1, 1, 2, 2, 3, 3];
  assertEquals(await send(true), { sent, left: [0, 0, 0] });
  assertEquals(await send(false), { sent, left: [SIZE, SIZE, SIZE] });
});
