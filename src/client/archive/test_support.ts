import { crc32 } from "node:zlib";
import { writeAll } from "../local_files.ts";
import type { ZipSource } from "./zip_import.ts";
import { centralHeader, endRecords, localHeader } from "../../rules/archive/zip_records.ts";

/** Writes an archive of these entries; large ones are a hole in the file. */
export async function makeArchive(
  path: string,
  entries: readonly { path: string; size: number; text?: string }[],
): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true });
  const directory: Uint8Array[] = [];
  // Entries without a hole between them are written together.
  let pending: Uint8Array[] = [];
  let at = 0;
  for (const { path, size, text } of entries) {
    const bytes = new TextEncoder().encode(text ?? "");
    const entry = { path, size, crc: crc32(bytes), modified: Date.UTC(2021), offset: at };
    const header = localHeader(entry);
    pending.push(header, bytes);
    at += header.byteLength + size;
    if (size > bytes.byteLength) {
      await writeAll(file, joined(pending));
      pending = [];
      await file.seek(at, Deno.SeekMode.Start);
    }
    directory.push(centralHeader(entry));
  }
  const start = at;
  for (const header of directory) at += header.byteLength;
  await writeAll(file, joined([...pending, ...directory, endRecords(directory.length, start, at)]));
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}

/** Returns the path and size of each file, and the text of those of up to `upTo` bytes. */
export async function filesOf(
  source: ZipSource,
  upTo: number,
): Promise<[string, number, string?][]> {
  const files: [string, number, string?][] = [];
  for await (const file of source.entries()) {
    if ("isEmpty" in file) throw new Error(file.path);
    if ("problem" in file) throw new Error(file.problem);
    if (file.size > upTo) {
      files.push([file.path, file.size]);
      continue;
    }
    const pieces: Uint8Array[] = [];
    for await (const piece of file.source.read()) pieces.push(piece);
    files.push([file.path, file.size, await new Blob(pieces as BlobPart[]).text()]);
  }
  return files;
}
