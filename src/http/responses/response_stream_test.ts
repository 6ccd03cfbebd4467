import { assertEquals, assertRejects } from "@std/assert";
import { PieceStream } from "./response_stream.ts";

type Piece = Uint8Array<ArrayBuffer>;

/** The events of a stream, in order. */
function watched(
  pieces: AsyncIterable<Piece>,
  idle = 60_000,
): { stream: ReadableStream<Piece>; log: unknown[] } {
  const log: unknown[] = [];
  const stream = new PieceStream(pieces, {
    idle,
    onEnd: () => void log.push("end"),
    onError: (error) => void log.push(error),
  });
  return { stream: stream.toReadableStream(), log };
}

async function* piecesOf(texts: readonly string[], pulled: string[] = []): AsyncGenerator<Piece> {
  for (const text of texts) {
    pulled.push(text);
    yield await Promise.resolve(new TextEncoder().encode(text));
  }
}

Deno.test("all pieces arrive in order, and the end is reported once", async () => {
  const { stream, log } = watched(piecesOf(["a", "bc", "d"]));
  assertEquals(await new Response(stream).text(), "abcd");
  assertEquals(log, ["end"]);
  const empty = watched(piecesOf([]));
  assertEquals(await new Response(empty.stream).text(), "");
  assertEquals(empty.log, ["end"]);
});

Deno.test("no piece is read before the reader wants it", async () => {
  const pulled: string[] = [];
  const { stream, log } = watched(piecesOf(["a", "b", "c"], pulled));
  assertEquals(pulled, []);
  const reader = stream.getReader();
  await reader.read();
  assertEquals([pulled, log], [["a"], []]);
  await reader.read();
  assertEquals(pulled, ["a", "b"]);
  await reader.cancel();
  assertEquals([pulled, log], [["a", "b"], ["end"]]);
});

Deno.test("if the pieces fail, the stream fails, and the error is reported once before the end", async () => {
  const failure = new Error("a chunk is missing");
  async function* failing(): AsyncGenerator<Piece> {
    yield* piecesOf(["a"]);
    throw failure;
  }
  const { stream, log } = watched(failing());
  const reader = stream.getReader();
  assertEquals((await reader.read()).value, new TextEncoder().encode("a"));
  await assertRejects(() => reader.read(), Error, "could not be read");
  await assertRejects(() => reader.read(), Error, "could not be read");
  await assertRejects(() => reader.cancel(), Error);
  assertEquals(log, [failure, "end"]);
});

Deno.test("a reader that disconnects before the first piece ends the pieces", async () => {
  let returned = false;
  const { stream, log } = watched({
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.reject(new Error("not requested")),
      return: () => {
        returned = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  });
  await stream.cancel();
  assertEquals([returned, log], [true, ["end"]]);
});

/** A first piece that is read from `started` until `waiting` ends; `cleaned` resolves at the end. */
async function* slowPiece(
  started: PromiseWithResolvers<void>,
  waiting: Promise<void>,
  cleaned: () => void,
): AsyncGenerator<Piece> {
  try {
    started.resolve();
    await waiting;
    yield* piecesOf(["late"]);
  } finally {
    cleaned();
  }
}

Deno.test("a reader that disconnects while a piece is read causes no error", async () => {
  const ends: ((waiting: PromiseWithResolvers<void>) => void)[] = [
    (waiting) => waiting.resolve(),
    (waiting) => waiting.reject(new Error("too late to matter")),
  ];
  for (const end of ends) {
    const [started, waiting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let cleaned = false;
    const { stream, log } = watched(slowPiece(started, waiting.promise, () => cleaned = true));
    const reader = stream.getReader();
    const read = reader.read();
    await started.promise;
    const cancelled = reader.cancel();
    end(waiting);
    await cancelled;
    assertEquals((await read).done, true);
    assertEquals([cleaned, log], [true, ["end"]]);
  }
});

Deno.test("the stream of an idle reader is aborted", async () => {
  const pulled: string[] = [];
  const { stream, log } = watched(piecesOf(["a", "b", "c"], pulled), 5);
  const reader = stream.getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await assertRejects(() => reader.read(), Error, "took nothing");
  assertEquals([pulled, log], [["a"], ["end"]]);
});
