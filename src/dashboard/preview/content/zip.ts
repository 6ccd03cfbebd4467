/**
 * The list of contents at the end of a ZIP archive (APPNOTE.TXT 4.3). Nothing is unpacked. The archive may be hostile, so
 * every number in it is only believed within bounds.
 *
 * @module
 */

/** A file or folder in an archive. The name of a folder ends with a slash. */
export interface ZipEntry {
  name: string;
  /** Bytes after unpacking, as the archive says. */
  size: number;
}

export interface ZipContents {
  entries: ZipEntry[];
  /** The number of entries, as the archive says. */
  total: number;
  isEncrypted: boolean;
}

/** Reads a part of the archive. */
export type ReadBytes = (start: number, end: number) => Promise<Uint8Array>;

/** Bytes at the end that have the end record: it is followed by a comment of at most 65,535 bytes. */
const TAIL = 22 + 65_535 + 20 + 56;
/** Bytes of the list that are read. An entry takes about 100. */
const MAX_DIRECTORY = 512 * 1024;
/** Entries that are returned. */
const MAX_ENTRIES = 2000;

const END = 0x06054b50;
const LOCATOR_64 = 0x07064b50;
const END_64 = 0x06064b50;
const HEADER = 0x02014b50;

/** What an end record says: where the list is, and how long. */
interface Directory {
  /** Where the list has to end: there begins the record that says so. */
  end: number;
  size: number;
  total: number;
}

/** Returns what an archive contains; `undefined` if it is none. */
export async function readContents(
  read: ReadBytes,
  size: number,
): Promise<ZipContents | undefined> {
  const start = Math.max(0, size - TAIL);
  const tail = await read(start, size);
  const directory = directoryOf(tail, start);
  if (directory === undefined) return undefined;
  // Some programs put something before an archive, so its own offsets may be wrong.
  const first = directory.end - directory.size;
  if (first < 0) return undefined;
  const end = Math.min(directory.end, first + MAX_DIRECTORY);
  const list = first >= start ? tail.subarray(first - start, end - start) : await read(first, end);
  return { ...entriesOf(list), total: directory.total };
}

function directoryOf(tail: Uint8Array, start: number): Directory | undefined {
  const view = viewOf(tail);
  for (let at = tail.length - 22; at >= 0; at--) {
    if (view.getUint32(at, true) !== END) continue;
    if (at + 22 + view.getUint16(at + 20, true) > tail.length) continue;
    const [total, size] = [view.getUint16(at + 10, true), view.getUint32(at + 12, true)];
    const isLarge = total === 0xffff || size === 0xffffffff ||
      view.getUint32(at + 16, true) === 0xffffffff;
    return (isLarge ? largeDirectoryOf(view, at, start) : undefined) ??
      { end: start + at, size, total };
  }
  return undefined;
}

/** What the end record of a large archive says, which stands before the other one. */
function largeDirectoryOf(view: DataView, end: number, start: number): Directory | undefined {
  const at = end - 20 - 56;
  const isThere = at >= 0 && view.getUint32(end - 20, true) === LOCATOR_64 &&
    view.getUint32(at, true) === END_64;
  if (!isThere) return undefined;
  return { end: start + at, size: numberAt(view, at + 40), total: numberAt(view, at + 32) };
}

/** Returns the entries of a list, which may be cut or damaged. */
function entriesOf(list: Uint8Array): Pick<ZipContents, "entries" | "isEncrypted"> {
  const view = viewOf(list);
  const entries: ZipEntry[] = [];
  let isEncrypted = false;
  for (let at = 0; at + 46 <= list.length && entries.length < MAX_ENTRIES;) {
    if (view.getUint32(at, true) !== HEADER) break;
    const [named, extra, comment] = [28, 30, 32].map((field) => view.getUint16(at + field, true));
    const [nameEnd, extraEnd] = [at + 46 + named!, at + 46 + named! + extra!];
    if (extraEnd > list.length) break;
    isEncrypted ||= (view.getUint16(at + 8, true) & 1) === 1;
    const size = view.getUint32(at + 24, true);
    entries.push({
      name: textOf(list.subarray(at + 46, nameEnd)),
      size: size === 0xffffffff ? largeSizeOf(view, nameEnd, extraEnd) ?? size : size,
    });
    at = extraEnd + comment!;
  }
  return { entries, isEncrypted };
}

/** The size in the extra fields of an entry of 4 GiB or more. */
function largeSizeOf(view: DataView, start: number, end: number): number | undefined {
  for (let at = start; at + 4 <= end; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) === 1 && at + 12 <= end) return numberAt(view, at + 4);
  }
  return undefined;
}

function numberAt(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Names are UTF-8, or in the character set of the machine that made the archive, which it does not say. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
