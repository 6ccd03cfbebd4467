import process from "node:process";
import { defaultMemoryBudget, MemoryBudget } from "../store/memory_budget.ts";
import type { ServeOptions } from "./serve_options.ts";

/** The memory budget that was chosen, or that fits the machine. */
export function memoryBudgetOf(
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
