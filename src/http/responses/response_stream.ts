import type { RequestContext } from "../request_context.ts";

/**
 * The factor by which a reader may be idle longer than a sender. Buffers of several megabytes lie in between and are refilled
 * only when nearly empty, so a slow but steady reader takes no bytes from this process for minutes.
 */
export const READER_PATIENCE = 10;

type Piece = Uint8Array<ArrayBuffer>;

export interface StreamOptions {
  /** How long the reader may take no byte, in milliseconds. */
  idle: number;
  /** Called once when the stream has ended in any way. */
  onEnd: () => void;
  /** Receives the error if the pieces fail. */
  onError: (error: unknown) => void;
  /** Receives the number of bytes, and whether the transfer was aborted. */
  context?: RequestContext;
  /** Called with each piece once it has been sent. */
  release?: (piece: Piece) => void;
}

/**
 * The body of a response, which reads a piece only when one is wanted. If the pieces fail or the reader is idle for too
 * long, the stream fails, which closes the connection before `Content-Length` is reached.
 *
 * The server of `http1/` takes the pieces directly: a `ReadableStream` takes longer for a piece than the store.
 */
export class PieceStream {
  /** To be called with a piece once it has been sent. */
  readonly release: (piece: Piece) => void;
  readonly #iterator: AsyncIterator<Piece>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the reader got a piece, in milliseconds of the monotonic clock; `undefined` while the next one is read. */
  #idleSince: number | undefined;
  #isOver = false;
  #failure: Error | undefined;

  constructor(pieces: AsyncIterable<Piece>, private readonly options: StreamOptions) {
    const { context, release = () => {} } = options;
    if (context !== undefined) context.isStreaming = true;
    this.#iterator = pieces[Symbol.asyncIterator]();
    this.release = release;
  }

  /** Returns the next piece; `undefined` at the end. */
  async next(): Promise<Piece | undefined> {
    if (this.#failure !== undefined) throw this.#failure;
    const { context, onError, idle } = this.options;
    this.#idleSince = undefined;
    try {
      const { done, value } = await this.#iterator.next();
      if (this.#isOver) return undefined;
      if (done) {
        this.#end(false);
        return undefined;
      }
      if (context !== undefined) context.sent += value.byteLength;
      this.#idleSince = performance.now();
      if (this.#timer === undefined) this.#watch(idle);
      return value;
    } catch (error) {
      if (this.#isOver) return undefined;
      onError(error);
      throw this.#fail("The rest of the bytes could not be read");
    }
  }

  /** Ends the pieces early. */
  async cancel(): Promise<void> {
    this.#end(true);
    await this.#iterator.return?.();
  }

  /** Returns the same as a stream of the runtime. */
  toReadableStream(): ReadableStream<Piece> {
    return new ReadableStream<Piece>({
      pull: async (controller) => {
        const piece = await this.next();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
      cancel: () => this.cancel(),
    }, { highWaterMark: 0 });
  }

  /** One timer per stream, not per piece: when it fires, it checks how long the reader has been idle. */
  #watch(time: number): void {
    this.#timer = setTimeout(() => {
      const { idle } = this.options;
      const since = this.#idleSince;
      const left = since === undefined ? idle : since + idle - performance.now();
      if (left > 0) return this.#watch(left);
      this.#fail("The reader took nothing for too long");
      this.#iterator.return?.().catch(() => {});
    }, time);
    // A program that has dropped a response may end.
    Deno.unrefTimer(this.#timer);
  }

  #fail(message: string): Error {
    this.#end(true);
    return this.#failure = streamError(message);
  }

  #end(isAborted: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { context, onEnd } = this.options;
    if (context !== undefined && isAborted) context.isAborted = true;
    clearTimeout(this.#timer);
    onEnd();
  }
}

/** Releases the memory of a piece that was sent: waiting for the garbage collector takes more memory and time. */
export function releaseMemory({ buffer }: Piece): void {
  buffer.transfer(0);
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
export function streamError(message: string): Error {
  const error = new Error(message);
  error.stack = message;
  return error;
}
