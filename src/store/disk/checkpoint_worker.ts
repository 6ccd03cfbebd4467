/**
 * Checkpoints the store's log in a thread of its own, and cuts it if no reader needs it any more.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { TRUNCATE_TIMEOUT } from "./write_ahead_log.ts";

interface WorkerScope {
  onmessage: (event: { data: string }) => void;
  postMessage(message: { error?: string }): void;
}

const scope = globalThis as unknown as WorkerScope;

/** The message is the path of the store's file. */
scope.onmessage = ({ data }) => {
  try {
    checkpoint(data);
    scope.postMessage({});
  } catch (error) {
    scope.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
};

function checkpoint(path: string): void {
  const sqlite = new DatabaseSync(path);
  try {
    sqlite.exec(`PRAGMA busy_timeout = ${TRUNCATE_TIMEOUT}`);
    const found = sqlite.prepare("PRAGMA wal_checkpoint(PASSIVE)").all()[0];
    // While a reader needs the log, cutting it would hold up writers for nothing.
    if (found?.["busy"] !== 0 || found?.["log"] !== found?.["checkpointed"]) return;
    sqlite.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
  } finally {
    sqlite.close();
  }
}
