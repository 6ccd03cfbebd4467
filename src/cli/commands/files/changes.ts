import type { Change, ChangePageOptions } from "../../../client/api/changes.ts";
import { CHANGE_WAIT } from "../../../client/sync/watch.ts";
import { formatBytes } from "../../../rules/units.ts";
import type { CommandCall } from "../command_call.ts";
import { Session } from "../session.ts";
import { requireDriveName } from "../drive_path.ts";

/** Changes that one request asks for. */
const PAGE = 1000;

/** `kvdrive changes`: what happened in a drive, and with `--follow` what happens. */
export async function showChanges(call: CommandCall): Promise<void> {
  const drive = call.required("DRIVE");
  requireDriveName(drive);
  const follows = call.has("follow");
  using session = await Session.open(call);
  const read = (options: ChangePageOptions) => session.drives.drive(drive).changePage(options);
  const since = call.get("since") ?? "0";
  let last = since === "now" ? (await read({})).last : since;
  while (true) {
    const page = await read({ since: last, limit: PAGE, wait: follows ? CHANGE_WAIT : undefined });
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
