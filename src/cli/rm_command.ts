import type { RemoteDrives } from "../client/remote_drives.ts";
import { byteText } from "./byte_text.ts";
import type { ClientCall } from "./client_command.ts";
import { confirm, demandConsentPossible } from "./confirm.ts";
import { isFolder, type NamedPlace, parsePlace } from "./place.ts";
import { counted } from "./project_commands.ts";
import { TransferView } from "./transfer_view.ts";
import { CommandError, UsageError } from "./usage_error.ts";

/** A file that is to be deleted. */
interface Doomed {
  drive: string;
  name: string;
  size: number;
}

/** Deletes files. */
export async function removeFiles(call: ClientCall): Promise<void> {
  const places = call.operands.map((word) => parsePlace(word, call.get("drive")));
  if (places.some(isFolder) && !call.has("recursive")) {
    throw new UsageError("A folder or a whole drive is deleted with --recursive alone");
  }
  if (!call.has("yes")) demandConsentPossible(`${call.form} --yes`);
  using view = new TransferView(call.env);
  const { connection, drives } = await call.connect(view);
  using _connection = connection;
  const missing: NamedPlace[] = [];
  const files = await find(drives, places, missing);
  for (const { drive, name } of missing) view.say(`There is no file ${drive}:${name}`);
  if (files.length > 0 && !call.has("yes")) confirm(questionOf(files));
  const failed = await remove(call, view, drives, files);
  if (failed + missing.length > 0) {
    throw new CommandError(`${counted(failed + missing.length, "file")} could not be deleted`);
  }
}

async function find(
  drives: RemoteDrives,
  places: readonly NamedPlace[],
  missing: NamedPlace[],
): Promise<Doomed[]> {
  const files: Doomed[] = [];
  for (const place of places) {
    const { drive, name } = place;
    const count = files.length;
    if (isFolder(place)) {
      for await (const { name: found, size } of drives.list(drive, name)) {
        files.push({ drive, name: found, size });
      }
    } else {
      const file = await drives.stat(drive, name);
      if (file !== undefined) files.push({ drive, name, size: file.size });
    }
    if (files.length === count) missing.push(place);
  }
  return files;
}

function questionOf(files: readonly Doomed[]): string {
  const [first] = files;
  if (files.length === 1 && first !== undefined) {
    return `Delete ${first.drive}:${first.name} (${byteText(first.size)})?`;
  }
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return `Delete ${counted(files.length, "file")} (${byteText(bytes)})?`;
}

/** Gives how many could not be deleted. */
async function remove(
  call: ClientCall,
  view: TransferView,
  drives: RemoteDrives,
  files: readonly Doomed[],
): Promise<number> {
  let failures = 0;
  for (const [drive, ofDrive] of Map.groupBy(files, ({ drive }) => drive)) {
    const names = [...new Set(ofDrive.map(({ name }) => name))];
    const failed = new Set(await drives.remove(drive, names));
    for (const name of names) {
      if (failed.has(name)) view.say(`The server could not delete ${drive}:${name}`);
      else if (call.has("json")) call.answer(view, { drive, name, deleted: true });
    }
    failures += failed.size;
  }
  if (!call.has("json") && files.length > failures) {
    call.answer(view, {}, `Deleted ${counted(files.length - failures, "file")}`);
  }
  return failures;
}
