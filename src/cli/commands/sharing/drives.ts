import { Administration } from "../../../client/administration.ts";
import { RemoteDrives } from "../../../client/drives.ts";
import { formatBytes } from "../../../rules/units.ts";
import { plural } from "../../terminal/text.ts";
import { type CommandCall, sizeCell } from "../command_call.ts";
import { parseDrivePath, requireDriveName } from "../drive_path.ts";
import type { Drive } from "../../../client/api/drive.ts";
import type { OpenUpload } from "../../../client/api/types.ts";
import type { Connection } from "../../../client/connection.ts";
import { CommandError, printNotice } from "../../terminal/output.ts";

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

/**
 * Handles each target, and reports those that do not exist on standard error.
 *
 * @param handle Returns `undefined` if there is no such target.
 * @returns What was handled.
 * @throws {CommandError} if none was.
 */
export async function findEach<T>(
  targets: readonly string[],
  noun: string,
  handle: (target: string) => Promise<T | undefined>,
): Promise<T[]> {
  const done: T[] = [];
  const missing: string[] = [];
  for (const target of targets) {
    const result = await handle(target);
    if (result === undefined) missing.push(target);
    else done.push(result);
  }
  const [only] = missing;
  if (only === undefined) return done;
  if (targets.length === 1) throw new CommandError(`There is no ${noun} ${only}`);
  for (const target of missing) printNotice(`There is no ${noun} ${target}`);
  if (done.length > 0) {
    printNotice(`Changed ${plural(done.length, noun)}, before the failure below`);
  }
  throw new CommandError(`Cannot find ${plural(missing.length, noun)}: see above`);
}
