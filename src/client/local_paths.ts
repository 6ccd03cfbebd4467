import { createHash } from "node:crypto";
import { byteLength } from "../rules/names.ts";

/** The naming rules of a file system. `windows` allows less than the others. */
export type FileSystem = "posix" | "windows";

/** The rules of this machine's file systems. */
export const LOCAL_FILE_SYSTEM: FileSystem = Deno.build.os === "windows" ? "windows" : "posix";

/** Bytes of one path segment that common file systems allow. */
const MAX_SEGMENT = 255;

/** Bytes kept of a segment that is too long, so that a digest and a number fit behind it. */
const KEPT_BYTES = MAX_SEGMENT - 48;

/** The segment that stands for an empty one. */
const EMPTY = "%";

/** Device names of Windows, which are reserved with any extension. */
const DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)/i;

/**
 * Assigns each file of a drive a path below a local folder, such that any file system can hold all of them together: no
 * path is both a file and a folder, and no two differ only by case or Unicode normalization.
 */
export class LocalPaths {
  readonly #system: FileSystem;
  /** By the folded path: the path as assigned, and whether it is a folder. */
  readonly #taken = new Map<string, { path: string; isFolder: boolean }>();

  constructor(system: FileSystem) {
    this.#system = system;
  }

  /** Reserves a path that was assigned in an earlier run. */
  reserve(path: string): void {
    const segments = path.split("/");
    for (let count = 1; count <= segments.length; count++) {
      const part = segments.slice(0, count).join("/");
      this.#taken.set(folded(part), { path: part, isFolder: count < segments.length });
    }
  }

  /** Returns the path for a name, with slashes between its segments; none of them is `.`, `..` or empty. */
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

/**
 * Returns one segment of a file's name as a file system can hold it: forbidden characters become `%` and two hexadecimal
 * digits a byte, and a segment that is too long is cut and ends with a digest. Everything else, also `%`, is kept.
 */
export function safeSegment(segment: string, system: FileSystem): string {
  if (segment === "") return EMPTY;
  if (segment === "." || segment === "..") return segment.replaceAll(".", "%2E");
  // Other programs read control characters as line ends, and a backslash as a slash.
  let safe = segment.replaceAll(/[\p{Cc}\\]/gu, escaped);
  if (system === "windows") {
    safe = safe.replaceAll(/[<>:"|?*]/g, escaped).replace(/[. ]$/, escaped);
    if (DEVICE.test(safe)) safe = escaped(safe.charAt(0)) + safe.slice(1);
  }
  return byteLength(safe) <= MAX_SEGMENT ? safe : `${cut(safe)}%${stableName(segment)}`;
}

/** Returns a short file name that is the same for the same texts only. */
export function stableName(...texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 32);
}

/** Returns another segment for one that is taken. */
function alternativeSegment(safe: string, tries: number): string {
  const end = `%${tries}`;
  return byteLength(safe) + end.length <= MAX_SEGMENT
    ? safe + end
    : cut(safe) + `%${stableName(safe)}` + end;
}

function escaped(character: string): string {
  const bytes = new TextEncoder().encode(character);
  const hex = Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, "0"));
  return hex.map((digits) => `%${digits}`).join("");
}

/** Cuts a text to `KEPT_BYTES`, between two characters. */
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

function joinSegments(folder: string, segment: string): string {
  return folder === "" ? segment : `${folder}/${segment}`;
}

/** Returns one text for all names that some file system cannot tell apart. */
function folded(path: string): string {
  return path.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}
