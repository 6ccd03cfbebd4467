import { cannot, Changed, ClientError } from "./errors.ts";

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

/**
 * A file of this machine.
 *
 * @param path A full path where links are not followed.
 * @param follows Whether links on the path are followed; otherwise one is refused, also one that comes while it is read.
 * @throws {ClientError} where it cannot be looked at.
 */
export async function fileSource(
  path: string,
  { follows = true }: { follows?: boolean } = {},
): Promise<Source & { size: number; modified: number }> {
  const { size, stamp, modified } = await look(path);
  const identity = await realPathOf(path);
  if (!follows && identity !== path) {
    throw new ClientError("There is a symbolic link on its path, which is not followed");
  }
  return {
    size,
    identity,
    stamp,
    modified,
    read: () => readFile(path, follows ? undefined : stamp),
    async verify() {
      if ((await look(path)).stamp !== stamp) throw changed();
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

/**
 * The bytes of a file from its beginning.
 *
 * @param stamp Of the only file that is read. What is at the path later may be another one.
 */
export async function* readFile(path: string, stamp?: string): AsyncIterable<Uint8Array> {
  try {
    using file = await Deno.open(path);
    if (stamp !== undefined && stampOf(await file.stat()) !== stamp) throw changed();
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
    const info = await Deno.stat(path);
    return { size: info.size, modified: info.mtime?.getTime() ?? 0, stamp: stampOf(info) };
  } catch (error) {
    throw cannot("read", path, error);
  }
}

async function realPathOf(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    throw cannot("read", path, error);
  }
}

function stampOf({ size, mtime, ino }: Deno.FileInfo): string {
  return `${size} ${mtime?.getTime() ?? 0} ${ino ?? 0}`;
}

function changed(): Changed {
  return new Changed("The file was changed while it was read: nothing was stored");
}
