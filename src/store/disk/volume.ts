import { statfs } from "node:fs";
import { promisify } from "node:util";

/** Deno 2.5 has it in this form alone. */
const askVolume = promisify(statfs);

/** A disk, in bytes. */
export interface Volume {
  total: number;
  free: number;
}

/** The disk that the store is on as it is now; `undefined` where that cannot be found out. */
export type VolumeQuery = () => Promise<Volume | undefined>;

/** The free bytes of it. */
export type FreeBytes = () => Promise<number | undefined>;

export function freeBytesOf(folder: string): FreeBytes {
  const ask = volumeOf(folder);
  return async () => (await ask())?.free;
}

/** Asks the system about the disk that a folder is on. */
export function volumeOf(folder: string): VolumeQuery {
  return async () => {
    try {
      const { bavail, blocks, bsize } = await askVolume(folder);
      return { total: blocks * bsize, free: bavail * bsize };
    } catch (error) {
      // Without the permission nothing is known, and the disk itself is the limit.
      if (error instanceof Deno.errors.NotCapable) return undefined;
      throw error;
    }
  };
}

/** Of a store on another machine. */
export function unknownVolume(): Promise<undefined> {
  return Promise.resolve(undefined);
}
