import { delay } from "@std/async/delay";
import { MINUTE, SECOND } from "../../rules/units.ts";
import { hasStatus, isTransferError, KvdriveError, type TransferError } from "../errors.ts";
import type { RemoteDrives } from "../drives.ts";
import type { RemoteFolder } from "./tree.ts";

/** Milliseconds without another change until changes are transferred, and after which that no longer counts. */
const QUIET_TIME = 500;
const MAX_DELAY = 5000;

/** Milliseconds between two passes if nothing is known to have changed: of a drive whose changes are not kept, and of others. */
const UNWATCHED_RESCAN = 10 * SECOND;
const RESCAN = MINUTE;

/** How long one request waits for a change, in seconds: shorter than proxies wait for a response. */
export const CHANGE_WAIT = 25;

/** Milliseconds until a pass that failed is repeated. */
const RETRY_DELAY = 5 * SECOND;

/** How many times as long as a pass takes is waited for the next one, if nothing is known to have changed. */
const IDLE_FACTOR = 9;

/** What is watched. */
export interface WatchedSource {
  /** Milliseconds between two passes while it cannot be watched. */
  rescan: number;
  /** Calls `onChange` after each change from now on, until it is disposed of. Returns `undefined` if it cannot be watched. */
  begin(onChange: () => void): Promise<Disposable | undefined>;
}

export interface WatchOptions {
  source: WatchedSource;
  /** Makes the target like the source. */
  pass: () => Promise<void>;
  /** Receives why a pass failed, once until another reason or a success. */
  onFailure: (error: TransferError) => void;
}

/**
 * Runs a pass, and another one after each change. Failures such as an outage of the server do not end it.
 *
 * @throws {KvdriveError} if the server does not accept the key.
 */
export async function watch({ source, pass, onFailure }: WatchOptions): Promise<never> {
  let reported = "";
  for (;;) {
    using changes = new Changes();
    let wait = RETRY_DELAY;
    const start = performance.now();
    try {
      // Changes during the pass are those of the next one.
      const isWatched = await changes.begin(source);
      await pass();
      reported = "";
      const rescan = isWatched ? RESCAN : source.rescan;
      wait = Math.max(rescan, (performance.now() - start) * IDLE_FACTOR);
    } catch (error) {
      if (!isTransferError(error) || hasStatus(error, 401)) throw error;
      if (error.message !== reported) onFailure(error);
      reported = error.message;
    }
    await changes.next(wait);
  }
}

/** Returns a folder of this machine. @param onNotice Receives why it cannot be watched. */
export function folderSource(
  folder: string,
  onNotice: (sentence: string) => void,
): WatchedSource {
  return {
    rescan: RESCAN,
    begin(onChange) {
      try {
        const watcher = Deno.watchFs(folder, { recursive: true });
        void followFolder(watcher, onChange);
        return Promise.resolve(watcher);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        onNotice(`Cannot watch ${folder} (${reason}): it is read again every minute`);
        return Promise.resolve(undefined);
      }
    },
  };
}

async function followFolder(watcher: Deno.FsWatcher, onChange: () => void): Promise<void> {
  try {
    for await (const { kind } of watcher) {
      // Reading the files would start another pass.
      if (kind !== "access") onChange();
    }
  } catch {
    // The folder is gone. The next pass says so.
  }
}

/** Returns a folder of a drive, which is watched if its project keeps changes. */
export function driveSource(drives: RemoteDrives, folder: RemoteFolder): WatchedSource {
  return {
    rescan: UNWATCHED_RESCAN,
    async begin(onChange) {
      const since = await presentCursor(drives, folder.drive);
      if (since === undefined) return undefined;
      const stop = new AbortController();
      void followDrive(drives, folder, { since, onChange, signal: stop.signal });
      return { [Symbol.dispose]: () => stop.abort() };
    },
  };
}

/** Returns `undefined` if no changes are kept, or if the server knows none. */
async function presentCursor(drives: RemoteDrives, drive: string): Promise<string | undefined> {
  try {
    return (await drives.drive(drive).changePage()).last;
  } catch (error) {
    const isOff = error instanceof KvdriveError && error.code === "changes_off";
    if (isOff || hasStatus(error, 404)) return undefined;
    throw error;
  }
}

async function followDrive(
  drives: RemoteDrives,
  { drive, prefix }: RemoteFolder,
  { since, onChange, signal }: { since: string; onChange: () => void; signal: AbortSignal },
): Promise<void> {
  const isBelow = (name = "") => prefix === "" || name.startsWith(prefix);
  let last = since;
  try {
    while (!signal.aborted) {
      const page = await drives.drive(drive).changePage({ since: last, wait: CHANGE_WAIT });
      last = page.last;
      if (page.changes.some(({ name, from }) => isBelow(name) || isBelow(from))) onChange();
    }
  } catch (error) {
    if (!isTransferError(error)) throw error;
    // The next pass watches again, and reports the failure.
    await delay(RETRY_DELAY);
    onChange();
  }
}

/** The changes of a source since a pass began. */
class Changes implements Disposable {
  #watching: Disposable | undefined;
  #lastChange = Infinity;
  #firstChange = Infinity;
  #onChange: () => void = () => {};

  /** Returns whether the source is watched from now on. */
  async begin(source: WatchedSource): Promise<boolean> {
    this.#watching = await source.begin(() => {
      this.#lastChange = performance.now();
      this.#firstChange = Math.min(this.#firstChange, this.#lastChange);
      this.#onChange();
    });
    return this.#watching !== undefined;
  }

  /** Waits until a change is followed by a quiet time, but not longer than `longest`. */
  async next(longest: number): Promise<void> {
    const end = performance.now() + longest;
    for (;;) {
      const left = Math.min(this.#due, end) - performance.now();
      if (left <= 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, left);
      this.#onChange = resolve;
      await promise;
      clearTimeout(timer);
    }
  }

  [Symbol.dispose](): void {
    this.#watching?.[Symbol.dispose]();
  }

  /** When the changes so far are to be transferred. */
  get #due(): number {
    return Math.min(this.#lastChange + QUIET_TIME, this.#firstChange + MAX_DELAY);
  }
}
