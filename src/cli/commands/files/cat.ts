import { copyVersion } from "../../../client/download.ts";
import type { FileInfo } from "../../../client/drives.ts";
import { type ByteRange, parseRange } from "../../../rules/byte_range.ts";
import { NameFilter } from "../../../rules/transfer/globs.ts";
import { CommandError, UsageError, writeOut } from "../../terminal/output.ts";
import type { CommandCall } from "../command_call.ts";
import { Session } from "../session.ts";
import { parseSelection } from "../drive_path.ts";
import { RemoteSource } from "./remote_source.ts";

/** `kvdrive cat`: writes files, or a range of their bytes, to standard output. */
export async function printFiles(call: CommandCall): Promise<void> {
  const range = call.get("range");
  // Whether the file has such bytes is seen later.
  if (range !== undefined && parseRange(`bytes=${range}`, Number.MAX_SAFE_INTEGER) === undefined) {
    throw new UsageError(
      `Bad value "${range}" of --range: it must be FIRST-LAST, FIRST- or -COUNT, in bytes from 0`,
    );
  }
  const selections = call.operands.map((word) => parseSelection(word, call.get("drive")));
  using session = await Session.open(call);
  const { drives } = session;
  for (const selection of selections) {
    const source = await RemoteSource.require(drives, selection);
    const { drive, folder } = source;
    if (folder !== undefined) throw new CommandError(`${drive}:${folder} is a folder: use get`);
    for await (const entry of source.entries(new NameFilter({}))) {
      if (entry.kind !== "file") continue;
      const { file } = entry;
      const { start, end } = rangeOf(range, drive, file);
      if (start === end) continue;
      await copyVersion({ drives, drive, file, end }, start, writeOut);
    }
  }
}

/** @throws {CommandError} if the file has none of the bytes. */
function rangeOf(text: string | undefined, drive: string, { name, size }: FileInfo): ByteRange {
  const range = text === undefined ? undefined : parseRange(`bytes=${text}`, size);
  if (range !== "unsatisfiable") return range ?? { start: 0, end: size };
  throw new CommandError(`${drive}:${name} has ${size} bytes, none of which are in ${text}`);
}
