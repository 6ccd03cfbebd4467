import type { Connection } from "../../client/connection.ts";
import { RemoteDrives } from "../../client/remote_drives.ts";
import { RemoteSharing } from "../../client/sharing.ts";
import type { CommandCall } from "./command_call.ts";
import { requireDriveName } from "./drive_path.ts";

/** Lists what is in one drive, or in all that the key may list, with the name of the drive. */
export async function listIn<T>(
  call: CommandCall,
  drive: string | undefined,
  list: (sharing: RemoteSharing, drive: string) => AsyncIterable<T>,
): Promise<(T & { drive_name: string })[]> {
  if (drive !== undefined) requireDriveName(drive);
  return await call.withConnection(async (connection) => {
    const sharing = new RemoteSharing(connection);
    const found: (T & { drive_name: string })[] = [];
    for (const drive_name of await drivesOf(connection, drive)) {
      for await (const one of list(sharing, drive_name)) found.push({ drive_name, ...one });
    }
    return found;
  });
}

/** Returns one drive, or all that the key may list. */
export async function drivesOf(
  connection: Connection,
  drive: string | undefined,
): Promise<string[]> {
  if (drive !== undefined) return [drive];
  return await Array.fromAsync(new RemoteDrives(connection).listDrives(), ({ name }) => name);
}
