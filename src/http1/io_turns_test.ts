import { assertEquals } from "@std/assert";
import { IoTurns, TURN_BYTES } from "./io_turns.ts";

/** Bytes of one read. */
const PIECE = 65_536;

const PIECES_PER_TURN = TURN_BYTES / PIECE;

Deno.test("Bytes within one turn wait for nothing", () => {
  const turns = new IoTurns();
  for (let i = 0; i < PIECES_PER_TURN; i++) assertEquals(turns.take(PIECE), undefined);
  turns.close();
});

Deno.test("Bodies that wait go on in their order, with a turn's bytes at a time", async () => {
  const turns = new IoTurns();
  turns.take(TURN_BYTES);
  const order: number[] = [];
  const waits = Array.from({ length: 5 * PIECES_PER_TURN }, async (_, i) => {
    await turns.take(PIECE);
    order.push(i);
  });
  await waits[0];
  assertEquals(order.length <= PIECES_PER_TURN, true, `${order}`);
  await Promise.all(waits);
  assertEquals(order, waits.map((_, i) => i));
  turns.close();
});

Deno.test("Other connections are served between the turns of bodies that never wait for bytes", async () => {
  const turns = new IoTurns();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using near = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
  using far = await listener.accept();
  const received = far.read(new Uint8Array(1));
  let isReceived = false;
  received.then(() => isReceived = true);
  await near.write(new Uint8Array(1));
  let used = 0;
  for (; !isReceived && used < 100 * TURN_BYTES; used += PIECE) await turns.take(PIECE);
  assertEquals(used <= 3 * TURN_BYTES, true, `${used}`);
  await received;
  turns.close();
});

Deno.test("Closing lets all bodies go on", async () => {
  const turns = new IoTurns();
  turns.take(TURN_BYTES);
  const waits = Array.from({ length: 9 }, () => turns.take(TURN_BYTES));
  turns.close();
  await Promise.all(waits);
  assertEquals(turns.take(TURN_BYTES), undefined);
  assertEquals(turns.take(TURN_BYTES), undefined);
});
