import { byteLength } from "../names.ts";
import { type FileSystem, MAX_SEGMENT, safeSegment } from "./local_paths.ts";

/**
 * Returns why a file system cannot have a file or folder of this very name, as a sentence without its end; `undefined` if it
 * can. A slash separates folders, and stands behind the name of a folder.
 */
export function localNameProblem(name: string, system: FileSystem): string | undefined {
  for (const segment of name.replace(/\/$/, "").split("/")) {
    const problem = segmentProblem(segment, system);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function segmentProblem(segment: string, system: FileSystem): string | undefined {
  if (segment === "") return "no file system can hold a folder without a name";
  if (segment === "." || segment === "..") return `"${segment}" is no name of a file or folder`;
  const bytes = byteLength(segment);
  if (bytes > MAX_SEGMENT) {
    return `it has a segment of ${bytes} bytes, and file systems allow ${MAX_SEGMENT}`;
  }
  // Elsewhere, what is not safe in archives is possible: control characters and backslashes.
  const isPossible = system === "posix" || safeSegment(segment, system) === segment;
  return isPossible ? undefined : "Windows cannot hold this name";
}
