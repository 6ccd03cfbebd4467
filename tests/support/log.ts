import { assert } from "@std/assert";
import { delay } from "@std/async/delay";

/** A line of the log about a request, in JSON. */
export interface LogLine {
  time: string;
  level: string;
  id: string;
  method: string;
  route: string | null;
  app?: string;
  status: number | null;
  in: number;
  out: number;
  ms: number;
  key: string | null;
  aborted?: boolean;
}

/** Waits for a condition. */
export async function waitFor<T>(what: string, look: () => T | undefined): Promise<T> {
  const end = Date.now() + 60_000;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    assert(Date.now() < end, `It never came: ${what}`);
    await delay(20);
  }
}

/** The lines after the one that reports the server ready. */
export function linesOf(server: { text: string }): string[] {
  const [, log = ""] = server.text.split(/^kvdrive listening on .*\n/m);
  // The last one may not be whole yet.
  return log.split("\n").slice(0, -1);
}

/** The line about the request with this id. */
export async function lineOf(server: { text: string }, id: string): Promise<LogLine> {
  const line = await waitFor(
    `the line of ${id}`,
    () => linesOf(server).find((line) => line.includes(`"id":"${id}","method"`)),
  );
  return JSON.parse(line);
}
