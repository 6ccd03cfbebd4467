import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { defaultMemoryBudget, MemoryBudget } from "../../store/engine/memory_budget.ts";
import type { ServeOptions } from "../options/serve_options.ts";

/** The memory budget that was chosen, or that fits the machine. */
export function createMemoryBudget(
  { memoryBudget, idleTimeout }: Pick<ServeOptions, "memoryBudget" | "idleTimeout">,
): MemoryBudget {
  const bytes = memoryBudget ?? defaultMemoryBudget(machineMemory());
  return new MemoryBudget(bytes, { patience: idleTimeout });
}

/**
 * Bytes of memory that the process may have: those of the machine, or of its container or service where these have a
 * limit. 0 where that cannot be found out.
 */
export function machineMemory(): number {
  try {
    const { total } = Deno.systemMemoryInfo();
    // With no limit it is 0, or more than there is. The runtime reads it, as the program itself may not read /sys.
    const limit = Number(process.constrainedMemory?.() ?? 0);
    return limit > 0 ? Math.min(total, limit) : total;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return 0;
    throw error;
  }
}

/** Descriptors with which the limit is no concern: all connections, each with one to an application. */
export const WANTED_DESCRIPTORS = 4096;

/** The same under TLS, where each connection takes two more. */
export const WANTED_TLS_DESCRIPTORS = 8192;

/**
 * How many more files and connections the process may open, measured by opening that many; `undefined` where there are at
 * least as many as wanted, or where this cannot be measured. The limit itself is not readable with the program's rights.
 */
export function freeDescriptors(wanted: number): number | undefined {
  if (Deno.build.os === "windows") return undefined;
  const opened: number[] = [];
  try {
    while (opened.length < wanted) opened.push(openSync("/dev/null", "r"));
    return undefined;
  } catch (error) {
    return isTooMany(error) ? opened.length : undefined;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function isTooMany(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    (error.code === "EMFILE" || error.code === "ENFILE");
}

/** What the operator is told at the start. */
export function lowDescriptorsText(free: number, wanted: number): string {
  return `Warning: only ${free} more files and connections can be open at once: ` +
    `raise the limit to ${wanted} or more (ulimit -n, LimitNOFILE of systemd, --ulimit of Docker).`;
}

/** What the operator is told while it happens. */
export function outOfDescriptorsText(): string {
  return `${
    new Date().toISOString()
  } warning: no file descriptors are left, so idle connections are closed: ` +
    "raise the limit (ulimit -n, LimitNOFILE of systemd, --ulimit of Docker).";
}
