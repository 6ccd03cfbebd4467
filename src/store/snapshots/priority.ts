import { setPriority } from "node:os";

/** The niceness of a thread that takes snapshots; that of others is 0. */
const NICENESS = 10;

/**
 * Lets threads that answer requests have the processor before this one. Only Linux knows it of a thread; elsewhere it would
 * be that of the whole server.
 */
export function yieldToRequests(): void {
  if (Deno.build.os === "linux") setPriority(0, NICENESS);
}
