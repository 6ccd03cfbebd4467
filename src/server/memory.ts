import process from "node:process";
import { defaultMemoryBudget, MemoryBudget } from "../store/engine/memory_budget.ts";

/** Returns the part of a process in the configured memory budget, or in one that fits the machine. */
export function createMemoryBudget(
  { memoryBudget, idleTimeout }: { memoryBudget: number | undefined; idleTimeout: number },
  processes: number = 1,
): MemoryBudget {
  const whole = memoryBudget ?? defaultMemoryBudget(machineMemory(), processes);
  const bytes = Math.floor(whole / processes);
  return new MemoryBudget(bytes, { maxWait: idleTimeout });
}

/**
 * Returns the bytes of memory that the process may use: those of the machine, or the limit of its container or service. 0
 * if unknown.
 */
export function machineMemory(): number {
  try {
    const { total } = Deno.systemMemoryInfo();
    // Without a limit, 0 or a huge number. The runtime reads it, as the program has no permission to read /sys.
    const limit = Number(process.constrainedMemory?.() ?? 0);
    return limit > 0 ? Math.min(total, limit) : total;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return 0;
    throw error;
  }
}
