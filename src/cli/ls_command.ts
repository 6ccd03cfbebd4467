import type { Entry, RemoteDrives } from "../client/remote_drives.ts";
import { byteText } from "./byte_text.ts";
import type { ClientCall } from "./client_command.ts";
import { demandDrive } from "./place.ts";
import { counted } from "./project_commands.ts";
import { TransferView } from "./transfer_view.ts";
import { CommandError } from "./usage_error.ts";

/** Columns of a size and of a time. */
const SIZE_WIDTH = 7;
const TIME_WIDTH = 20;

/** Lists drives, or what is in one. */
export async function listPlaces(call: ClientCall): Promise<void> {
  using view = new TransferView(call.env);
  const [word] = call.operands;
  const drive = call.get("drive");
  if (word === undefined && drive === undefined) {
    const { connection, drives } = await call.connect(view);
    using _connection = connection;
    return await listDrives(call, view, drives);
  }
  const place = placeOf(word ?? "", drive);
  const { connection, drives } = await call.connect(view);
  using _connection = connection;
  let count = 0;
  for await (const entry of drives.entries(place.drive, place.prefix, call.has("recursive"))) {
    count++;
    call.answer(view, { drive: place.drive, ...jsonOf(entry) }, lineOf(entry));
  }
  if (count > 0) return;
  if (place.prefix !== "") {
    throw new CommandError(`There is nothing in ${place.drive} that begins with ${place.prefix}`);
  }
  // A drive comes with its first file, so a misspelt one is an empty one.
  view.say(`There is no file in the drive ${place.drive}`);
}

/** A drive alone needs no colon. */
function placeOf(word: string, drive: string | undefined): { drive: string; prefix: string } {
  const at = drive === undefined ? word.indexOf(":") : -1;
  const place = drive !== undefined
    ? { drive, prefix: word }
    : at === -1
    ? { drive: word, prefix: "" }
    : { drive: word.slice(0, at), prefix: word.slice(at + 1) };
  demandDrive(place.drive);
  return place;
}

async function listDrives(
  call: ClientCall,
  view: TransferView,
  drives: RemoteDrives,
): Promise<void> {
  for (const { name, files, bytes } of await drives.drives()) {
    const line = `${byteText(bytes).padStart(SIZE_WIDTH)}  ${counted(files, "file")}  ${name}`;
    call.answer(view, { drive: name, files, bytes }, line);
  }
}

function lineOf(entry: Entry): string {
  if (entry.size === undefined) return `${" ".repeat(SIZE_WIDTH + 2 + TIME_WIDTH)}  ${entry.name}`;
  const time = new Date(entry.modified).toISOString().replace(/\.\d+Z$/, "Z");
  return `${byteText(entry.size).padStart(SIZE_WIDTH)}  ${time}  ${entry.name}`;
}

function jsonOf(entry: Entry): Record<string, unknown> {
  if (entry.size === undefined) return { name: entry.name };
  const { name, size, type, etag, modified } = entry;
  return { name, size, content_type: type, etag, modified: new Date(modified).toISOString() };
}
