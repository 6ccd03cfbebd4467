import { ClientError } from "../client/errors.ts";
import type { ClientCall } from "./client_command.ts";
import { isFolder, parsePlace } from "./place.ts";
import { TransferView } from "./transfer_view.ts";
import { UsageError } from "./usage_error.ts";

/** Shows what is known of a file. */
export async function showFile(call: ClientCall): Promise<void> {
  const place = parsePlace(call.operand(0), call.get("drive"));
  if (isFolder(place)) throw new UsageError("A file is needed: name it as DRIVE:NAME");
  const { drive, name } = place;
  using view = new TransferView(call.env);
  const { connection, drives } = await call.connect(view);
  using _connection = connection;
  const file = await drives.stat(drive, name);
  if (file === undefined) throw new ClientError(`There is no file ${drive}:${name}`);
  const { size, type, etag, modified, sha256 } = file;
  const facts = {
    drive,
    name,
    size,
    content_type: type,
    etag,
    modified: new Date(modified).toISOString(),
    ...(sha256 === undefined ? {} : { sha256 }),
  };
  if (call.has("json")) return call.answer(view, facts);
  for (const [fact, value] of Object.entries(facts)) {
    call.answer(view, {}, `${`${fact}:`.padEnd(14)}${value}`);
  }
}
