import type { Caller } from "./caller.ts";
import { ConnectionLost, type Wire } from "./http1/wire.ts";

/**
 * Passes bytes both ways, whatever they mean, until both sides have ended.
 *
 * @param onHalf Called when the first of them has.
 * @throws {ConnectionLost} as soon as one of them breaks.
 */
export async function tunnel(caller: Caller, upstream: Wire, onHalf: () => void): Promise<void> {
  const ways = [
    pump(caller.wire, (piece) => upstream.write(piece)).then(() => upstream.end()),
    pump(upstream, (piece) => caller.write(piece)).then(() => caller.wire.end()),
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
