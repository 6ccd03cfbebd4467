import { basename } from "@std/path/basename";
import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { fileError } from "../../../client/errors.ts";
import { writeAll } from "../../../client/local_files.ts";
import { LOCAL_FILE_SYSTEM, safeSegment } from "../../../rules/archive/local_paths.ts";
import { formatBytes } from "../../../rules/units.ts";
import { CommandError, UsageError, writeOut } from "../../terminal/output.ts";
import { onExitSignal } from "../../terminal/progress.ts";
import { TransferProgress } from "../../terminal/task_progress.ts";
import type { CommandCall } from "../command_call.ts";
import { Session } from "../session.ts";
import { PIPE } from "../files/local_source.ts";
import { type DrivePath, isFolder, parseDrivePath } from "../drive_path.ts";

/** `kvdrive archive`: the archive appears under its name when it is complete. */
export async function fetchArchive(call: CommandCall): Promise<void> {
  const places = call.operands.map((word) => parseDrivePath(word, call.get("drive")));
  const [{ drive } = { drive: "" }] = places;
  if (places.some((place) => place.drive !== drive)) {
    throw new UsageError("An archive has files of one drive: give names of the same drive");
  }
  const target = call.get("output") ?? `${safeSegment(drive, LOCAL_FILE_SYSTEM)}.zip`;
  if (target === PIPE && Deno.stdout.isTerminal()) {
    throw new UsageError("An archive cannot be shown: give a file with --output, or redirect it");
  }
  const view = new TransferProgress(call.env, "run the same command to begin again");
  using session = await Session.open(call, view);
  const fetched = session.drives.archive(drive, selectionOf(places));
  const { onFile, onBytes } = view.events;
  onFile(drive, target === PIPE ? `${drive}.zip` : basename(target));
  if (target === PIPE) {
    for await (const some of fetched) {
      await writeOut(some);
      onBytes(some.byteLength);
    }
    return;
  }
  const size = await save(fetched, target, call.has("force"), onBytes);
  session.print({ file: target, size }, `${target} (${formatBytes(size)})`);
}

function selectionOf(places: readonly DrivePath[]): { names: string[]; prefixes: string[] } {
  return {
    names: places.filter((place) => !isFolder(place)).map(({ name }) => name),
    prefixes: places.filter(isFolder).map(({ name }) => name),
  };
}

/** Writes the archive to a hidden file, which then gets its name. Returns its size. */
async function save(
  bytes: AsyncIterable<Uint8Array>,
  target: string,
  force: boolean,
  onBytes: (count: number) => void,
): Promise<number> {
  if (!force) await requireAbsent(target);
  const fresh = join(dirname(target), `.kvdrive-${crypto.randomUUID()}.part`);
  const stop = onExitSignal(() => removeSync(fresh));
  let size = 0;
  try {
    {
      using file = await Deno.open(fresh, { write: true, createNew: true });
      for await (const some of bytes) {
        await writeAll(file, some);
        size += some.byteLength;
        onBytes(some.byteLength);
      }
      await file.sync();
    }
    if (!force) await requireAbsent(target);
    await Deno.rename(fresh, target);
    return size;
  } catch (error) {
    removeSync(fresh);
    throw error instanceof CommandError ? error : fileError("write", target, error);
  } finally {
    stop();
  }
}

async function requireAbsent(path: string): Promise<void> {
  const exists = await Deno.lstat(path).then(() => true, () => false);
  if (exists) throw new CommandError(`The file ${path} exists: --force replaces it`);
}

function removeSync(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // It was not created.
  }
}
