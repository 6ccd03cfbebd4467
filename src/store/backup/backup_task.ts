/**
 * What a backup and its worker thread exchange: the task, and shared numbers while it runs.
 *
 * @module
 */

/**
 * The task of the worker. Its result is the damage found in the copy, one sentence each; `undefined` if it was stopped.
 */
export interface BackupTask {
  /** The store's file. */
  source: string;
  /** An empty file, which becomes the copy. */
  target: string;
  state: BackupState;
}

/** Numbers that both threads see, at the indexes below. */
export type BackupState = Int32Array<SharedArrayBuffer>;

/** Any value but 0 stops the backup. */
export const STOP = 0;
/** Pages copied so far, and pages in all. */
export const DONE = 1;
export const TOTAL = 2;

export function newBackupState(): BackupState {
  return new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
}
