import { formatBytes } from "../../../rules/units.ts";
import type { CommandCall } from "../command_call.ts";
import { Session } from "../session.ts";
import { requireDriveName } from "../drive_path.ts";

/** Changes that one request asks for. */
const PAGE = 1000;

/** How long one request waits for a change, in seconds: shorter than proxies wait for a response. */
const WAIT = 25;

interface Change {
  id: string;
  at: string;
  type: "put" | "delete" | "move";
  name: string;
  from?: string;
  size?: number;
}

interface Page {
  changes: Change[];
  last: string;
  more: boolean;
}

/** `kvdrive changes`: what happened in a drive, and with `--follow` what happens. */
export async function showChanges(call: CommandCall): Promise<void> {
  const drive = call.required("DRIVE");
  requireDriveName(drive);
  const follows = call.has("follow");
  using session = await Session.open(call);
  const read = (query: Record<string, string>) =>
    session.connection.requestJson<Page>({ method: "GET", path: [drive, "changes"], query });
  const since = call.get("since") ?? "0";
  let last = since === "now" ? (await read({})).last : since;
  while (true) {
    const wait: Record<string, string> = follows ? { wait: String(WAIT) } : {};
    const page = await read({ since: last, limit: String(PAGE), ...wait });
    for (const change of page.changes) session.print(change, lineOf(change));
    last = page.last;
    if (!follows && !page.more) break;
  }
  if (!call.has("json")) session.view.printNotice(`Later changes: --since ${last}`);
}

function lineOf({ at, type, name, from, size }: Change): string {
  const moved = from === undefined ? "" : `${from} -> `;
  const bytes = size === undefined ? "" : `  ${formatBytes(size)}`;
  return `${at}  ${type.padEnd("delete".length)}  ${moved}${name}${bytes}`;
}
