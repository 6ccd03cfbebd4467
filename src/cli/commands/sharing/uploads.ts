import { type OpenUpload, RemoteSharing } from "../../../client/sharing.ts";
import { plural } from "../../terminal/text.ts";
import { parseDrivePath } from "../drive_path.ts";
import type { CommandCall } from "../command_call.ts";
import { drivesOf, listIn } from "../drive_lists.ts";
import { findEach } from "./targets.ts";

export async function listUploads(call: CommandCall): Promise<void> {
  const [drive] = call.operands;
  const uploads = await listIn(call, drive, (sharing, drive) => sharing.listUploads(drive));
  const rows = uploads.map(({ upload_id, drive_name, name, created, expires }) => [
    upload_id,
    `${drive_name}:${name}`,
    created,
    expires,
  ]);
  const headings = ["ID", "FILE", "CREATED", "EXPIRES"];
  call.printTable({ uploads }, headings, rows, "There are no open uploads.");
}

export async function abortUploads(call: CommandCall): Promise<void> {
  const aborted = await call.withConnection(async (connection) => {
    const sharing = new RemoteSharing(connection);
    const abort = async (drive: string, isWanted: (upload: OpenUpload) => boolean) => {
      let count = 0;
      for (const upload of await Array.fromAsync(sharing.listUploads(drive))) {
        if (isWanted(upload) && await sharing.abortUpload(drive, upload)) count++;
      }
      return count;
    };
    const counts = await findEach(call.operands, "open upload", async (target) => {
      if (target.includes(":")) {
        const { drive, name } = parseDrivePath(target, undefined);
        return await abort(drive, (upload) => upload.name === name) || undefined;
      }
      for (const drive of await drivesOf(connection, call.get("drive"))) {
        const count = await abort(drive, ({ upload_id }) => upload_id === target);
        if (count > 0) return count;
      }
      return undefined;
    });
    return counts.reduce((sum, count) => sum + count, 0);
  });
  call.print({ aborted }, [`Aborted ${plural(aborted, "upload")}.`]);
}
