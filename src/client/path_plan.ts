import { type FileSystem, otherSegment, safeSegment } from "./safe_segment.ts";

/**
 * Finds a place in a folder for each of many names, so that every file system can hold all of them together: no name is
 * a file and a folder at once, and no two differ only by case or by the form of their accents.
 */
export class PathPlan {
  readonly #system: FileSystem;
  /** By what a file system that ignores case takes for the same: the path as it is, and whether it is a folder. */
  readonly #taken = new Map<string, { path: string; isFolder: boolean }>();

  constructor(system: FileSystem) {
    this.#system = system;
  }

  /** Takes a path that a name has had before. */
  keep(path: string): void {
    const segments = path.split("/");
    for (let count = 1; count <= segments.length; count++) {
      const part = segments.slice(0, count).join("/");
      this.#taken.set(folded(part), { path: part, isFolder: count < segments.length });
    }
  }

  /** The path for a name, with slashes between its segments, none of which is `.`, `..` or empty. */
  place(name: string): string {
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
      const path = join(folder, tries === 0 ? safe : otherSegment(safe, tries));
      const taken = this.#taken.get(folded(path));
      if (taken === undefined) {
        this.#taken.set(folded(path), { path, isFolder });
        return path;
      }
      if (isFolder && taken.isFolder && taken.path === path) return path;
    }
  }
}

function join(folder: string, segment: string): string {
  return folder === "" ? segment : `${folder}/${segment}`;
}

/** One text for all that some file system takes for one name. */
function folded(path: string): string {
  return path.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}
