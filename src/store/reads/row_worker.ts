/**
 * The thread in which `ThreadReader` waits for the disk. Its first message is the path of a file, each further one the
 * rows to read.
 *
 * @module
 */
import type { DatabaseSync } from "node:sqlite";
import type { KvRow } from "./kv_encoding.ts";
import { openForReading, SELECT_FIRST, SELECT_LAST, SELECT_ROW } from "./rows.ts";
import type { RowAnswer, RowMessage, RowQuery } from "./thread_reader.ts";

/** The part of a worker's global scope that is used here. */
interface WorkerScope {
  onmessage: (event: { data: RowMessage }) => void;
  postMessage(answer: RowAnswer): void;
}

function rowReader(sqlite: DatabaseSync): (query: RowQuery) => (KvRow | undefined)[] {
  const row = sqlite.prepare(SELECT_ROW);
  const first = sqlite.prepare(SELECT_FIRST);
  const last = sqlite.prepare(SELECT_LAST);
  const read = (query: RowQuery) => {
    if ("keys" in query) return query.keys.map((key) => row.all(key)[0]);
    return (query.reverse ? last : first).all(query.from, query.to, query.count);
  };
  return (query) => {
    sqlite.exec("BEGIN");
    try {
      return read(query) as unknown as (KvRow | undefined)[];
    } finally {
      // After a failed read SQLite may have ended the transaction itself.
      if (sqlite.isTransaction) sqlite.exec("ROLLBACK");
    }
  };
}

const scope = globalThis as unknown as WorkerScope;
let path = "";
let sqlite: DatabaseSync | undefined;
let read: ReturnType<typeof rowReader> | undefined;

function answerTo(message: RowQuery | "close"): RowAnswer {
  try {
    if (message === "close") {
      sqlite?.close();
      return { rows: [] };
    }
    read ??= rowReader(sqlite ??= openForReading(path, false));
    return { rows: read(message) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

scope.onmessage = ({ data }) => {
  if (typeof data === "object" && "path" in data) path = data.path;
  else scope.postMessage(answerTo(data));
};
