import { Administration } from "../../../client/administration.ts";
import { RemoteDrives } from "../../../client/remote_drives.ts";
import { formatBytes } from "../../../rules/units.ts";
import { plural } from "../../terminal/text.ts";
import { sizeCell } from "../command_call.ts";
import { requireDriveName } from "../drive_path.ts";
import type { CommandCall } from "../command_call.ts";

export async function listDrives(call: CommandCall): Promise<void> {
  const all = await call.withConnection((connection) =>
    Array.fromAsync(new RemoteDrives(connection).listDrives())
  );
  const drives = all.map(({ name, files, bytes }) => ({ drive_name: name, files, bytes }));
  const rows = all.map(({ name, files, bytes }) => [
    name,
    files,
    bytes === null ? null : sizeCell(bytes),
  ]);
  call.printTable({ drives }, ["DRIVE", "FILES", "SIZE"], rows, "There are no drives.");
}

export async function createDrive(call: CommandCall): Promise<void> {
  const drive = call.required("DRIVE");
  requireDriveName(drive);
  await call.withConnection((connection) => new RemoteDrives(connection).createDrive(drive));
  call.print({ drive_name: drive }, [`The drive ${drive} is created.`]);
}

export async function deleteDrive(call: CommandCall): Promise<void> {
  const drive = call.required("DRIVE");
  requireDriveName(drive);
  await call.withConnection(async (connection) => {
    const { project } = connection;
    const { files, bytes } = await new RemoteDrives(connection).require(drive);
    const content = files === null
      ? "all its files"
      : `its ${plural(files, "file")} (${formatBytes(bytes ?? 0)})`;
    call.confirm(`Delete the drive ${drive} of the project ${project} with ${content}?`);
    await new Administration(connection).delete("projects", project, "drives", drive);
  });
  call.print({ drive_name: drive }, [
    `The drive ${drive} is deleted. The server removes its files in the background.`,
  ]);
}
