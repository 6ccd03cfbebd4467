/**
 * The thread in which the store's log is checkpointed and truncated. Its task is the path of the store's file.
 *
 * @module
 */
import { serveTask } from "./sqlite.ts";
import { checkpointAndTruncate } from "./write_ahead_log.ts";

serveTask(checkpointAndTruncate);
