import { decodeBase64 } from "@std/encoding/base64";
import { encodeHex } from "@std/encoding/hex";
import { copyTime, type FileInfo } from "../../../client/drives.ts";
import type { Entry, RemoteDrives } from "../../../client/remote_drives.ts";
import { sizeText } from "../../terminal/output.ts";

/** Columns of a time in ISO 8601. */
const TIME_WIDTH = 20;

/** Characters of a SHA-256 in hexadecimal digits. */
const DIGEST_WIDTH = 64;

/** Files whose digests are asked for at once. */
const LOOKUPS = 16;

/** Returns a line of a listing: size, time of the last modification, and name. */
export function lineOf(entry: Entry, name: string, hasDigests: boolean): string {
  if (entry.size === undefined) {
    const width = TIME_WIDTH + (hasDigests ? 2 + DIGEST_WIDTH : 0);
    return `${sizeColumn()}  ${" ".repeat(width)}  ${name}`;
  }
  const time = new Date(copyTime(entry)).toISOString().replace(/\.\d+Z$/, "Z");
  const digest = hasDigests ? `  ${(hexOf(entry) ?? "-").padEnd(DIGEST_WIDTH)}` : "";
  return `${sizeColumn(entry.size)}  ${time}${digest}  ${name}`;
}

/** Returns a column of sizes: of 7 characters on a terminal, of 15 for exact bytes. */
export function sizeColumn(bytes?: number): string {
  const text = bytes === undefined ? "" : sizeText(bytes);
  return text.padStart(Deno.stdout.isTerminal() ? 7 : 15);
}

/** Returns what is printed of a file or folder as JSON. */
export function jsonOf(entry: Entry): Record<string, unknown> {
  if (entry.size === undefined) return { name: entry.name };
  const { name, size, type, etag, modified, mtime } = entry;
  const sha256 = hexOf(entry);
  return {
    name,
    size,
    content_type: type,
    etag,
    modified: new Date(modified).toISOString(),
    ...(mtime === undefined ? {} : { mtime: new Date(mtime).toISOString() }),
    ...(sha256 === undefined ? {} : { sha256 }),
  };
}

/** Returns the SHA-256 of a file in hexadecimal digits, as `sha256sum` prints it. */
function hexOf({ sha256 }: FileInfo): string | undefined {
  return sha256 === undefined ? undefined : encodeHex(decodeBase64(sha256));
}

/** Adds the digests to files, which listings of the server do not have. A file that was deleted meanwhile has none. */
export async function* withDigests<T extends Entry>(
  drives: RemoteDrives,
  drive: string,
  entries: AsyncIterable<T>,
): AsyncGenerator<T> {
  const waiting: Promise<T>[] = [];
  for await (const entry of entries) {
    waiting.push(withDigest(drives, drive, entry));
    const first = waiting.length < LOOKUPS ? undefined : waiting.shift();
    if (first !== undefined) yield await first;
  }
  for (const one of waiting) yield await one;
}

async function withDigest<T extends Entry>(
  drives: RemoteDrives,
  drive: string,
  entry: T,
): Promise<T> {
  if (entry.size === undefined) return entry;
  const { etag, sha256 } = await drives.stat(drive, entry.name) ?? {};
  return etag === entry.etag && sha256 !== undefined ? { ...entry, sha256 } : entry;
}
