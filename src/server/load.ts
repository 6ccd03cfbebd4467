import type { ServerLoad } from "../api/endpoint.ts";
import { isoSeconds } from "../rules/dates.ts";
import { HOUR } from "../rules/units.ts";
import type { Announcements } from "./peers.ts";

/** How long the end of a process is a warning, in milliseconds. */
const ENDED_WARNING_TIME = HOUR;

/** Returns the load of a server from those of its processes. What only one of them knows is taken from that one. */
export function sumOfLoads(loads: readonly ServerLoad[]): ServerLoad {
  return loads.reduce((
    sum,
    { running, memory, started, processes, backup, snapshots, warnings },
  ) => ({
    running: {
      upload: sum.running.upload + running.upload,
      download: sum.running.download + running.download,
      gate: sum.running.gate + running.gate,
      other: sum.running.other + running.other,
    },
    memory: {
      resident: sum.memory.resident + memory.resident,
      heap: sum.memory.heap + memory.heap,
    },
    started: Math.min(sum.started, started),
    processes: sum.processes + processes,
    backup: sum.backup ?? backup,
    ...(sum.snapshots ?? snapshots) && { snapshots: sum.snapshots ?? snapshots },
    warnings: [...sum.warnings, ...warnings],
  }));
}

/**
 * Returns what the operator should know about the processes of a server, as sentences without a period.
 *
 * @param count How many there should be.
 * @param now Milliseconds since 1970.
 */
export function processWarnings(
  state: Announcements["processes"] | undefined,
  count: number,
  now: number = Date.now(),
): string[] {
  if (state === undefined) return [];
  const { running, ended, lastEnd } = state;
  const warnings: string[] = [];
  if (running < count) {
    warnings.push(`Only ${running} of ${count} processes of the server are running: see the log`);
  }
  if (lastEnd !== undefined && now - lastEnd < ENDED_WARNING_TIME) {
    const times = ended === 1 ? "once" : `${ended} times`;
    warnings.push(
      `A process of the server ended unexpectedly ${times}, last at ${
        isoSeconds(lastEnd)
      }, and was started again: see the log`,
    );
  }
  return warnings;
}
