import { crc32, deflateRawSync } from "node:zlib";

/** An entry of an archive, which may lie about itself. */
export interface ZipEntry {
  path: string;
  bytes: string;
  deflate?: boolean;
  /** False values in the archive's headers. */
  size?: number;
  crc?: number;
  flags?: number;
  method?: number;
  /** The mode of UNIX, with the kind of the file. */
  mode?: number;
}

/** An archive as other programs write it. */
export function zipOf(entries: readonly ZipEntry[]): Uint8Array<ArrayBuffer> {
  const out: number[] = [];
  const directory: number[] = [];
  for (const entry of entries) {
    const offset = out.length;
    const bytes = new TextEncoder().encode(entry.bytes);
    const stored = entry.deflate ? deflateRawSync(bytes) : bytes;
    const name = new TextEncoder().encode(entry.path);
    const about = [
      ...u16(20, entry.flags ?? 0, entry.method ?? (entry.deflate ? 8 : 0), 0, 0x21),
      ...u32(entry.crc ?? crc32(bytes), stored.length, entry.size ?? bytes.length),
      ...u16(name.length, 0),
    ];
    out.push(...u32(0x04034b50), ...about, ...name, ...stored);
    directory.push(...u32(0x02014b50), ...u16(0x0314), ...about, ...u16(0, 0, 0));
    directory.push(...u32((entry.mode ?? 0o100644) * 0x10000, offset), ...name);
  }
  const count = entries.length;
  const end = [...u16(0, 0, count, count), ...u32(directory.length, out.length), ...u16(0)];
  return Uint8Array.from([...out, ...directory, ...u32(0x06054b50), ...end]);
}

function u16(...values: number[]): number[] {
  return values.flatMap((value) => [value & 0xff, value >>> 8 & 0xff]);
}

function u32(...values: number[]): number[] {
  return values.flatMap((value) => u16(value & 0xffff, Math.floor(value / 0x10000)));
}
