import { statfs } from "node:fs";
import { promisify } from "node:util";

/** Deno 2.5 has `statfs` only in its callback form. */
const statVolume = promisify(statfs);

/** The disk that a folder is on, in bytes. */
export interface Volume {
  total: number;
  /** Free for this user. */
  free: number;
}

/** Asks the system about the disk that the store is on; returns `undefined` if that is not known. */
export type VolumeQuery = () => Promise<Volume | undefined>;

/** The same for its free bytes. */
export type FreeBytesQuery = () => Promise<number | undefined>;

/** Returns a query of the disk that a folder is on. */
export function volumeOf(folder: string): VolumeQuery {
  return async () => {
    try {
      const { bavail, blocks, bsize } = await statVolume(folder);
      return { total: blocks * bsize, free: bavail * bsize };
    } catch (error) {
      // Without the permission to ask (--allow-sys) the disk itself is the limit.
      if (error instanceof Deno.errors.NotCapable) return undefined;
      throw error;
    }
  };
}

/** Returns a query of the free bytes of the disk that a folder is on. */
export function freeBytesOf(folder: string): FreeBytesQuery {
  const query = volumeOf(folder);
  return async () => (await query())?.free;
}

/** The query of a store on another machine. */
export function unknownVolume(): Promise<undefined> {
  return Promise.resolve(undefined);
}
