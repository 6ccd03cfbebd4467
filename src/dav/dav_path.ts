/**
 * Paths of WebDAV: `/dav/{project_id}/{drive_name}/{name}`. Clients resolve `.` and `..`, and join slashes, so names with
 * such segments have no path here, and lists leave them out.
 *
 * @module
 */
import { decodeSegment } from "../http/request_target.ts";
import { davErrors } from "./dav_error.ts";
import { DAV } from "./dav_request.ts";

/** What a path names. */
export interface DavPath {
  /** Empty for the folder of all projects. */
  project: string;
  /** Empty for a project. */
  drive: string;
  /** Empty for a drive; without a slash at its end. */
  name: string;
  /** Whether the path ends with a slash, and so names a folder. */
  isFolder: boolean;
}

/** Returns whether a segment of a name can be a segment of a path. */
function isAddressable(segment: string): boolean {
  return segment !== "" && segment !== "." && segment !== "..";
}

/**
 * Parses the segments of a path, percent-encoded, from `dav` on. Repeated slashes count as one: no name that has a path
 * has an empty segment.
 *
 * @throws {HttpError} 400 if one is not percent-encoded UTF-8.
 * @throws {DavError} 400 if one has a slash or is `.` or `..`.
 */
export function parsePath([, ...rest]: readonly string[]): DavPath {
  const segments = rest.filter((segment) => segment !== "").map(decodeSegment);
  for (const segment of segments) {
    if (segment.includes("/")) throw davErrors.badPath('has an encoded slash: write "/"');
    if (segment.includes("\0")) throw davErrors.badPath("has a NUL character: leave it out");
    if (!isAddressable(segment)) {
      throw davErrors.badPath(`has the segment "${segment}": name the folder itself`);
    }
  }
  const [project = "", drive = "", ...names] = segments;
  return { project, drive, name: names.join("/"), isFolder: rest.at(-1) === "" };
}

/** Returns whether an entry of a folder has a path: its name, or that of a folder with its slash, below the folder. */
export function hasPath(segment: string): boolean {
  return isAddressable(segment.endsWith("/") ? segment.slice(0, -1) : segment);
}

/** Characters that `encodeURIComponent` keeps, and so most segments. */
const PLAIN = /^[A-Za-z0-9_.!~*()-]*$/;

export function encodeSegment(segment: string): string {
  // An apostrophe would need an escape in XML attributes of some clients.
  return PLAIN.test(segment) ? segment : encodeURIComponent(segment).replaceAll("'", "%27");
}

/** Returns a name in a path, with its slashes. */
export function encodeName(name: string): string {
  return name.split("/").map(encodeSegment).join("/");
}

/**
 * Returns the path of a name in a drive, of a drive (without a name), a project (without a drive), or the folder of all
 * projects. Those of folders end with a slash.
 *
 * @param basePath The path that all routes are below; empty for none.
 */
export function hrefOf(basePath: string, project: string, drive = "", name = ""): string {
  if (project === "") return `${basePath}/${DAV}/`;
  const start = `${basePath}/${DAV}/${encodeSegment(project)}/`;
  return drive === "" ? start : `${start}${encodeSegment(drive)}/${encodeName(name)}`;
}

/** Returns the name of the folder that a file or a folder is in, with its slash; empty for the drive. */
export function parentOf(name: string): string {
  return name.slice(0, name.lastIndexOf("/", name.length - 2) + 1);
}

/** Returns the last segment of the name of a file or a folder, without a slash. */
export function lastSegment(name: string): string {
  const end = name.endsWith("/") ? name.length - 1 : name.length;
  return name.slice(name.lastIndexOf("/", end - 1) + 1, end);
}
