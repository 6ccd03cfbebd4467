import { dirname, join } from "@std/path";
import { type Drives, type FileInfo, sha256OfStream } from "./drives.ts";
import { FileChanged, fileError, TemporaryFailure } from "./errors.ts";
import { openPlainFile, readFile } from "./local_files.ts";
import { stableName } from "./local_paths.ts";

/** How often a file that others keep writing is read from its beginning. */
export const MAX_READ_TRIES = 5;

/** What a download is not kept under until it is whole. */
const PART_PREFIX = ".kvdrive-";
const PART_SUFFIX = ".part";

/** Where a file comes from. */
export interface DownloadSource {
  side: Drives;
  drive: string;
  file: FileInfo;
}

/**
 * Copies one version of a file from some byte on. Where the connection breaks, it goes on where that broke.
 *
 * @param take Takes the bytes, in order.
 * @returns The SHA-256 of the whole file in base64, where the server knows it.
 * @throws {FileChanged} where that version is not there any more.
 */
export async function copyVersion(
  { side, drive, file }: DownloadSource,
  from: number,
  take: (bytes: Uint8Array) => Promise<void> | void,
): Promise<string | undefined> {
  let at = from;
  let sha256 = file.sha256;
  if (at === file.size && at > 0) return sha256;
  await side.retrier.run(async (goesOn) => {
    if (at === file.size && at > 0) return;
    const opened = await side.read(drive, file, at);
    sha256 = opened.sha256 ?? sha256;
    for await (const bytes of opened.bytes) {
      await take(bytes);
      at += bytes.byteLength;
      goesOn();
    }
    if (at < file.size) throw new TemporaryFailure("The file came only in part");
    if (at > file.size) throw new FileChanged("The file is longer than the server said");
  });
  return sha256;
}

/**
 * Fetches a file. It is there under its name when it is whole; until then it lies beside it or in the folder named, and
 * the same call goes on with it.
 *
 * @param onBytes Told of bytes that are there: those of an earlier call first.
 */
export async function download(
  source: DownloadSource,
  target: string,
  { folder = dirname(target), onBytes }: { folder?: string; onBytes: (count: number) => void },
): Promise<void> {
  const { side, drive, file } = source;
  const id = stableName(side.identity, drive, file.name, file.etag, target);
  const part = join(folder, PART_PREFIX + id + PART_SUFFIX);
  try {
    const sha256 = await fill(source, part, onBytes);
    if (sha256 !== undefined && await sha256OfStream(readFile(part)) !== sha256) {
      await Deno.remove(part);
      throw new TemporaryFailure("The bytes that came are not those that the server has");
    }
    await Deno.utime(part, file.modified / 1000, file.modified / 1000);
    await Deno.rename(part, target);
  } catch (error) {
    if (error instanceof FileChanged) await removeIfThere(part);
    throw fileError("write", target, error);
  }
}

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

/** Writes all bytes to a file or a stream. */
export async function writeAll(file: Pick<Deno.FsFile, "write">, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.byteLength > 0;) rest = rest.subarray(await file.write(rest));
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
