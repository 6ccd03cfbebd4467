import { createHash } from "node:crypto";
import { byteLength } from "../rules/names.ts";

/** Bytes of one segment of a path that common file systems hold. */
const MAX_SEGMENT = 255;

/** A short name that is the same for the same texts, and for no others. */
export function stableName(...texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 32);
}

/** What a file system takes. `windows` takes less than the others. */
export type FileSystem = "posix" | "windows";

/** What stands for a segment without characters. */
const EMPTY = "%";

/** Devices of Windows, whatever stands behind a dot. */
const DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)/i;

/** Room for what tells a segment that is cut, or taken, from others. */
const KEPT_BYTES = MAX_SEGMENT - 48;

/**
 * One segment of a name as a file system can hold it: what it cannot hold is written as `%` and two hexadecimal digits
 * for each byte, and what is too long is cut and ends with a digest. Everything else stays as it is, `%` too.
 */
export function safeSegment(segment: string, system: FileSystem): string {
  if (segment === "") return EMPTY;
  if (segment === "." || segment === "..") return segment.replaceAll(".", "%2E");
  // Others would take them for a line's end, and a backslash for a slash.
  let safe = segment.replaceAll(/[\p{Cc}\\]/gu, escaped);
  if (system === "windows") {
    safe = safe.replaceAll(/[<>:"|?*]/g, escaped).replace(/[. ]$/, escaped);
    if (DEVICE.test(safe)) safe = escaped(safe.charAt(0)) + safe.slice(1);
  }
  return byteLength(safe) <= MAX_SEGMENT ? safe : `${cut(safe)}%${stableName(segment)}`;
}

/** The same segment again, for a file system in which that is taken. */
function alternativeSegment(safe: string, tries: number): string {
  const end = `%${tries}`;
  return byteLength(safe) + end.length <= MAX_SEGMENT
    ? safe + end
    : cut(safe) + `%${stableName(safe)}` + end;
}

function escaped(character: string): string {
  const bytes = new TextEncoder().encode(character);
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(
    "",
  );
}

/** As many whole characters as fit. */
function cut(text: string): string {
  let bytes = 0;
  let kept = "";
  for (const character of text) {
    bytes += byteLength(character);
    if (bytes > KEPT_BYTES) break;
    kept += character;
  }
  return kept;
}

/**
 * Finds a place in a folder for each of many names, so that every file system can hold all of them together: no name is
 * a file and a folder at once, and no two differ only by case or by the form of their accents.
 */
export class LocalPaths {
  readonly #system: FileSystem;
  /** By what a file system that ignores case takes for the same: the path as it is, and whether it is a folder. */
  readonly #taken = new Map<string, { path: string; isFolder: boolean }>();

  constructor(system: FileSystem) {
    this.#system = system;
  }

  /** Takes a path that a name has had before. */
  reserve(path: string): void {
    const segments = path.split("/");
    for (let count = 1; count <= segments.length; count++) {
      const part = segments.slice(0, count).join("/");
      this.#taken.set(folded(part), { path: part, isFolder: count < segments.length });
    }
  }

  /** The path for a name, with slashes between its segments, none of which is `.`, `..` or empty. */
  pathFor(name: string): string {
    const segments = name.split("/");
    let path = "";
    for (const [index, segment] of segments.entries()) {
      path = this.#step(path, segment, index < segments.length - 1);
    }
    return path;
  }

  #step(folder: string, segment: string, isFolder: boolean): string {
    const safe = safeSegment(segment, this.#system);
    for (let tries = 0;; tries++) {
      const path = joinSegments(folder, tries === 0 ? safe : alternativeSegment(safe, tries));
      const taken = this.#taken.get(folded(path));
      if (taken === undefined) {
        this.#taken.set(folded(path), { path, isFolder });
        return path;
      }
      if (isFolder && taken.isFolder && taken.path === path) return path;
    }
  }
}

function joinSegments(folder: string, segment: string): string {
  return folder === "" ? segment : `${folder}/${segment}`;
}

/** One text for all that some file system takes for one name. */
function folded(path: string): string {
  return path.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}
