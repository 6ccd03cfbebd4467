import type { Drive } from "../../../client/api/drive.ts";
import type { OpenUpload } from "../../../client/api/types.ts";
import { RemoteDrives } from "../../../client/remote_drives.ts";
import { plural } from "../../terminal/text.ts";
import { parseDrivePath } from "../drive_path.ts";
import type { CommandCall } from "../command_call.ts";
import { drivesOf, listIn } from "../drive_lists.ts";
import { findEach } from "./targets.ts";

export async function listUploads(call: CommandCall): Promise<void> {
  const [drive] = call.operands;
  const uploads = await listIn(call, drive, ({ uploads }) => uploads.list());
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
    const drives = new RemoteDrives(connection);
    const abort = async ({ uploads }: Drive, isWanted: (upload: OpenUpload) => boolean) => {
      let count = 0;
      for (const upload of await Array.fromAsync(uploads.list())) {
        if (isWanted(upload) && await uploads.abort(upload.upload_id, upload.name)) count++;
      }
      return count;
    };
    const counts = await findEach(call.operands, "open upload", async (target) => {
      if (target.includes(":")) {
        const { drive, name } = parseDrivePath(target, undefined);
        return await abort(drives.drive(drive), (upload) => upload.name === name) || undefined;
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
