import { assertEquals } from "@std/assert";
import type { ClientConnection } from "./client_connection.ts";
import type { MessagePart } from "./connection.ts";
import { writeResponse } from "./response_writer.ts";

/** Larger than what is sent together with the head. */
const SIZE = 200_000;

/** Sends a response of several pieces. Returns the bytes that were sent and released, in their order. */
async function send(isStream: boolean): Promise<string> {
  const pieces = [1, 2, 3].map((n) => new Uint8Array(SIZE).fill(n));
  let log = "";
  const client = {
    send: async ({ piece }: MessagePart) => {
      await Promise.resolve();
      if (piece.length > 0) log += `sent ${piece[0]} to ${piece[SIZE - 1]}, `;
    },
  } as unknown as ClientConnection;
  const body = isStream ? ReadableStream.from(pieces.slice()) : null;
  const response = new Response(body, { headers: { "Content-Length": String(3 * SIZE) } });
  const own = isStream ? {} : {
    pieces: {
      next: () => Promise.resolve(pieces.shift()),
      cancel: () => Promise.resolve(),
      release: (piece: Uint8Array) => void (log += `released ${piece[0]}, `),
    },
  };
  await writeResponse(client, Object.assign(response, own), {
    method: "GET",
    minor: 1,
    closes: false,
  });
  return log;
}

Deno.test("Pieces are sent in their order, each before it is released", async () => {
  const released = "sent 1 to 1, released 1, sent 2 to 2, released 2, sent 3 to 3, released 3, ";
  assertEquals(await send(false), released);
  assertEquals(await send(true), "sent 1 to 1, sent 2 to 2, sent 3 to 3, ");
});
