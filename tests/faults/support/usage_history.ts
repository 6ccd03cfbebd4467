import { delay } from "@std/async/delay";
import { openRecords } from "./records.ts";

/** Waits until the files and bytes of a day were recorded, which a server does soon after its start. */
export async function untilClosed(data: string, day: number): Promise<void> {
  using kv = await openRecords(data);
  for (const end = performance.now() + 60_000; performance.now() < end; await delay(50)) {
    const { value } = await kv.get<{ closed?: number; closing?: number }>(["usage_history"]);
    if (value?.closed === day && value.closing === undefined) return;
  }
  throw new Error(`The figures of day ${day} were not recorded`);
}
