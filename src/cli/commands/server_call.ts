import type { Connection } from "../../client/connection.ts";
import { RemoteDrives } from "../../client/remote_drives.ts";
import { RemoteSharing } from "../../client/sharing.ts";
import { CommandCall } from "./command_call.ts";
import { connect } from "./connect.ts";
import { requireDriveName } from "./drive_path.ts";

/** The call of a command that asks a server, and transfers no files. */
export class ServerCall extends CommandCall {
  /** Connects to the server for `work`. @throws {UsageError} if there is no key. */
  async withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    using connection = await connect(this.args, this.env);
    // A key without a project is refused before the first request.
    void connection.project;
    return await work(connection);
  }

  /** Lists what is in one drive, or in all that the key may list, with the name of the drive. */
  async listIn<T>(
    drive: string | undefined,
    list: (sharing: RemoteSharing, drive: string) => AsyncIterable<T>,
  ): Promise<(T & { drive_name: string })[]> {
    if (drive !== undefined) requireDriveName(drive);
    return await this.withConnection(async (connection) => {
      const sharing = new RemoteSharing(connection);
      const found: (T & { drive_name: string })[] = [];
      for (const drive_name of await this.drivesOf(connection, drive)) {
        for await (const one of list(sharing, drive_name)) found.push({ drive_name, ...one });
      }
      return found;
    });
  }

  /** Returns one drive, or all that the key may list. */
  async drivesOf(connection: Connection, drive: string | undefined): Promise<string[]> {
    if (drive !== undefined) return [drive];
    return await Array.fromAsync(new RemoteDrives(connection).listDrives(), ({ name }) => name);
  }
}
