import type { Drive } from "../../client/api/drive.ts";
import type { Connection } from "../../client/connection.ts";
import type { CommandCall } from "./command_call.ts";
import { requireDriveName } from "./drive_path.ts";

/** Lists what is in one drive, or in all that the key may list, with the name of the drive. */
export async function listIn<T>(
  call: CommandCall,
  drive: string | undefined,
  list: (drive: Drive) => AsyncIterable<T>,
): Promise<(T & { drive_name: string })[]> {
  if (drive !== undefined) requireDriveName(drive);
  return await call.withConnection(async (connection) => {
    const found: (T & { drive_name: string })[] = [];
    for (const one of await drivesOf(connection, drive)) {
      for await (const item of list(one)) found.push({ drive_name: one.name, ...item });
    }
    return found;
  });
}

/** Returns one drive, or all that the key may list. */
export async function drivesOf(
  connection: Connection,
  drive: string | undefined,
): Promise<Drive[]> {
  const { client } = connection;
  if (drive !== undefined) return [client.drive(drive)];
  return await Array.fromAsync(client.drives(), ({ drive_name }) => client.drive(drive_name));
}
