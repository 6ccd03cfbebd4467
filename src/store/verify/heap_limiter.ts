/**
 * Keeps the memory of long work small: the garbage collector lets the heap grow with the memory of the machine.
 *
 * @module
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MIB } from "../../rules/units.ts";

/** By how much the heap may grow before its garbage is collected, in bytes. */
const MAX_GROWTH = 4 * MIB;

/** Calls between two looks at the heap. */
const CALLS = 200;

/** Returns a function that long work calls at each step, so that its garbage is collected early. */
export function heapLimiter(): () => void {
  const collect = collector();
  // Bytes of values are outside of the heap.
  const usedBytes = () => {
    const { used_heap_size, external_memory } = getHeapStatistics();
    return used_heap_size + external_memory;
  };
  let limit = usedBytes() + MAX_GROWTH;
  let calls = 0;
  return () => {
    if (++calls % CALLS !== 0 || usedBytes() < limit) return;
    collect();
    limit = usedBytes() + MAX_GROWTH;
  };
}

/** The garbage collector is visible in contexts that are made while the flag is set. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  try {
    return runInNewContext("gc") as () => void;
  } finally {
    setFlagsFromString("--no-expose-gc");
  }
}
