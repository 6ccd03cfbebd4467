import { createHash } from "node:crypto";
import { byteLength } from "../names.ts";

/** The naming rules of a file system, or of what is taken to another one; each allows less than the one before. */
export type FileSystem = "posix" | "portable" | "windows";

/** The rules of this machine's file systems, and of exports, in which other programs may read a backslash as a slash. */
export const [LOCAL_FILE_SYSTEM, EXPORT_FILE_SYSTEM]: [FileSystem, FileSystem] =
  Deno.build.os === "windows" ? ["windows", "windows"] : ["posix", "portable"];

/** The name of a download until it is complete: `.kvdrive-<id>.part`. No other file gets such a name. */
const PART_NAME = /^\.kvdrive-[0-9a-f]{32}\.part$/;

/** Returns the name of an incomplete download. @param id What tells it from others. */
export function partName(...id: readonly string[]): string {
  return `.kvdrive-${stableName(...id)}.part`;
}

/** Reports whether a file has the name of an incomplete download. */
export function isPartName(name: string): boolean {
  return PART_NAME.test(name);
}

/** Bytes of one path segment that common file systems allow. */
const MAX_SEGMENT = 255;

/** Bytes kept of a segment that is too long, so that a digest and a number fit behind it. */
const KEPT_BYTES = MAX_SEGMENT - 48;

/** The extension of a file, after at least one other character. */
const EXTENSION = /(?<=.)\.[^.]{1,10}$/;

const ASCII = /^[ -~]*$/;

/** The segment that stands for an empty one. */
const EMPTY = "%";

/** Device names of Windows, which are reserved with any extension. */
const DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)/i;

/**
 * Assigns each file of a drive a path below a local folder, such that any file system can hold all of them together: no
 * path is both a file and a folder, and no two differ only by case or Unicode normalization.
 */
export class LocalPaths {
  /** By the number of the parent folder and the folded segment. */
  readonly #taken = new Map<string, Taken>();
  /** Folders with an alternative segment, by the number of the parent folder and the segment that they replace. */
  readonly #renamed = new Map<string, Taken>();
  /** The next alternative of segments that have some, so that many equal names take no quadratic time. */
  readonly #nextTry = new Map<string, number>();
  /** The numbers of the folders that `folderFor` assigned. */
  readonly #assigned = new Set<number>();
  #folders = 0;

  constructor(private readonly system: FileSystem) {}

  /** Reserves a path that was assigned in an earlier run. That of a folder ends with a slash. */
  reserve(path: string): void {
    const isOfFolder = path.endsWith("/");
    const segments = (isOfFolder ? path.slice(0, -1) : path).split("/");
    let parent = 0;
    for (const [index, segment] of segments.entries()) {
      const key = keyOf(parent, segment);
      const isFolder = isOfFolder || index < segments.length - 1;
      parent = isFolder ? this.#taken.get(key)?.folder || ++this.#folders : 0;
      this.#taken.set(key, isFolder ? { segment, folder: parent } : A_FILE);
    }
    if (isOfFolder) this.#assigned.add(parent);
  }

  /** Returns the path for a name, with slashes between its segments; none of them is `.`, `..` or empty. */
  pathFor(name: string): string {
    const segments = name.split("/").map((segment) => safeSegment(segment, this.system));
    const last = segments.length - 1;
    let parent = 0;
    for (const [index, segment] of segments.entries()) {
      if (index === last) {
        segments[index] = this.#takeFile(parent, segment);
      } else {
        const taken = this.#takeFolder(parent, segment);
        segments[index] = taken.segment;
        parent = taken.folder;
      }
    }
    return segments.join("/");
  }

  /**
   * Returns the path for a folder, whose name ends with a slash, as the path does. Files below it lie in the same folder,
   * unless another name led there first: no two folders get the same path.
   */
  folderFor(name: string): string {
    const segments = name.slice(0, -1).split("/");
    let parent = 0;
    for (const [index, segment] of segments.entries()) {
      const safe = safeSegment(segment, this.system);
      let taken = this.#takeFolder(parent, safe);
      if (index === segments.length - 1 && this.#assigned.has(taken.folder)) {
        taken = this.#addFolder(parent, this.#findFree(parent, safe));
      }
      segments[index] = taken.segment;
      parent = taken.folder;
    }
    this.#assigned.add(parent);
    return `${segments.join("/")}/`;
  }

  #takeFile(parent: number, safe: string): string {
    const segment = this.#findFree(parent, safe);
    this.#taken.set(keyOf(parent, segment), A_FILE);
    return segment;
  }

  #takeFolder(parent: number, safe: string): Taken {
    const exact = `${parent}/${safe}`;
    const renamed = this.#renamed.get(exact);
    if (renamed !== undefined) return renamed;
    const taken = this.#taken.get(keyOf(parent, safe));
    if (taken?.segment === safe) return taken;
    const added = this.#addFolder(parent, this.#findFree(parent, safe));
    if (added.segment !== safe) this.#renamed.set(exact, added);
    return added;
  }

  #addFolder(parent: number, segment: string): Taken {
    const added = { segment, folder: ++this.#folders };
    this.#taken.set(keyOf(parent, segment), added);
    return added;
  }

  /** Returns the segment, or its first alternative that is free. */
  #findFree(parent: number, safe: string): string {
    const key = keyOf(parent, safe);
    if (!this.#taken.has(key)) return safe;
    for (let tries = this.#nextTry.get(key) ?? 1;; tries++) {
      const segment = alternativeSegment(safe, tries);
      if (this.#taken.has(keyOf(parent, segment))) continue;
      this.#nextTry.set(key, tries + 1);
      return segment;
    }
  }
}

/** A segment in its folder. */
interface Taken {
  /** As it was assigned; empty for a file. */
  segment: string;
  /** The number of the folder; 0 for a file. */
  folder: number;
}

const A_FILE: Taken = { segment: "", folder: 0 };

function keyOf(parent: number, segment: string): string {
  return `${parent}/${folded(segment)}`;
}

/**
 * Returns one segment of a file's name as a file system can hold it: forbidden characters become `%` and two hexadecimal
 * digits a byte, and a segment that is too long is cut and ends with a digest. Everything else, also `%`, is kept.
 */
export function safeSegment(segment: string, system: FileSystem): string {
  if (segment === "") return EMPTY;
  if (segment === "." || segment === "..") return segment.replaceAll(".", "%2E");
  if (isPartName(segment)) return segment.replace(".", escaped);
  // Programs read control characters as line ends, and terminals as commands.
  let safe = segment.replaceAll(/\p{Cc}/gu, escaped);
  if (system !== "posix") safe = safe.replaceAll("\\", escaped);
  if (system === "windows") {
    safe = safe.replaceAll(/[<>:"|?*]/g, escaped).replace(/[. ]$/, escaped);
    if (DEVICE.test(safe)) safe = escaped(safe.charAt(0)) + safe.slice(1);
  }
  return byteLength(safe) <= MAX_SEGMENT ? safe : `${cut(safe)}%${stableName(segment)}`;
}

/**
 * Returns why a file or folder cannot, or should not, get this very name, as a sentence without its end; `undefined` if it
 * can: `safeSegment` keeps all of it. A slash separates folders, and stands behind the name of a folder.
 */
export function localNameProblem(name: string, system: FileSystem): string | undefined {
  const segments = name.replace(/\/$/, "").split("/");
  const segment = segments.find((one) => safeSegment(one, system) !== one);
  if (segment === undefined) return undefined;
  if (segment === "") return "no file system can hold a folder without a name";
  if (segment === "." || segment === "..") return `"${segment}" is no name of a file or folder`;
  if (isPartName(segment)) return "it has the name of an incomplete download";
  const bytes = byteLength(segment);
  if (bytes > MAX_SEGMENT) {
    return `it has a segment of ${bytes} bytes, and file systems allow ${MAX_SEGMENT}`;
  }
  return /\p{Cc}/u.test(segment) ? "it has a control character" : "Windows cannot hold this name";
}

/** Returns a short file name that is the same for the same texts only. */
export function stableName(...texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 32);
}

/** Returns another segment for one that is taken. The number stands before the extension, so that the file still opens. */
function alternativeSegment(safe: string, tries: number): string {
  const number = `%${tries}`;
  if (byteLength(safe) + number.length > MAX_SEGMENT) {
    return cut(safe) + `%${stableName(safe)}` + number;
  }
  const [extension = ""] = EXTENSION.exec(safe) ?? [];
  return safe.slice(0, safe.length - extension.length) + number + extension;
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

/** Returns one text for all names that some file system cannot tell apart. */
function folded(segment: string): string {
  if (ASCII.test(segment)) return segment.toLowerCase();
  return segment.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}
