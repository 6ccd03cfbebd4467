/** What the thread is started with. */
export interface BackupTask {
  /** The store's file. */
  source: string;
  /** An empty file, which becomes the copy. */
  target: string;
  state: BackupState;
}

/** What the thread answers. */
export interface BackupAnswer {
  error?: string;
  stopped?: true;
  /** What is damaged in the copy, a sentence each without its end. */
  damage?: string[];
}

/**
 * What a backup's thread and the one that started it share: three numbers.
 *
 * @module
 */

/** Where it is told to stop, by anything but 0. */
export const STOP = 0;
/** How many pages are copied, and of how many. */
export const DONE = 1;
export const TOTAL = 2;

export type BackupState = Int32Array<SharedArrayBuffer>;

export function newBackupState(): BackupState {
  return new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
}
