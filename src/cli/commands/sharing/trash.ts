import type { Drive } from "../../../client/api/drive.ts";
import type { RestoreResult, TrashItem } from "../../../client/api/types.ts";
import { RemoteDrives } from "../../../client/drives.ts";
import { CommandError, printNotice } from "../../terminal/output.ts";
import { plural } from "../../terminal/text.ts";
import { type CommandCall, sizeCell } from "../command_call.ts";
import { isFolder, parseDrivePath, requireDriveName } from "../drive_path.ts";
import { drivesOf, listIn } from "./drives.ts";

/** Items that one request restores. */
const MAX_RESTORED = 1000;

export async function listTrash(call: CommandCall): Promise<void> {
  const [word] = call.operands;
  const at = word?.indexOf(":") ?? -1;
  const drive = at === -1 ? word : word?.slice(0, at);
  const prefix = at === -1 ? "" : word?.slice(at + 1) ?? "";
  const items = await listIn(call, drive, ({ trash }) => trash.list({ prefix }));
  const rows = items.map(({ id, drive_name, name, size, deleted, expires, reason }) => [
    id,
    `${drive_name}:${name}`,
    sizeCell(size),
    deleted,
    expires,
    reason,
  ]);
  const headings = ["ID", "FILE", "SIZE", "DELETED", "EXPIRES", "REASON"];
  call.printTable({ items }, headings, rows, "The trash is empty.");
}

export async function restoreTrash(call: CommandCall): Promise<void> {
  const targets = call.operands;
  const named = targets.filter((target) => target.includes(":")).map((target) =>
    parseDrivePath(target, undefined)
  );
  const ids = targets.filter((target) => !target.includes(":"));
  const run = await call.withConnection(async (connection) => {
    const run = new RestoreRun(call.has("overwrite"));
    const drives = new RemoteDrives(connection);
    for (const { drive, name } of named) await run.restoreName(drives.drive(drive), name);
    if (ids.length > 0) {
      await run.restoreIds(await drivesOf(connection, call.get("drive")), ids);
    }
    return run;
  });
  const { restored, failed } = run;
  const [only] = failed;
  if (only !== undefined && restored.length === 0 && targets.length === 1 && failed.length === 1) {
    throw new CommandError(`Cannot restore ${only.target}: ${only.error}`);
  }
  for (const { target, error } of failed) {
    printNotice(`Cannot restore ${target}: ${error}`);
  }
  call.print({ restored, failed }, [`Restored ${plural(restored.length, "file")}.`]);
  if (failed.length > 0) {
    throw new CommandError(`Cannot restore ${plural(failed.length, "file")}: see above`);
  }
}

class RestoreRun {
  readonly restored: { drive_name: string; id: string; name?: string }[] = [];
  readonly failed: { target: string; error: string }[] = [];

  constructor(private readonly overwrite: boolean) {}

  /** Restores the newest item of a name, or of each name in a folder. */
  async restoreName({ name: drive, trash }: Drive, name: string): Promise<void> {
    const newest = new Map<string, TrashItem>();
    for await (const item of trash.list({ prefix: name })) {
      const isWanted = isFolder({ drive, name }) || item.name === name;
      if (isWanted && !newest.has(item.name)) newest.set(item.name, item);
    }
    if (newest.size === 0) {
      this.failed.push({ target: `${drive}:${name}`, error: "it is not in the trash" });
    }
    const names = new Map([...newest.values()].map((item) => [item.id, item.name]));
    const ids = [...names.keys()];
    for (let from = 0; from < ids.length; from += MAX_RESTORED) {
      const some = ids.slice(from, from + MAX_RESTORED);
      const { restored, failed } = await trash.restore(some, { overwrite: this.overwrite });
      for (const id of restored) {
        this.restored.push({ drive_name: drive, id, name: names.get(id) ?? "" });
      }
      for (const failure of failed) {
        const target = `${drive}:${names.get(failure.id)}`;
        this.failed.push({ target, error: sentenceOf(failure) });
      }
    }
  }

  /** Restores items by their ids, from the drives that have them. */
  async restoreIds(drives: readonly Drive[], ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      let problem = "no drive has such an item in its trash";
      let isRestored = false;
      for (const { name: drive, trash } of drives) {
        const { restored, failed } = await trash.restore([id], { overwrite: this.overwrite });
        isRestored = restored.length > 0;
        if (isRestored) this.restored.push({ drive_name: drive, id });
        const [failure] = failed;
        // A failure for another reason than absence is that of its drive.
        if (failure !== undefined && failure.code !== "trash_item_not_found") {
          problem = sentenceOf(failure);
        }
        if (isRestored) break;
      }
      if (!isRestored) this.failed.push({ target: id, error: problem });
    }
  }
}

/** The reason of a failure, with advice for the command line in place of that for programs. */
function sentenceOf({ error, code }: RestoreResult["failed"][number]): string {
  return code === "file_exists" ? "Another file has its name: --overwrite replaces that" : error;
}

export async function emptyTrash(call: CommandCall): Promise<void> {
  const [drive] = call.operands;
  if (drive !== undefined) requireDriveName(drive);
  const deleted = await call.withConnection(async (connection) => {
    const place = drive === undefined
      ? `of all drives of the project ${connection.project}`
      : `of the drive ${drive}`;
    call.confirm(`Delete everything in the trash ${place} for good?`);
    let count = 0;
    for (const { trash } of await drivesOf(connection, drive)) count += await trash.empty();
    return count;
  });
  call.print({ deleted }, [`Deleted ${plural(deleted, "file")} for good.`]);
}
