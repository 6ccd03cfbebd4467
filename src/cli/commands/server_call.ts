import type { Connection } from "../../client/connection.ts";
import { RemoteDrives } from "../../client/remote_drives.ts";
import { CommandCall } from "./command_call.ts";
import { connect, PLAIN_MESSAGES } from "./connect.ts";

/** The call of a command that asks a server, and transfers no files. */
export class ServerCall extends CommandCall {
  /** Connects to the server for `work`. @throws {UsageError} if there is no key. */
  async withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    using connection = await connect(this.args, this.env, PLAIN_MESSAGES);
    // A key without a project is refused before the first request.
    void connection.project;
    return await work(connection);
  }

  /** Returns one drive, or all that the key may list. */
  async drivesOf(connection: Connection, drive: string | undefined): Promise<string[]> {
    if (drive !== undefined) return [drive];
    return await Array.fromAsync(new RemoteDrives(connection).listDrives(), ({ name }) => name);
  }
}
