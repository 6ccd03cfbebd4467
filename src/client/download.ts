import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { copyTime, type FileInfo, type RemoteDrives, sha256OfStream } from "./drives.ts";
import { ClientError, fileChanged, fileError, hasStatus, isFileChanged } from "./errors.ts";
import { openPlainFile, readFile, removeIfExists, writeAll } from "./local_files.ts";
import { partName } from "../rules/archive/local_paths.ts";

/** A version of a file to fetch. */
export interface DownloadSource {
  drives: RemoteDrives;
  drive: string;
  file: FileInfo;
  /** Where to end, on a server; at the end of the file unless given. */
  end?: number;
}

/**
 * Copies one version of a file from a byte offset on. A broken connection is resumed.
 *
 * @param take Receives the bytes, in order.
 * @returns The SHA-256 of the whole file in base64; `undefined` if the server does not know it.
 * @throws {KvdriveError} with the code `file_changed` if the version no longer exists.
 */
export async function copyVersion(
  { drives, drive, file, end = file.size }: DownloadSource,
  from: number,
  take: (bytes: Uint8Array) => Promise<void> | void,
): Promise<string | undefined> {
  if (from === end && from > 0) return file.sha256;
  const { name, size, etag: ifMatch } = file;
  const isWhole = from === 0 && end === size;
  const range = isWhole ? undefined : { start: from, ...(end === size ? {} : { end }) };
  const { limiter } = drives.connection;
  try {
    const found = await drives.drive(drive).get(name, { ifMatch, range });
    if (found === undefined) throw fileChanged("");
    if (found.range.start !== from || found.range.end !== end) {
      await found.body.cancel();
      throw new ClientError(`The server did not send ${name} from byte ${from}`);
    }
    for await (const bytes of found.body) {
      for await (const piece of limiter?.pace(bytes) ?? [bytes]) await take(piece);
    }
    return found.sha256 ?? file.sha256;
  } catch (error) {
    const isGone = isFileChanged(error) || hasStatus(error, 404, 412, 416);
    throw isGone ? fileChanged("The file was changed or deleted during the download") : error;
  }
}

/**
 * Fetches a file. It appears under its name when it is complete; until then it is a hidden file in `folder`, from which the
 * same call resumes.
 *
 * @param onBytes Receives the count of bytes as they arrive; first of those of an earlier call.
 */
export async function download(
  source: DownloadSource,
  target: string,
  { folder = dirname(target), onBytes }: { folder?: string; onBytes: (count: number) => void },
): Promise<void> {
  const { drives, drive, file } = source;
  const part = join(folder, partName(drives.identity, drive, file.name, file.etag, target));
  try {
    const sha256 = await fill(source, part, onBytes);
    if (sha256 !== undefined && await sha256OfStream(readFile(part)) !== sha256) {
      await Deno.remove(part);
      throw new ClientError("The downloaded bytes do not match the server's SHA-256");
    }
    const time = copyTime(file) / 1000;
    await Deno.utime(part, time, time);
    await Deno.rename(part, target);
  } catch (error) {
    if (isFileChanged(error) || await isEmpty(part)) await removeIfExists(part);
    throw fileError("write", target, error);
  }
}

async function isEmpty(path: string): Promise<boolean> {
  return (await Deno.lstat(path).catch(() => undefined))?.size === 0;
}

/** Completes a partial download. */
async function fill(
  source: DownloadSource,
  part: string,
  onBytes: (count: number) => void,
): Promise<string | undefined> {
  using file = await openPlainFile(part);
  let { size: at } = await file.stat();
  if (at > source.file.size) {
    await file.truncate(0);
    at = 0;
  }
  await file.seek(at, Deno.SeekMode.Start);
  onBytes(at);
  const sha256 = await copyVersion(source, at, async (bytes) => {
    await writeAll(file, bytes);
    onBytes(bytes.byteLength);
  });
  await file.sync();
  return sha256;
}
