import type { RequestContext } from "../request_context.ts";

/**
 * The factor by which a reader may be idle longer than a sender. Buffers of several megabytes lie in between and are refilled
 * only when nearly empty, so a slow but steady reader takes no bytes from this process for minutes.
 */
export const READER_PATIENCE = 10;

/** The options of `streamPieces`. */
export interface StreamOptions {
  /** How long the reader may take no byte, in milliseconds. */
  idle: number;
  /** Called once when the stream has ended in any way. */
  onEnd: () => void;
  /** Receives the error if the pieces fail. */
  onError: (error: unknown) => void;
  /** Receives the number of bytes, and whether the transfer was aborted. */
  context?: RequestContext;
}

type Piece = Uint8Array<ArrayBuffer>;

/**
 * A stream that reads a piece only when its reader wants one. If the pieces fail or the reader is idle for too long, the
 * stream fails, which closes the connection before `Content-Length` is reached.
 */
export function streamPieces(
  pieces: AsyncIterable<Piece>,
  { idle, onEnd, onError, context }: StreamOptions,
): ReadableStream<Piece> {
  if (context !== undefined) context.isStreaming = true;
  const iterator = pieces[Symbol.asyncIterator]();
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** When the reader got a piece, in milliseconds of the monotonic clock; `undefined` while the next one is read. */
  let idleSince: number | undefined;
  let over = false;
  const end = (isAborted: boolean) => {
    if (over) return;
    over = true;
    if (context !== undefined && isAborted) context.isAborted = true;
    clearTimeout(timer);
    onEnd();
  };
  const abort = async (controller: ReadableStreamDefaultController<Piece>) => {
    end(true);
    controller.error(streamError("The reader took nothing for too long"));
    await iterator.return?.();
  };
  // One timer per stream, not per piece: when it fires, it checks how long the reader has been idle.
  const watch = (controller: ReadableStreamDefaultController<Piece>, time: number) => {
    timer = setTimeout(() => {
      const left = idleSince === undefined ? idle : idleSince + idle - performance.now();
      if (left <= 0) void abort(controller);
      else watch(controller, left);
    }, time);
  };
  return new ReadableStream<Piece>({
    async pull(controller): Promise<void> {
      idleSince = undefined;
      try {
        const { done, value } = await iterator.next();
        if (over) return;
        if (!done) {
          controller.enqueue(value);
          if (context !== undefined) context.sent += value.byteLength;
          idleSince = performance.now();
          if (timer === undefined) watch(controller, idle);
          return;
        }
        controller.close();
        end(false);
      } catch (error) {
        if (over) return;
        onError(error);
        controller.error(streamError("The rest of the bytes could not be read"));
        end(true);
      }
    },
    async cancel(): Promise<void> {
      end(true);
      await iterator.return?.();
    },
  }, { highWaterMark: 0 });
}

/** Reads the first piece before the head of the response is sent, so that damage in it becomes a 500. */
export async function readFirst(pieces: AsyncIterable<Piece>): Promise<AsyncIterable<Piece>> {
  const iterator = pieces[Symbol.asyncIterator]();
  let first: IteratorResult<Piece> | undefined = await iterator.next();
  const next = (): Promise<IteratorResult<Piece>> => {
    const result = first;
    first = undefined;
    return result === undefined ? iterator.next() : Promise.resolve(result);
  };
  const end = iterator.return?.bind(iterator);
  const rest = end === undefined ? { next } : { next, return: end };
  return { [Symbol.asyncIterator]: () => rest };
}

/** The runtime prints the error of a failed stream. `onError` has already reported the cause, so the stack is left out. */
function streamError(message: string): Error {
  const error = new Error(message);
  error.stack = message;
  return error;
}
