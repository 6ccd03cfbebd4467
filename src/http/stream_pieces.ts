/**
 * A stream that asks for a piece only when the reader wants one. Where the pieces fail the stream does too, which breaks
 * the connection short of `Content-Length`.
 *
 * @param onEnd Called once when it is over, however it ended.
 * @param onError Told why it failed.
 */
export function streamPieces(
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
  { onEnd, onError }: { onEnd: () => void; onError: (error: unknown) => void },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let cancelled = false;
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller): Promise<void> {
      try {
        const { done, value } = await iterator.next();
        if (cancelled) return;
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        if (cancelled) return;
        onError(error);
        controller.error(error);
      }
      onEnd();
    },
    async cancel(): Promise<void> {
      cancelled = true;
      onEnd();
      await iterator.return?.();
    },
  }, { highWaterMark: 0 });
}
