import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { invalidArgument, KvdriveError } from "./error.ts";

/**
 * What can be stored. Pieces of streams are bytes or strings.
 *
 * @example
 * ```ts
 * async function* lines() {
 *   yield "one\n";
 *   yield "two\n";
 * }
 * const contents: Content[] = ["text", new Uint8Array(3), new Blob(["bytes"]), lines()];
 * for (const content of contents) await photos.put("a.txt", content);
 * ```
 */
export type Content =
  | string
  | ArrayBuffer
  | ArrayBufferView
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;

/** A part of a file; numbers start at 1. */
export interface FilePart {
  number: number;
  bytes: Uint8Array;
  isLast: boolean;
}

/** What is stored, cut into parts of `MAX_PAYLOAD` bytes, of which the last may be smaller. No bytes are one empty part. */
export interface Source {
  /** Bytes; `undefined` if unknown before reading. */
  size: number | undefined;
  /** The content type, if the content has one. */
  type: string | undefined;
  /** @param skipped Numbers of parts that need not be read. Streams have to be read all the same. */
  parts(skipped: ReadonlySet<number>): AsyncGenerator<FilePart, void>;
  /** Reads a part before its turn; streams cannot. */
  read?(number: number): Promise<Uint8Array>;
}

/** How content is read. */
export interface SourceOptions {
  /** The bytes of a stream, if they are known. */
  size?: number | undefined;
  /** Ends the reading of a stream. */
  signal?: AbortSignal | undefined;
}

/** @throws {KvdriveError} for anything that cannot be stored. */
export function sourceOf(content: Content, { size, signal }: SourceOptions = {}): Source {
  if (content instanceof Blob) return blobSource(content, size);
  const bytes = bytesOf(content);
  if (bytes !== undefined) return bytesSource(bytes, size);
  const pieces = piecesOf(content as ReadableStream<Uint8Array>, signal);
  return { size, type: undefined, parts: () => partsOf(pieces, size) };
}

/** Returns text and buffers as bytes; `undefined` for anything else. */
export function bytesOf(content: unknown): Uint8Array | undefined {
  if (typeof content === "string") return new TextEncoder().encode(content);
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  if (!ArrayBuffer.isView(content)) return undefined;
  return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
}

function bytesSource(bytes: Uint8Array, size = bytes.byteLength): Source {
  return slicedSource(size, "", () => bytes.byteLength, (start, end) => {
    return Promise.resolve(bytes.subarray(start, end));
  });
}

function blobSource(blob: Blob, size = blob.size): Source {
  return slicedSource(size, blob.type, () => blob.size, async (start, end) => {
    try {
      return new Uint8Array(await blob.slice(start, end).arrayBuffer());
    } catch (error) {
      // So browsers tell that the file on disk is another one by now.
      throw changed("The content cannot be read, or changed during the upload", error);
    }
  });
}

/** What can be read at any place. */
function slicedSource(
  size: number,
  type: string,
  presentSize: () => number,
  slice: (start: number, end: number) => Promise<Uint8Array>,
): Source {
  const count = Math.max(1, Math.ceil(size / MAX_PAYLOAD));
  const read = async (number: number): Promise<Uint8Array> => {
    const start = (number - 1) * MAX_PAYLOAD;
    const end = Math.min(size, start + MAX_PAYLOAD);
    const bytes = await slice(start, end);
    if (presentSize() === size && bytes.byteLength === end - start) return bytes;
    throw changed(`The content has ${presentSize()} bytes, not ${size}`);
  };
  return {
    size,
    type: type === "" ? undefined : type,
    read,
    async *parts(skipped) {
      for (let number = 1; number <= count; number++) {
        if (!skipped.has(number)) {
          yield { number, bytes: await read(number), isLast: number === count };
        }
      }
    },
  };
}

/** The parts of a stream. @throws {KvdriveError} if it has another size. */
async function* partsOf(
  pieces: AsyncIterable<Uint8Array>,
  size: number | undefined,
): AsyncGenerator<FilePart, void> {
  yield* splitParts(size === undefined ? pieces : measured(pieces, size), MAX_PAYLOAD);
}

async function* measured(
  pieces: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array, void> {
  let total = 0;
  for await (const piece of pieces) {
    total += piece.byteLength;
    if (total > size) throw changed(`The stream has more than ${size} bytes`);
    yield piece;
  }
  if (total < size) throw changed(`The stream has only ${total} of ${size} bytes`);
}

/** Cuts bytes into parts of one size; the last may be smaller. No bytes are one empty part. */
export async function* splitParts(
  pieces: AsyncIterable<Uint8Array>,
  partSize: number,
): AsyncGenerator<FilePart, void> {
  let part = new PartBuffer(partSize);
  let number = 1;
  for await (const piece of pieces) {
    for (let rest = piece; rest.byteLength > 0;) {
      if (part.isFull) {
        // Only now it is known that it is not the last one.
        yield { number: number++, bytes: part.bytes, isLast: false };
        part = new PartBuffer(partSize);
      }
      rest = part.take(rest);
    }
  }
  yield { number, bytes: part.bytes, isLast: true };
}

/** The bytes of a buffer at first: most files are smaller than one part. */
const FIRST_BUFFER = 16 * 1024;

/** The bytes of one part. They are copied, as the sender of a stream may use its buffers again. */
class PartBuffer {
  #buffer: Uint8Array<ArrayBuffer>;
  #filled = 0;

  constructor(private readonly size: number) {
    this.#buffer = new Uint8Array(Math.min(size, FIRST_BUFFER));
  }

  get isFull(): boolean {
    return this.#filled === this.size;
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#filled);
  }

  /** Takes bytes, and returns those that do not fit. */
  take(piece: Uint8Array): Uint8Array {
    const taken = piece.subarray(0, this.size - this.#filled);
    const needed = this.#filled + taken.byteLength;
    if (needed > this.#buffer.byteLength) {
      const larger = Math.min(this.size, Math.max(needed, 2 * this.#buffer.byteLength));
      const buffer = new Uint8Array(larger);
      buffer.set(this.bytes);
      this.#buffer = buffer;
    }
    this.#buffer.set(taken, this.#filled);
    this.#filled = needed;
    return piece.subarray(taken.byteLength);
  }
}

/** Reads a stream. When the reader ends early, the stream is told. */
function piecesOf(
  content: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const isReadable = typeof Object(content).getReader === "function";
  if (!isReadable && typeof Object(content)[Symbol.asyncIterator] !== "function") {
    throw invalidArgument(
      `The content cannot be stored: give a string, bytes, a Blob, a stream or an async iterable`,
    );
  }
  return bytesIn(
    isReadable
      ? readAll(content as ReadableStream<Uint8Array>, signal)
      : content as AsyncIterable<unknown>,
  );
}

async function* bytesIn(pieces: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, void> {
  for await (const piece of pieces) {
    const bytes = bytesOf(piece);
    if (bytes === undefined) throw invalidArgument("A stream must have pieces of bytes or text");
    yield bytes;
  }
}

/** Streams of some browsers cannot be iterated. */
async function* readAll(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown, void> {
  const reader = stream.getReader();
  const onAbort = () => void reader.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener("abort", onAbort);
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isDone = done;
      // A cancelled stream looks like one that has ended.
      signal?.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal?.removeEventListener("abort", onAbort);
    if (!isDone) await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}

function changed(problem: string, cause?: unknown): KvdriveError {
  return new KvdriveError(`${problem}: nothing was stored`, { code: "source_changed", cause });
}
