/**
 * SQLite connections of our own to the store's file, beside those of Deno KV, and the worker threads for long work on
 * them: `node:sqlite` is synchronous and would block the server.
 *
 * @module
 */
import { DatabaseSync } from "node:sqlite";
import { SECOND } from "../../rules/units.ts";

/** How long a locked database is retried before the answer is 503, in milliseconds. */
export const LOCKED_RETRY_TIME = 5 * SECOND;

/** Opens a SQLite file, passes it to `work`, closes it, and returns the result of `work`. */
export function withSqlite<T>(path: string, work: (sqlite: DatabaseSync) => T): T {
  const sqlite = new DatabaseSync(path);
  try {
    return work(sqlite);
  } finally {
    sqlite.close();
  }
}

/** Returns the bytes of a page of a file. */
export function pageSizeOf(sqlite: DatabaseSync): number {
  // `all` runs the statement to its end; `get` would leave a read transaction open.
  return Number(sqlite.prepare("PRAGMA page_size").all()[0]?.["page_size"]);
}

/** Runs `work`; returns `false` if SQLite refused it because another connection holds the lock. */
export function unlessLocked(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (!isLocked(error)) throw error;
    return false;
  }
}

/** Returns whether SQLite or Deno KV refused something because another connection holds a lock. */
export function isLocked(error: unknown): boolean {
  return error instanceof Error && /database (table )?is (locked|busy)/.test(error.message);
}

/** What a worker sends back. Errors travel as text: structured clones lose their class. */
type Answer<Result> = { result: Result } | { error: string };

/** What a worker tells while it works, as a sentence. */
type Notice = { notice: string };

/**
 * Runs a task in a worker thread whose file calls `serveTask`, and ends the thread.
 *
 * @param worker A new worker. Callers create it, because bundlers need its URL as a literal.
 * @param onNotice Receives what it tells meanwhile.
 * @throws {Error} with the message of what the worker threw.
 */
export async function runInWorker<Task, Result>(
  worker: Worker,
  task: Task,
  onNotice: (text: string) => void = () => {},
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer<Result>>();
  worker.onmessage = ({ data }: MessageEvent<Answer<Result> | Notice>) => {
    if ("notice" in data) onNotice(data.notice);
    else resolve(data);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    reject(new Error(event.message));
  };
  try {
    worker.postMessage(task);
    const answer = await promise;
    if ("error" in answer) throw new Error(answer.error);
    return answer.result;
  } finally {
    worker.terminate();
  }
}

/** The part of a worker's global scope that `serveTask` uses. */
interface WorkerScope<Task, Result> {
  onmessage: (event: { data: Task }) => void;
  postMessage(answer: Answer<Result> | Notice): void;
}

/**
 * Makes this thread the worker of one `runInWorker` call: runs `work` on its task and sends the result or the error
 * back.
 */
export function serveTask<Task, Result>(
  work: (task: Task, onNotice: (text: string) => void) => Result | Promise<Result>,
): void {
  const scope = globalThis as unknown as WorkerScope<Task, Result>;
  scope.onmessage = async ({ data }) => {
    try {
      scope.postMessage({ result: await work(data, (notice) => scope.postMessage({ notice })) });
    } catch (error) {
      scope.postMessage({ error: error instanceof Error ? error.message : String(error) });
    }
  };
}
