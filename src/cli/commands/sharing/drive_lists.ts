import type { Drive } from "../../../client/api/drive.ts";
import type { Connection } from "../../../client/connection.ts";
import type { CommandCall } from "../command_call.ts";
import { requireDriveName } from "../drive_path.ts";
import { CommandError, printNotice } from "../../terminal/output.ts";
import { plural } from "../../terminal/text.ts";

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
