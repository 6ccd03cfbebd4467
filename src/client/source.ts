import { cannot, Changed } from "./errors.ts";

/** Bytes that are to be sent. They can be read more than once unless they come from a pipe. */
export interface Source {
  /** Bytes, where they are known before they are read. */
  size: number | undefined;
  /** Tells it from all others, for an upload that goes on; a pipe has none. */
  identity: string | undefined;
  /** Another one when it is known to have changed. */
  stamp: string;
  read(): AsyncIterable<Uint8Array>;
  /** @throws {Changed} where it is not what it was when it was opened. */
  verify(): Promise<void>;
}

/** Bytes that are read from a file at once. */
const PIECE = 256 * 1024;

/** A file of this machine. @throws {ClientError} where it cannot be looked at. */
export async function fileSource(
  path: string,
): Promise<Source & { size: number; modified: number }> {
  const { size, stamp, modified } = await look(path);
  return {
    size,
    identity: await Deno.realPath(path),
    stamp,
    modified,
    read: () => readFile(path),
    async verify() {
      if ((await look(path)).stamp !== stamp) {
        throw new Changed("The file was changed while it was read: nothing was stored");
      }
    },
  };
}

/** What comes in on a pipe. */
export function pipeSource(pipe: ReadableStream<Uint8Array>): Source {
  return {
    size: undefined,
    identity: undefined,
    stamp: "",
    read: () => pipe,
    verify: () => Promise.resolve(),
  };
}

/** The bytes of a file from its beginning. */
export async function* readFile(path: string): AsyncIterable<Uint8Array> {
  try {
    using file = await Deno.open(path);
    for (;;) {
      const piece = new Uint8Array(PIECE);
      const count = await file.read(piece);
      if (count === null) return;
      yield piece.subarray(0, count);
    }
  } catch (error) {
    throw cannot("read", path, error);
  }
}

async function look(path: string): Promise<{ size: number; stamp: string; modified: number }> {
  try {
    const { size, mtime, ino } = await Deno.stat(path);
    const modified = mtime?.getTime() ?? 0;
    return { size, modified, stamp: `${size} ${modified} ${ino ?? 0}` };
  } catch (error) {
    throw cannot("read", path, error);
  }
}
