import { RepositoryError } from "../../repository/errors.ts";
import type { Retention } from "../../repository/retention.ts";
import { runInWorker } from "../disk/sqlite.ts";
import type { SnapshotEvents, SnapshotOptions, TakenSnapshot } from "./take_snapshot.ts";

/** The task of the worker. Its result is a `SnapshotResult`. */
export interface SnapshotTask {
  options: SnapshotOptions;
  /** Which snapshots stay. */
  retention: Retention;
  state: Float64Array<SharedArrayBuffer>;
}

/** What a thread did. */
export interface SnapshotResult {
  snapshot: TakenSnapshot;
  /** Why the prune after it failed, as a sentence. */
  pruneProblem: string | undefined;
}

/** Bytes that were compared, bytes in all, and bytes that were sent, in the shared state. */
export const DONE = 0;
export const TOTAL = 1;
export const SENT = 2;

/** Milliseconds between two reports of the progress. */
const PROGRESS_INTERVAL = 100;

/** Takes a snapshot in a thread. */
export class SnapshotRun {
  #worker: Worker | undefined;
  readonly #stopped = Promise.withResolvers<undefined>();

  /** @param retention Which snapshots stay afterwards. */
  constructor(private readonly options: SnapshotOptions, private readonly retention: Retention) {}

  /**
   * Takes the snapshot.
   *
   * @returns `undefined` if it was stopped. The next one finds what was sent.
   * @throws {RepositoryError}
   */
  async run({ onProgress, onNotice }: SnapshotEvents = {}): Promise<SnapshotResult | undefined> {
    const state = new Float64Array(new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT));
    const timer = setInterval(() => {
      const [done = 0, total = 0, sent = 0] = state;
      if (total > 0) onProgress?.(done, total, sent);
    }, PROGRESS_INTERVAL);
    const worker = new Worker(new URL("./snapshot_worker.ts", import.meta.url), { type: "module" });
    this.#worker = worker;
    try {
      const task: SnapshotTask = { options: this.options, retention: this.retention, state };
      const result = runInWorker<SnapshotTask, SnapshotResult>(worker, task, onNotice);
      return await Promise.race([result, this.#stopped.promise]);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new RepositoryError(message, { cause: error });
    } finally {
      clearInterval(timer);
    }
  }

  /** Ends the thread at once: what it has stored stays usable. */
  stop(): void {
    this.#worker?.terminate();
    this.#stopped.resolve(undefined);
  }
}
