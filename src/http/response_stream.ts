import type { RequestContext } from "./request_context.ts";

/**
 * How many times longer a reader may take nothing. Between it and us lie buffers of megabytes, which are filled up again
 * only when much of them is empty: who reads slowly but steadily takes nothing for minutes.
 */
export const READER_PATIENCE = 10;

export interface StreamOptions {
  /** How long the reader may take nothing, in milliseconds. */
  idle: number;
  /** Called once when it is over, however it ended. */
  onEnd: () => void;
  /** Told why the pieces failed. */
  onError: (error: unknown) => void;
  /** Whose bytes are counted there, and whether they were all taken. */
  context?: RequestContext;
}

type Piece = Uint8Array<ArrayBuffer>;

/**
 * A stream that asks for a piece only when the reader wants one. Where the pieces fail, or the reader falls silent, the
 * stream fails too, which breaks the connection short of `Content-Length`.
 */
export function streamPieces(
  pieces: AsyncIterable<Piece>,
  { idle, onEnd, onError, context }: StreamOptions,
): ReadableStream<Piece> {
  if (context !== undefined) context.isStreaming = true;
  const iterator = pieces[Symbol.asyncIterator]();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  const end = (isAborted: boolean) => {
    if (over) return;
    over = true;
    if (context !== undefined && isAborted) context.isAborted = true;
    clearTimeout(timer);
    onEnd();
  };
  const giveUp = async (controller: ReadableStreamDefaultController<Piece>) => {
    end(true);
    controller.error(brokenOff("The reader took nothing for too long"));
    await iterator.return?.();
  };
  return new ReadableStream<Piece>({
    async pull(controller): Promise<void> {
      clearTimeout(timer);
      try {
        const { done, value } = await iterator.next();
        if (over) return;
        if (!done) {
          controller.enqueue(value);
          if (context !== undefined) context.sent += value.byteLength;
          timer = setTimeout(() => giveUp(controller), idle);
          return;
        }
        controller.close();
        end(false);
      } catch (error) {
        if (over) return;
        onError(error);
        controller.error(brokenOff("The rest of the bytes could not be read"));
        end(true);
      }
    },
    async cancel(): Promise<void> {
      end(true);
      await iterator.return?.();
    },
  }, { highWaterMark: 0 });
}

/** The runtime prints why a stream failed. Who is to know it was told by `onError`, so a sentence is enough here. */
function brokenOff(message: string): Error {
  const error = new Error(message);
  error.stack = message;
  return error;
}
