import { assert } from "@std/assert";
import { ClientWorkspace } from "./client.ts";
import { PROJECT_ID, PROJECT_KEY } from "../server.ts";

export const NEVER = new Promise<never>(() => {});

/** What `export` and `import` print with `--json`. */
export interface Report {
  copied: number;
  bytes: number;
  unchanged: number;
  folders: number;
  skipped: { drive: string; name: string; reason: string }[];
  failed: { drive: string; name: string; reason: string }[];
}

/** The names of all drives. */
export async function drivesOf(desk: ClientWorkspace): Promise<string[]> {
  const url = `${desk.server.origin}/v1/${PROJECT_ID}`;
  const answer = await fetch(url, { headers: { "X-Api-Key": PROJECT_KEY } });
  const { drives } = await answer.json() as { drives: { drive_name: string }[] };
  return drives.map(({ drive_name }) => drive_name);
}

export async function emptyAll(desk: ClientWorkspace): Promise<void> {
  for (const drive of await drivesOf(desk)) {
    const { names } = await (await desk.server.fetch(drive, "/files")).json() as {
      names: string[];
    };
    if (names.length === 0) continue;
    const body = JSON.stringify({ names });
    const answer = await desk.server.fetch(drive, "/files", { method: "DELETE", body });
    assert((await answer.text()).includes('"failed":[]'));
  }
}

export async function report(desk: ClientWorkspace, ...args: string[]): Promise<Report> {
  const [one] = await desk.json<Report>(...args);
  if (one === undefined) throw new Error("There is no report");
  return one;
}
