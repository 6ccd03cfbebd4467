import type { Visit } from "../http/visit.ts";
import type { Caller } from "./caller.ts";
import { ConnectionLost, type Wire } from "../http1/wire.ts";

/**
 * Passes bytes both ways, whatever they mean, until both sides have ended.
 *
 * @param visit Gets how many bytes went which way.
 * @param onHalf Called when the first of them has.
 * @throws {ConnectionLost} as soon as one of them breaks.
 */
export async function tunnel(
  caller: Caller,
  upstream: Wire,
  visit: Visit,
  onHalf: () => void,
): Promise<void> {
  const ways = [
    pump(caller.wire, async (piece) => {
      await upstream.write(piece);
      visit.received += piece.length;
    }).then(() => upstream.end()),
    pump(upstream, async (piece) => {
      await caller.write(piece);
      visit.sent += piece.length;
    }).then(() => caller.wire.end()),
  ];
  await Promise.race(ways).finally(onHalf);
  await Promise.all(ways);
}

/** Reads one side to its end and hands every piece on before the next is read. */
async function pump(from: Wire, pass: (piece: Uint8Array) => Promise<void>): Promise<void> {
  const { reader } = from;
  reader.widen();
  do {
    const piece = reader.take(Infinity);
    if (piece.length > 0) await pass(piece);
  } while (await reader.fill());
  if (reader.broken) throw new ConnectionLost("The connection broke");
}
